// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Elements that go to other ranks: which places they leave, and take. The bodies stand in migrate.hpp.

#include <keel/impl/residency/renewal.hpp>
#include <keel/machine/sparse.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace keel::residency::detail {

/// Elements of a mesh that go to other ranks: those that come take the places of those that leave, and the last ones
/// fill what places are left.
class migration {
public:
  /// Throws `keel::error` if there is no rank to go to.
  migration(elements const& old, std::span<int const> destinations, std::string_view mesh);
  /// The ids of those that leave.
  [[nodiscard]] std::vector<machine::parcel<std::int64_t>> departures() const;
  /// With what all ranks sent to this one: what it has then, and how elements move.
  [[nodiscard]] std::shared_ptr<elements const> arrive(std::vector<machine::parcel<std::int64_t>> const& from_all,
                                                       element_moves& moves) const;

private:
  elements const& old_;
  std::vector<std::int32_t> leavers_, order_; // local indices; their places by rank
  std::vector<int> ranks_;                    // of the leavers
};

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/residency/migrate.hpp>
#endif
