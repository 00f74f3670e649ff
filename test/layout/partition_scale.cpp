// SPDX-License-Identifier: MIT
/// @file The search of owners on up to a million ranks: every rank's steps, one rank after the other, in one process.
/// Messages are moved from list to list, so what they cost is not seen, but their number and size are.
#include <keel/impl/layout/agreement.hpp>
#include <keel/impl/layout/owner_search.hpp>

#include <keel/machine/sparse.hpp>

#include <support/test.hpp>

#include <iostream>

namespace krd = keel::residency::detail;
namespace km = keel::machine;

namespace {

/// Moves what all ranks send, and keeps the most that one rank sends and gets.
template <class T>
class post {
public:
  explicit post(int ranks) : to_(std::size_t(ranks)) {}
  void send(int from, std::vector<km::parcel<T>> out) {
    std::size_t items = 0;
    for (auto& p : out) {
      items += p.items.size();
      to_[std::size_t(p.rank)].push_back({from, std::move(p.items)});
    }
    most_sent_ = std::max(most_sent_, out.size()), most_items_ = std::max(most_items_, items);
  }
  std::vector<km::parcel<T>> take(int rank) {
    auto in = std::exchange(to_[std::size_t(rank)], {});
    std::size_t items = 0;
    for (auto const& p : in) items += p.items.size();
    most_got_ = std::max(most_got_, in.size()), most_items_ = std::max(most_items_, items);
    return in;
  }
  void check(std::size_t messages, std::size_t items) const {
    std::cout << " | " << most_sent_ << ", " << most_got_ << ", " << most_items_;
    CHECK(most_sent_ <= messages);
    CHECK(most_got_ <= messages);
    CHECK(most_items_ <= items);
  }

private:
  std::vector<std::vector<km::parcel<T>>> to_;
  std::size_t most_sent_ = 0, most_got_ = 0, most_items_ = 0;
};

/// Ranks in a ring, each with two elements and a ghost of each neighbour's. Most ids of a rank have different
/// directories.
template <class Id>
void search_on_all_ranks(int n, Id const& id) {
  std::vector<krd::owner_search> searches;
  searches.reserve(std::size_t(n));
  post<krd::id_run> asked(n);
  post<krd::owned_at> answered(n);
  post<std::int32_t> told(n);
  krd::id_bounds ids;
  for (int r = 0; r != n; ++r) {
    std::array const owned{id(2 * r), id(2 * r + 1)}, near{id(2 * ((r + n - 1) % n) + 1), id(2 * ((r + 1) % n))};
    std::array const layers{std::span<std::int64_t const>(near)};
    ids = krd::join_bounds{}(ids, searches.emplace_back(r, n, owned, layers).bounds());
  }
  for (int r = 0; r != n; ++r) asked.send(r, searches[std::size_t(r)].to_directories(ids));
  for (int r = 0; r != n; ++r) answered.send(r, searches[std::size_t(r)].answers(asked.take(r)));
  for (int r = 0; r != n; ++r) told.send(r, searches[std::size_t(r)].to_owners(answered.take(r)));
  krd::verdict all;
  int right = 0;
  for (int r = 0; r != n; ++r) {
    auto const made = searches[std::size_t(r)].finish(told.take(r));
    all = krd::worse{}(all, searches[std::size_t(r)].found());
    int const left = (r + n - 1) % n;
    krd::element_partner const to_left{left, {{0}, {1}}, {{2}, {1}}}, to_right{(r + 1) % n, {{1}, {1}}, {{3}, {1}}};
    auto const& partners = made.lists.partners;
    bool const leftmost = left < to_right.rank;
    right += made.owners == std::vector{left, to_right.rank} && partners.size() == 2 &&
                     partners[0] == (leftmost ? to_left : to_right) && partners[1] == (leftmost ? to_right : to_left)
                 ? 1
                 : 0;
  }
  CHECK(right == n);
  CHECK_NOTHROW(all.check("cells", krd::search_for::owners));
  std::cout << n << " ranks; messages sent, messages got, items, most of a rank";
  // A rank has four ids. It is the directory of as many on average, and of some more if chance will have it.
  asked.check(32, 64), answered.check(32, 32), told.check(2, 4);
  std::cout << '\n';
}

} // namespace

TEST_CASE("residency: messages and memory of a rank do not grow with the number of ranks") {
  for (int const n : {1'000, 10'000, 100'000, 1'000'000}) {
    search_on_all_ranks(n, [](int element) { return std::int64_t(std::uint64_t(element) * 0x9e3779b97f4a7c15U); });
    // Numbers from 0 in another order, by a prime.
    search_on_all_ranks(n, [n](int element) { return element * std::int64_t(1'000'000'007) % (2 * n + 1); });
  }
}
