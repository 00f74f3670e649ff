// SPDX-License-Identifier: MIT
#include <keel/impl/store/file_writer.hpp>
#include <keel/impl/store/folder_lock.hpp>
