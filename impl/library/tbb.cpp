// SPDX-License-Identifier: MIT
// The bodies of oneTBB's threads that need not be compiled with every source.
#include <keel/policy/macros.hpp>
#if KEEL_WITH_TBB
#include <keel/impl/space/arenas.ipp>
#endif
