// SPDX-License-Identifier: MIT
// The bodies of space that need not be compiled with every source: none of them needs Kokkos.
#include <keel/impl/space/page_protection.hpp>
#include <keel/impl/space/queue_worker.hpp>
#include <keel/impl/space/waits.hpp>
#if KEEL_WITH_TBB
#include <keel/impl/space/threads_of_tbb.hpp>
#endif
