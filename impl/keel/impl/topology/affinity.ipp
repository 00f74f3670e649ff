// SPDX-License-Identifier: MIT
#include <keel/topology/affinity.hpp>
#include <keel/impl/topology/affinity.hpp>

namespace keel::topology {

KEEL_INLINE id_set bound_hardware_threads() { return detail::affinity_of(0); }

KEEL_INLINE id_set process_hardware_threads() {
  id_set all;
  for (int const thread : detail::threads_of_process()) all |= detail::affinity_of(thread);
  return all;
}

} // namespace keel::topology
