// SPDX-License-Identifier: MIT
#include <keel/impl/residency/fields_state.hpp>
#include <keel/impl/exchange/halo.hpp>
#include <keel/impl/layout/agreement.hpp>
#include <keel/impl/residency/files/checkpoint_files.hpp>
#include <keel/impl/residency/exchanger.hpp>
#include <keel/layout/partition.hpp> // find_owners

#include <utility>

namespace keel::residency::detail {

KEEL_INLINE fields_state::fields_state(grid const& whole, std::span<grid const> further, int ranks, int rank,
                                       int memories, int components, tracking_choice const& how)
    : arrays_(whole, further, ranks, rank, memories, components), book_(arrays_, how),
      exchanger_(std::make_unique<exchanger>(arrays_, book_)), executor_(*this),
      checkpoints_(std::make_unique<checkpoint_files>(*this)) {}
KEEL_INLINE fields_state::~fields_state() = default;

KEEL_INLINE void fields_state::prepare_to_connect() {
  any_transports all;
  if (own_transports_ != nullptr) own_transports_(*ranks_, all);
  else all = transports_of(all_transports{}, *ranks_);
  exchanger_->prepare(std::move(all), *ranks_);
}
KEEL_INLINE bool fields_state::has_other_ranks() const { return ranks_ != nullptr && ranks_->size() > 1; }
KEEL_INLINE void fields_state::connect() { exchanger_->connect(exchanges_in_); }

} // namespace keel::residency::detail
