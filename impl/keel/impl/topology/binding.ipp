// SPDX-License-Identifier: MIT
#include <keel/topology/binding.hpp>
#include <keel/impl/topology/affinity.hpp>
#include <keel/policy/error.hpp>

#include <cerrno>
#include <string>
#include <system_error>

namespace keel::topology {

KEEL_INLINE id_set bound_cores(node const& of) {
  if (!of.is_this_machine()) return id_set::range(0, int(of.cores().size()));
  auto const threads = bound_hardware_threads();
  id_set cores;
  for (auto const& c : of.cores())
    if (!(c.hardware_threads & threads).empty()) cores.insert(c.id);
  return cores;
}

KEEL_INLINE binding::binding(node const& on, placement const& to) {
  auto const& threads = to.hardware_threads;
  if (!on.is_this_machine() || threads.empty())
    throw error("topology", "nothing can be bound to hardware threads '" + to_string(threads) + "'",
                on.is_this_machine() ? "there are none" : on.source() + " is not this machine", "Place on node::here()",
                EINVAL);
  own_ = detail::affinity_of(0);
  for (int const id : detail::threads_of_process())
    if (auto mask = detail::affinity_of(id); !mask.empty()) before_.emplace_back(id, std::move(mask));
  for (auto const& [id, mask] : before_)
    if (int const code = detail::set_affinity(id, threads);
        code != 0 && code != ESRCH) { // ESRCH: it has ended meanwhile
      undo();
      throw error("topology", "nothing can be bound to hardware threads " + to_string(threads),
                  std::generic_category().message(code), "Use those that bound_cores names", code);
    }
}

KEEL_INLINE void binding::undo() noexcept {
  try {
    for (int const id : detail::threads_of_process()) {
      auto mask = &own_;
      for (auto& [known, old] : before_)
        if (known == id) mask = &old;
      detail::set_affinity(id, *mask);
    }
  } catch (...) {
    // memory ran out: what is bound stays bound
  }
}

} // namespace keel::topology
