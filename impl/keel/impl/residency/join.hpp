// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How fields come by messages between ranks of any kind. Compiled once for MPI and for a rank that is alone.

#include <keel/impl/exchange/messenger.hpp>
#include <keel/impl/layout/agreement.hpp>
#include <keel/impl/residency/fields_state.hpp>
#include <keel/layout/partition.hpp>

#include <memory>
#include <utility>

namespace keel::residency::detail {

template <class Ranks>
void fields_state::join(machine::basic_environment<Ranks> const& of, bool are_policys) {
  ranks_ = std::make_unique<messenger>(of);
  if (!are_policys) return;
  auto own = ranks_->environment<Ranks>();
  agreement_ = std::make_unique<agreement>(*own);
  environment_ = std::move(own);
}

} // namespace keel::residency::detail
