// SPDX-License-Identifier: MIT
// Files that outlive the run, and who writes them.
#include <keel/impl/store/checked_numbers.ipp>
#include <keel/impl/store/checksum.ipp>
#include <keel/impl/store/file_writer.ipp>
#include <keel/impl/store/folder_lock.ipp>
#include <keel/impl/store/frame_list.ipp>
#include <keel/impl/store/read_file.ipp>
#include <keel/impl/store/stored_file.ipp>
