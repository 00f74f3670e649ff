// SPDX-License-Identifier: MIT
#include <keel/topology/binding.hpp>
#include <keel/impl/topology/affinity.hpp>
#include <keel/policy/error.hpp>

#include <cerrno>
#include <cstddef>
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

KEEL_INLINE binding::binding(node const& on, placement const& to) : whole_process_(true) {
  bind(on, to.hardware_threads);
}
KEEL_INLINE binding::binding(node const& on, placement const& to, int thread) : whole_process_(false) {
  auto cores = to.cores.begin();
  if (thread < 0 || cores == to.cores.end())
    throw error("topology", "thread " + std::to_string(thread) + " cannot be bound", "it has no core", {}, EINVAL);
  for (int n = thread % int(to.cores.size()); n > 0; --n) ++cores;
  if (std::size_t(*cores) >= on.cores().size())
    throw error("topology", "thread " + std::to_string(thread) + " cannot be bound", "its core is not of this node", {},
                EINVAL);
  bind(on, on.cores()[std::size_t(*cores)].hardware_threads & to.hardware_threads);
}

KEEL_INLINE void binding::bind(node const& on, id_set const& threads) {
  if (!on.is_this_machine() || threads.empty())
    throw error("topology", "nothing can be bound to hardware threads '" + to_string(threads) + "'",
                on.is_this_machine() ? "there are none" : on.source() + " is not this machine", "Place on node::here()",
                EINVAL);
  own_ = detail::affinity_of(0);
  if (!whole_process_) {
    before_.emplace_back(detail::this_thread(), own_);
  } else {
    for (int const id : detail::threads_of_process())
      if (auto mask = detail::affinity_of(id); !mask.empty()) before_.emplace_back(id, std::move(mask));
  }
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
    if (whole_process_)
      for (int const id : detail::threads_of_process()) {
        auto mask = &own_;
        for (auto& [known, old] : before_)
          if (known == id) mask = &old;
        detail::set_affinity(id, *mask);
      }
    else
      for (auto const& [id, mask] : before_) detail::set_affinity(id, mask);
  } catch (...) {
    // memory ran out: what is bound stays bound
  }
}

} // namespace keel::topology
