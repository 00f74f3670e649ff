// SPDX-License-Identifier: MIT
#include <keel/impl/exchange/array_ref.hpp>
#include <keel/impl/layout/lengths.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <numeric>

#include <sys/uio.h>
#include <unistd.h>

namespace keel::residency::detail {

KEEL_INLINE void array_ref::set(std::span<std::int64_t const> lengths, std::span<std::int64_t const> steps) {
  if (lengths.empty())
    throw error("residency::exchanger", "a pointer is given without extents", "it does not say how its array lies",
                "Say extents{...}");
  if (!steps.empty() && steps.size() != lengths.size())
    throw error("residency::exchanger",
                "an array has " + policy::counted(std::int64_t(lengths.size()), "extent") + " and " +
                    policy::counted(std::int64_t(steps.size()), "stride"),
                "each index has one of both", "Give as many");
  rank = int(lengths.size());
  std::int64_t next = 1;
  for (int d = rank; d-- > 0; next *= extents[d]) {
    extents[d] = lengths[std::size_t(d)];
    strides[d] = steps.empty() ? next : steps[std::size_t(d)];
  }
}

KEEL_INLINE std::array<std::int64_t, 2> array_ref::reach() const {
  std::array<std::int64_t, 2> made{};
  for (int d = 0; d < rank; ++d) {
    if (extents[d] <= 0) return {};
    made[strides[d] < 0 ? 0 : 1] += (extents[d] - 1) * strides[d];
  }
  return {made[0], made[1] + 1};
}

KEEL_INLINE bool array_ref::lies_as(array_ref const& other) const {
  return rank == other.rank && element_bytes == other.element_bytes && where == other.where &&
         std::equal(extents, extents + rank, other.extents) && std::equal(strides, strides + rank, other.strides);
}

/// The distances between elements of two arrays: sums of steps, each taken 0 to `most` times.
struct distances {
  struct term {
    std::int64_t step, most;
  };
  std::array<term, 2 * max_rank> terms{}; // the longest step first
  // Of this term and those after it: their largest sum, and what all of their sums are multiples of.
  std::array<std::int64_t, 2 * max_rank + 1> largest{}, divisor{};
  int count = 0;

  void add(array_ref const& a) {
    for (int d = 0; d < a.rank; ++d)
      if (a.extents[d] > 1 && a.strides[d] != 0)
        terms[std::size_t(count++)] = {std::abs(a.strides[d]) * a.element_bytes, a.extents[d] - 1};
  }
  void prepare() {
    std::sort(terms.begin(), terms.begin() + count, [](term const& a, term const& b) { return a.step > b.step; });
    int joined = 0; // equal steps are one
    for (int n = 0; n < count; ++n) {
      term const t = terms[std::size_t(n)];
      if (joined > 0 && terms[std::size_t(joined) - 1].step == t.step) terms[std::size_t(joined) - 1].most += t.most;
      else terms[std::size_t(joined++)] = t;
    }
    count = joined;
    for (auto n = std::size_t(count); n-- > 0;) {
      largest[n] = largest[n + 1] + terms[n].step * terms[n].most;
      divisor[n] = std::gcd(divisor[n + 1], terms[n].step);
    }
  }
  /// Whether a sum of the terms from `n` on lies in [low, high].
  [[nodiscard]] bool reach(std::size_t n, std::int64_t low, std::int64_t high) const {
    low = std::max<std::int64_t>(low, 0), high = std::min(high, largest[n]);
    if (low > high || n == std::size_t(count)) return low <= high;
    if (high / divisor[n] * divisor[n] < low) return false;
    if (n + 1 == std::size_t(count)) return true;
    auto const [step, most] = terms[n];
    std::int64_t const first = std::max<std::int64_t>(0, (low - largest[n + 1] + step - 1) / step);
    for (std::int64_t k = first; k <= std::min(most, high / step); ++k)
      if (reach(n + 1, low - k * step, high - k * step)) return true;
    return false;
  }
};

KEEL_INLINE bool share_elements(array_ref const& a, array_ref const& b) {
  auto const [a_first, a_end] = a.reach();
  auto const [b_first, b_end] = b.reach();
  if (a_first == a_end || b_first == b_end) return false;
  // From the last element of b to the first of a; each step goes one element up in a, or one down in b.
  std::int64_t const from = std::int64_t(reinterpret_cast<std::intptr_t>(a.data)) -
                            std::int64_t(reinterpret_cast<std::intptr_t>(b.data)) + a_first * a.element_bytes -
                            (b_end - 1) * b.element_bytes;
  std::int64_t const low = 1 - a.element_bytes - from, high = b.element_bytes - 1 - from;
  if (high < 0 || low > (a_end - 1 - a_first) * a.element_bytes + (b_end - 1 - b_first) * b.element_bytes) return false;
  distances all;
  all.add(a), all.add(b), all.prepare();
  return all.reach(0, low, high);
}

inline constexpr std::int64_t unclear_order = std::int64_t{1} << 40; // is added to a code

KEEL_INLINE std::int64_t order_of(array_ref const& a, int on_grid) {
  std::array<int, max_rank> all{};
  std::iota(all.begin(), all.end(), 0);
  auto const step = [&](int d) { return std::abs(a.strides[d]); };
  auto const end = all.begin() + a.rank;
  std::stable_sort(all.begin(), end, [&](int i, int j) { return step(i) != step(j) ? step(i) < step(j) : i > j; });
  bool is_clear = std::adjacent_find(all.begin(), end, [&](int i, int j) { return step(i) == step(j); }) == end;
  for (int d = 0; d < on_grid; ++d) is_clear = is_clear && a.extents[a.index(d)] > 1;
  std::int64_t code = 1;
  for (int k = 0; k < a.rank; ++k) code = code * 8 + all[std::size_t(k)];
  return is_clear ? code : code + unclear_order;
}

// The indices of a code of `order_of`.
[[nodiscard]] inline std::array<int, max_rank> indices_in(std::int64_t order, int rank) {
  std::array<int, max_rank> all{};
  order %= unclear_order;
  for (int k = rank; k-- > 0; order /= 8) all[std::size_t(k)] = int(order % 8);
  return all;
}

KEEL_INLINE void require_fits(array_ref const& a, share const& s, std::string_view place, std::string const& who) {
  auto const refuse = [&](std::string const& wrong, std::string const& why, std::string_view hint) {
    throw error(place, who + wrong, why, hint);
  };
  std::string const where = a.on.mesh.empty() ? "grid" : "mesh " + std::string(a.on.mesh);
  if (a.rank > max_rank) refuse(" has " + policy::counted(a.rank, "index", "indices"), "8 are the most", "Take fewer");
  check_lengths(place, "", who, {a.extents, std::size_t(a.rank)}, a.element_bytes);
  if (a.on.changes_sign && (!a.on.mesh.empty() || a.added_as == addend::none))
    refuse(" changes its sign where a grid is folded",
           a.on.mesh.empty() ? "its elements are no numbers" : "it lies on the " + where, "Leave that out");
  if (a.indexed != 0 && a.indexed != s.rank)
    refuse(" has index{...} of " + policy::counted(a.indexed, "number"),
           "the " + where + " has " + policy::counted(s.rank, "dimension"), "Give one for each");
  unsigned taken = 0;
  for (int d = 0; d < s.rank; ++d) {
    int const at = a.index(d);
    if (at < 0 || at >= a.rank)
      refuse(" has no index " + std::to_string(at), "it has " + policy::counted(a.rank, "index", "indices"),
             "Count from 0");
    if ((taken >> at & 1) != 0)
      refuse(" has one index for two dimensions", "index{...} names " + std::to_string(at) + " twice",
             "Name each once");
    taken |= 1U << at;
    bool const is_listed = !s.ends.empty(); // then an array may have more elements
    if (is_listed ? a.extents[at] < s.extents[d] : a.extents[at] != s.extents[d])
      refuse(" has " + policy::counted(a.extents[at], "element") + " along index " + std::to_string(at),
             "this rank has " + std::to_string(s.extents[d]) + " of the " + where +
                 (is_listed ? "" : " there, ghosts included"),
             "Give the array that lies on it, or say index{...}");
  }
  bool const is_empty = std::find(a.extents, a.extents + a.rank, 0) != a.extents + a.rank;
  std::int64_t span = 1; // of the elements that differ in the indices before
  auto const order = indices_in(order_of(a, 0), a.rank);
  for (int k = 0; k < a.rank; ++k) {
    int const d = order[std::size_t(k)];
    if (a.extents[d] <= 1 || is_empty) continue;
    if (std::abs(a.strides[d]) < span)
      refuse(" has elements that share memory",
             "along index " + std::to_string(d) + " the next one is " + policy::counted(a.strides[d], "element") +
                 " further, and " + std::to_string(span) + " lie between",
             "Give strides of separate elements");
    span += (a.extents[d] - 1) * std::abs(a.strides[d]);
  }
  if (a.data == nullptr && !is_empty) refuse(" is a null pointer", "", "Allocate it");
  int const layers =
      s.ends.empty() ? int(*std::max_element(s.width.values, s.width.values + max_grid_rank)) : int(s.ends.size()) - 1;
  if (a.says_layers && (a.layers < 1 || a.layers > layers))
    refuse(" has depth_of{" + std::to_string(a.layers) + "}",
           "the " + where + " has " + policy::counted(layers, "layer") + " of ghosts", "Ask for one of these");
}

KEEL_INLINE void require_reached(array_ref const& a, std::string_view place, std::string const& who) {
  auto const [before, after] = a.reach();
  if (a.where != nullptr || before == after) return;
  char came = 0;
  iovec const here{&came, 1}, there{static_cast<std::byte*>(a.data) + before * a.element_bytes, 1};
  if (::process_vm_readv(::getpid(), &here, 1, &there, 1, 0) < 0 && errno == EFAULT)
    throw error(place, who + " is a pointer to memory that the host does not reach", "it may be a device's",
                "Give a view in the memory of the device");
}

// What is one run of words here may be several on another rank: messages have their words in one order.
KEEL_INLINE shape shape_of(array_ref const& from, share const& s, std::int64_t order, std::string_view place,
                           std::vector<dimension_run>& dimensions) {
  shape lies;
  dimensions.clear();
  lies.rank = s.rank;
  lies.element_bytes = from.element_bytes, lies.alignment = from.alignment, lies.added_as = from.added_as;
  auto const all = indices_in(order, from.rank);
  int runs = 0; // a bound for what strip_of makes of it, words of an element aside
  for (int k = 0; k < from.rank; ++k) {
    int const at = all[std::size_t(k)];
    dimension_run made{-1, from.extents[at], from.strides[at]};
    for (int d = 0; d < s.rank; ++d)
      if (from.index(d) == at) made.of_grid = d, lies.stride[d] = made.stride;
    if (made.of_grid < 0) {
      lies.inner *= made.count;
      if (made.count == 1) continue;
      if (!dimensions.empty() && dimensions.back().of_grid < 0 &&
          dimensions.back().count * dimensions.back().stride == made.stride) {
        dimensions.back().count *= made.count;
        continue;
      }
    }
    dimensions.push_back(made), ++runs;
  }
  if (runs + 1 > strip::max)
    throw error(place, "an array of " + policy::counted(from.rank, "index", "indices") + " is refused",
                "its elements lie in " + std::to_string(runs) + " dimensions with gaps between them, " +
                    std::to_string(strip::max - 1) + " are the most",
                "Exchange parts of it, or one without gaps");
  lies.order = dimensions;
  return lies;
}

} // namespace keel::residency::detail
