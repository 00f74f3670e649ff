// SPDX-License-Identifier: MIT
#include <keel/impl/exchange/queue_model.hpp>
#include <keel/exchange/queue.hpp>

namespace keel::residency::detail {

KEEL_INLINE void queue_model::move_flags(motion how, std::span<message const> all) const {
  move_words some;
  auto const flush = [&] {
    if (some.words != 0) reporting([&] { move(some); });
    some = {};
  };
  for (message const& m : all) {
    if (m.flag == nullptr || some.add_flag(how, m.flag, m.number)) continue;
    flush();
    some.add_flag(how, m.flag, m.number);
  }
  flush();
}

} // namespace keel::residency::detail
