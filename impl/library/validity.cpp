// SPDX-License-Identifier: MIT
// The bodies of validity that need not be compiled with every source.
#include <keel/impl/validity/copy_name.hpp>
#include <keel/impl/validity/settings.hpp>
