// SPDX-License-Identifier: MIT
#include <keel/block/chunks.hpp>

#include <keel/block/for_each_block.hpp>

#include <support/test.hpp>

namespace {

template <std::size_t Length, class Index>
void visits_each_index_once(Index begin, Index end) {
  std::vector<int> visits(end > begin ? std::size_t(end - begin) : 0);
  std::size_t tails = 0;
  keel::block::for_each_block<Length>(begin, end, [&]<class Block>(Block block) {
    if constexpr (std::same_as<Block, keel::block::tail_block<Index>>) {
      ++tails;
      CHECK(std::size_t(block.size()) < Length);
      CHECK(block.size() > 0);
    } else {
      static_assert(std::size_t(Block::size()) == Length);
      CHECK(tails == 0);
    }
    for (Index i = block.begin(); i != block.end(); ++i) ++visits.at(std::size_t(i - begin));
  });
  for (int count : visits) CHECK(count == 1);
  CHECK(tails == (visits.size() % Length != 0));
}

} // namespace

TEST_CASE_TEMPLATE("block: every index is visited exactly once for every length", Index, int, std::size_t,
                   signed char) {
  for (int end : {0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 100}) {
    auto const n = static_cast<Index>(end);
    visits_each_index_once<1>(Index{0}, n);
    visits_each_index_once<2>(Index{0}, n);
    visits_each_index_once<7>(Index{0}, n);
    visits_each_index_once<8>(Index{3}, n);
    visits_each_index_once<16>(Index{1}, n);
    visits_each_index_once<64>(Index{0}, n);
  }
}

TEST_CASE("block: an end before the begin is an empty range") {
  bool called = false;
  keel::block::for_each_block<4>(5, -3, [&](auto) { called = true; });
  keel::block::for_each_block<4>(-3, [&](auto) { called = true; });
  CHECK_FALSE(called);
  CHECK(keel::block::chunks<4, int>{5, -3}.size() == 0);
}

TEST_CASE("block: negative begins and the ends of the index type are exact") {
  visits_each_index_once<5>(-12, 9);
  auto const last = std::numeric_limits<int>::max();
  long visited = 0;
  keel::block::for_each_block<16>(last - 21, last, [&](auto block) { visited += block.size(); });
  CHECK(visited == 21);
  keel::block::chunks<1024, int> const wide{std::numeric_limits<int>::min(), last};
  CHECK(wide.full_blocks() * 1024 + wide.tail() == 0xffffffffu);
}
