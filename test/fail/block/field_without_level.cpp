// SPDX-License-Identifier: MIT
// expect: keel::block::column_block: the field has another number of indices
#include <keel/block.hpp>

struct field {
  static constexpr std::size_t rank = 3;
  double* data() const { return nullptr; }
  std::size_t extent(int) const { return 0; }
  std::size_t stride(int) const { return 1; }
};

struct body {
  template <class Block>
  void operator()(Block const& b) const { b.store(field{}, b.load(field{})); }
};

int main() { keel::block::for_each_block<8>(keel::block::columns_of(field{}), body{}); }
