// SPDX-License-Identifier: MIT
#pragma once
/// @file
/// What the cases share: a field of nothing, and a loop's body that loads and stores columns.

#include <keel/block.hpp>

template <std::size_t Rank>
struct field {
  static constexpr std::size_t rank = Rank;
  double* data() const { return nullptr; }
  std::size_t extent(int) const { return 0; }
  std::size_t stride(int) const { return 1; }
};

/// Loads with `level...` as indices after the columns'.
template <class... Level>
struct body {
  template <class Block>
  void operator()(Block const& b) const {
    b.store(field<3>{}, b.load(field<3>{}, Level{}...), 0);
  }
};
