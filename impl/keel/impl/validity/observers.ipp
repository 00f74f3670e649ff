// SPDX-License-Identifier: MIT
#include <keel/impl/validity/observers.hpp>

namespace keel::residency::detail {

KEEL_INLINE std::string any_observer::name_of_copy(std::span<transfer const> batch) const {
  std::string name = "keel: copy";
  for (transfer const& t : batch)
    name += (&t == batch.data() ? " " : ", ") + variables_[std::size_t(t.variable)] + '[' + std::to_string(t.level) +
            "] " + std::string(residency::name_of(t.where));
  return name + ' ' + memories_[std::size_t(batch[0].from)] + " to " + memories_[std::size_t(batch[0].to)];
}

} // namespace keel::residency::detail
