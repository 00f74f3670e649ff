// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What elements of a mesh have, brought to the ranks that need it; and layers of ghosts out of neighbours.

#include <keel/impl/layout/owner_search.hpp>
#include <keel/layout/partition.hpp>
#include <keel/machine/collectives.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace keel::residency {

namespace detail {

/// Rows of bytes as they are sent: of each the number of its bytes, then these, in whole words.
class packed_rows {
public:
  void add(void const* from, std::size_t bytes);
  [[nodiscard]] std::size_t count() const { return begins_.size(); }
  /// With the number in front.
  [[nodiscard]] std::span<std::int64_t const> words(std::size_t row) const;
  [[nodiscard]] std::span<std::byte const> bytes(std::size_t row) const;

private:
  std::vector<std::int64_t> words_;
  std::vector<std::size_t> begins_;
};

/// The rows that a rank gets, and which of them each of its elements has.
struct rows_here {
  packed_rows rows;
  std::vector<std::int32_t> of_element;
};

// All three are collective, and throw the same `keel::error` on every rank.
[[nodiscard]] rows_here gather_rows(elements const& to, std::string_view mesh, std::span<std::int64_t const> ids,
                                    packed_rows const& held);
[[nodiscard]] std::vector<std::vector<std::int64_t>> grow(agreement const& ranks, std::string_view mesh,
                                                          std::span<std::int64_t const> owned, packed_rows neighbours,
                                                          int layers);
/// Runs `f`, which only computes, on every rank.
void with_rows(agreement const& ranks, std::string_view call, void const* f, void (*run)(void const*));
template <class F>
void with_rows(agreement const& ranks, std::string_view call, F const& f) {
  with_rows(ranks, call, &f, [](void const* p) { (*static_cast<F const*>(p))(); });
}

/// What a row is on the rank that gets it: a value, or a vector of as many as there are.
template <class Row>
struct row {
  static_assert(machine::Sendable<Row>, "keel::residency::gather_rows: a row cannot be sent (it is neither bytes nor a "
                                        "range of elements that lie one after the other and are). Give one that is.");
  using type = Row;
  static void pack(Row const& from, packed_rows& to) { to.add(&from, sizeof from); }
  static Row made_of(std::span<std::byte const> bytes) {
    Row made;
    std::memcpy(&made, bytes.data(), sizeof made);
    return made;
  }
};
template <std::ranges::contiguous_range Row>
  requires(!requires { std::tuple_size<Row>::value; })
struct row<Row> {
  using element = std::ranges::range_value_t<Row>;
  static_assert(machine::Gatherable<element>,
                "keel::residency::gather_rows: the elements of a row cannot be sent (they "
                "are not bytes). Give numbers, or structs of numbers.");
  using type = std::vector<element>;
  static void pack(Row const& from, packed_rows& to) {
    to.add(std::ranges::data(from), std::ranges::size(from) * sizeof(element));
  }
  static type made_of(std::span<std::byte const> bytes) {
    type made(bytes.size() / sizeof(element));
    if (!bytes.empty()) std::memcpy(made.data(), bytes.data(), bytes.size());
    return made;
  }
};

} // namespace detail

/// The row of each element of `c`, ghosts included, by local index. `data_by_id` has some rows, each beside its id, as
/// a `std::map<std::int64_t, std::array<int, 6>>` or a vector of pairs: those of any elements, of which this rank need
/// not have one, as when each rank has read a part of a file. A row is a value of bytes, as a number, a struct or a
/// `std::array`, or a range of such that lie one after the other, which arrives as a `std::vector`. Rows that no rank
/// needs stay.
///
/// Collective over the environment of `c`, which has to live still; one message between two ranks that need it,
/// beside those that find who has what. Throws the same `keel::error` on every rank if two ranks have a row of an id,
/// if none has a row of an element, or if memory is lacking.
template <Mesh M, class DataById>
[[nodiscard]] auto gather_rows(partition<M> const& c, DataById const& data_by_id) {
  using row = detail::row<std::remove_cvref_t<decltype(std::begin(data_by_id)->second)>>;
  detail::elements const& to = *c.here();
  std::vector<typename row::type> made;
  if (!to.among) return made;
  std::vector<std::int64_t> ids;
  detail::packed_rows held;
  detail::with_rows(to.among, "gather_rows", [&] {
    for (auto const& [id, values] : data_by_id) ids.push_back(std::int64_t(id)), row::pack(values, held);
  });
  auto const got = detail::gather_rows(to, M::name, ids, held);
  detail::with_rows(to.among, "gather_rows", [&] {
    made.reserve(got.of_element.size());
    for (std::int32_t const n : got.of_element) made.push_back(row::made_of(got.rows.bytes(std::size_t(n))));
  });
  return made;
}

/// What a partition is made of that has so many layers of ghosts: neighbours of owned elements, then neighbours of
/// these, each in ascending order of ids. `rows_of_neighbours` has a range of ids for each owned element, in their
/// order; an id that no rank owns, as 0 or -1 at the border, is left out, as are those that are here already.
///
/// Collective over `env`. Rows of ghosts come from their owners: a search for owners a layer, and, but for the last
/// one, a message to each rank. Throws the same `keel::error` on every rank if an id is owned twice, the rows are not
/// as many as the owned elements, ranks want different numbers of layers, or memory is lacking. Empty on a non-member.
template <Mesh M, machine::CommunicatingRanks R, class Rows>
[[nodiscard]] element_ids<M> grow(machine::basic_environment<R> const& env, std::span<std::int64_t const> owned,
                                  Rows const& rows_of_neighbours, int layers) {
  element_ids<M> made;
  if (!env.is_member()) return made;
  detail::agreement const ranks(env);
  detail::packed_rows rows;
  detail::with_rows(ranks, "grow", [&] {
    made.owned.assign(owned.begin(), owned.end());
    std::vector<std::int64_t> ids;
    for (auto const& row : rows_of_neighbours) {
      ids.clear();
      for (auto const id : row) ids.push_back(std::int64_t(id));
      rows.add(ids.data(), ids.size() * sizeof(std::int64_t));
    }
  });
  made.ghosts = detail::grow(ranks, M::name, owned, std::move(rows), layers);
  return made;
}

} // namespace keel::residency

#if !KEEL_COMPILED
#include <keel/impl/layout/rows.ipp>
#endif
