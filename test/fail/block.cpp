// SPDX-License-Identifier: MIT
#include <keel/block.hpp>

/// A field of nothing.
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

#if defined(FIELD_WITHOUT_LEVEL)
// expect: keel::block::column_block: the field has another number of indices
// errors: 2
int main() { keel::block::for_each_block<8>(keel::block::columns_of(field<3>{}), body<>{}); }
#elif defined(INDEX_TOO_NARROW)
// expect: keel::block::chunks: the length does not fit the index type
int main() {
  signed char const end = 10;
  keel::block::for_each_block<200>(end, [](auto) {});
}
#elif defined(LENGTH_ZERO)
// expect: keel::block::chunks: the length is 0
int main() {
  keel::block::for_each_block<0>(0, 10, [](auto) {});
}
#elif defined(PACK_OF_WHAT_IS_NO_NUMBER)
// expect: keel::block::pack: the element is not a number
struct thing {};
keel::block::pack<thing, 4> things;
#else
int main() {
  keel::block::for_each_block<8>(keel::block::columns_of(field<3>{}), body<int>{});
  keel::block::for_each_block<4>(0, 10, [](auto) {});
  return keel::block::pack<int, 4>::filled(0)[0];
}
#endif
