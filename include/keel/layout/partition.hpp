// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Which rank has which elements of a mesh.

#include <keel/impl/layout/owner_search.hpp>
#include <keel/layout/mesh.hpp>
#include <keel/machine/reductions.hpp>
#include <keel/machine/sparse.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace keel::residency {

namespace detail {
template <class X>
concept Ids = std::convertible_to<X const&, std::span<std::int64_t const>>;
template <class X>
inline constexpr bool is_span = false;
template <class T, std::size_t N>
inline constexpr bool is_span<std::span<T, N>> = true;
/// One layer, or a range of them.
template <class X>
concept LayersOfIds = Ids<X> || requires(X const& x) {
  { *std::begin(x) } -> Ids;
  { std::end(x) } -> std::sentinel_for<decltype(std::begin(x))>;
  // Not a range that makes its layers as one reads them.
  requires std::is_lvalue_reference_v<decltype(*std::begin(x))> ||
               is_span<std::remove_cvref_t<decltype(*std::begin(x))>>;
};

template <class Layers>
[[nodiscard]] std::vector<std::span<std::int64_t const>> as_layers(Layers const& ghosts) {
  if constexpr (Ids<Layers>) return {std::span<std::int64_t const>(ghosts)};
  else return {std::begin(ghosts), std::end(ghosts)};
}

template <class View>
struct ids_in_views; // see <keel/exchange/device_ids.hpp>

/// Collective over `env`. `begin` gives what an `owner_search` is made of beside the ranks.
template <machine::CommunicatingRanks R, class Begin>
[[nodiscard]] std::shared_ptr<elements> find_owners(machine::basic_environment<R> const& env, std::string_view mesh,
                                                    Begin const& begin, search_for what_for = search_for::owners) {
  if (!env.is_member()) return std::make_shared<elements>();
  machine::sparse_messages<R> talk{env};
  std::optional<owner_search> search;
  bool lacks_memory = false;
  // Without memory a rank goes on with nothing, because others wait for its messages.
  auto const take = [&](auto const& step) {
    decltype(step()) made{};
    try {
      if (!lacks_memory) made = step();
    } catch (std::bad_alloc const&) {
      lacks_memory = true;
    }
    return made;
  };
  auto const send = [&](auto const& step) { return talk.exchange(take(step)); };
  auto const mine = take([&] {
    begin([&](auto const&... from) { search.emplace(env.rank(), env.size(), from...); });
    search->look_for(what_for);
    return search->bounds();
  });
  auto const all = machine::all_reduce(env, mine, join_bounds{});
  auto const asked = send([&] { return search->to_directories(all); });
  auto const answered = send([&] { return search->answers(asked); });
  auto const told = send([&] { return search->to_owners(answered); });
  auto made = take([&] {
    auto all_here = std::make_shared<elements>(search->finish(told));
    all_here->among = agreement::of_ranks_in(env);
    return all_here;
  });
  verdict const found =
      machine::all_reduce(env, lacks_memory ? verdict{mistake::lacks_memory, env.rank()} : search->found(), worse{});
  if (what_for == search_for::some_owners && found.what == mistake::no_owner) made->lacks_owners = true;
  else found.check(mesh, what_for);
  return made;
}
template <machine::CommunicatingRanks R, LayersOfIds Ghosts>
[[nodiscard]] std::shared_ptr<elements> find_owners(machine::basic_environment<R> const& env, std::string_view mesh,
                                                    std::span<std::int64_t const> owned, Ghosts const& ghosts,
                                                    search_for what_for = search_for::owners) {
  return find_owners(env, mesh, [&](auto const& make) { make(owned, as_layers(ghosts)); }, what_for);
}
} // namespace detail

/// Says which elements of a rank are ghosts: a range of truth values or numbers, one for each. Refers to it.
template <class Mask>
struct is_ghost {
  explicit is_ghost(Mask const& of) : mask(of) {}
  Mask const& mask;
};

/// Elements that a rank owns of a mesh, by their ids, and those that it has ghosts of, layer by layer.
template <Mesh M>
struct element_ids {
  std::vector<std::int64_t> owned;
  std::vector<std::vector<std::int64_t>> ghosts;
};

/// How a mesh is cut over the ranks of an environment. Local indices count the owned elements first, in the caller's
/// order, then ghosts layer by layer, in the caller's order; with `is_ghost` all elements in the caller's order. A
/// handle: copies are cheap, and do not change.
template <Mesh M>
class partition {
public:
  /// Finds the owner of each ghost. Ids are any numbers, owned and ghost ones in any order. `ghosts` is a range of ids,
  /// one layer, or a range of such ranges, the nearest layer first; ranks may have different numbers of them, the most
  /// counts, and layers that a rank lacks are empty. A ghost that the rank owns itself is a copy of its own element.
  /// On a mesh `with_images` a ghost may be in several layers.
  ///
  /// Collective over `env`; time and memory on a rank are in proportion to its elements, whatever the number of ranks.
  /// Throws the same `keel::error` on every rank if an id is owned twice, a rank has a ghost twice, a ghost has no
  /// owner, a rank has 2^31 elements or more, or it lacks memory. On a non-member it is empty.
  template <machine::CommunicatingRanks R, detail::LayersOfIds Ghosts = std::vector<std::vector<std::int64_t>>>
  partition(machine::basic_environment<R> const& env, std::span<std::int64_t const> owned, Ghosts const& ghosts = {})
      : here_(detail::find_owners(env, M::name, owned, ghosts, wanted)) {}
  template <machine::CommunicatingRanks R>
  partition(machine::basic_environment<R> const& env, element_ids<M> const& ids)
      : partition(env, ids.owned, ids.ghosts) {}

  /// The ids lie in views of Kokkos' in one dimension, on the host or a device; `ghosts` is a view or a range of them.
  /// The partition is that of the same ids on the host, to which they are copied, because it keeps them. A device whose
  /// memory the host cannot use looks for the owners. Waits for all kernels first. Needs <keel/exchange.hpp>.
  template <machine::CommunicatingRanks R, class Owned, class Ghosts = std::vector<Owned>>
    requires requires { typename Owned::execution_space; } // Kokkos is not known here
  partition(machine::basic_environment<R> const& env, Owned const& owned, Ghosts const& ghosts = {})
      : here_(detail::find_owners(
            env, M::name, [&](auto const& make) { detail::ids_in_views<Owned>::give(make, owned, ghosts); }, wanted)) {}

  /// These are all elements of the rank, and ghosts, which are one layer, lie anywhere among them, as the mask says:
  /// local indices are places in `ids`. If they lie so on any rank, neither owned elements nor ghosts are ranges, and
  /// what returns or goes over such throws `keel::error` on every rank.
  template <machine::CommunicatingRanks R, class Mask>
  partition(machine::basic_environment<R> const& env, std::span<std::int64_t const> ids, is_ghost<Mask> const& which)
      : here_(detail::find_owners(env, M::name, [&](auto const& make) {
          std::vector<bool> mask;
          for (auto const& one : which.mask) mask.push_back(bool(one));
          make(ids, mask);
        })) {}

  /// What fields have.
  explicit partition(std::shared_ptr<detail::elements const> here) : here_(std::move(here)) { here_->is_shown = true; }

  /// Elements that this rank has, ghosts included.
  [[nodiscard]] std::int64_t size() const { return std::int64_t(here_->ids.size()); }
  [[nodiscard]] element_range owned() const { return here_->owned_range(M::name); }
  [[nodiscard]] element_range ghosts() const { return here_->ghost_range(M::name); }
  /// Layers of ghosts: the same number on every rank.
  [[nodiscard]] int layers() const { return int(here_->ends.size()); }
  /// A layer of ghosts, counted from 1, the nearest. Throws `keel::error` if there is no such layer.
  [[nodiscard]] element_range layer(int n) const { return here_->layer(n, M::name); }

  /// The id of each element, by local index.
  [[nodiscard]] std::span<std::int64_t const> ids() const { return here_->ids; }
  /// The rank that owns each ghost, in ascending order of their local indices.
  [[nodiscard]] std::span<int const> owners() const { return here_->owners; }
  /// The local index of each ghost on that rank.
  [[nodiscard]] std::span<std::int32_t const> index_at_owner() const { return here_->at_owner; }
  /// The local index of an element; the owned one if the rank has a ghost of it, too; none if it is not here.
  [[nodiscard]] std::optional<std::int64_t> local_of(std::int64_t id) const {
    std::int32_t const at = here_->places.find(here_->ids, here_->order, id);
    return at == detail::id_table::none ? std::nullopt : std::optional<std::int64_t>(at);
  }

  /// What an exchange needs.
  [[nodiscard]] detail::element_lists const& lists() const { return here_->lists; }
  /// What fields need.
  [[nodiscard]] std::shared_ptr<detail::elements const> const& here() const { return here_; }
  [[nodiscard]] std::shared_ptr<detail::index_space const> space() const { return detail::mesh_space(M::name, here_); }

private:
  static constexpr auto wanted = M::has_images ? detail::search_for::images : detail::search_for::owners;
  std::shared_ptr<detail::elements const> here_;
};

/// Cuts another mesh as `c` is cut: an edge belongs to the owner of its first cell that is in `c`, as in MPAS and
/// OMEGA. Other edges of owned cells are the first layer of ghosts, and those of the n-th layer of cells that are in no
/// layer before are the layer n + 1; edges without a cell in `c` are left out. `cells_on_edge` has a pair for each
/// edge, of its id and a range of the ids of its cells, such as a `std::map<std::int64_t, std::array<std::int64_t,
/// 2>>`; each edge once. An id that no cell has, as 0 or -1 at the border, is skipped.
///
/// No communication. All cells of an edge of an owned cell have to be in `c`, which is so if its first layer has all
/// neighbours; if not, `partition<edges>{env, owned_through<edges>(c, cells_on_edge)}` finds an edge owned twice.
template <Mesh Edges, Mesh Cells, class CellsOnEdge>
[[nodiscard]] element_ids<Edges> owned_through(partition<Cells> const& c, CellsOnEdge const& cells_on_edge) {
  element_ids<Edges> made{{}, std::vector<std::vector<std::int64_t>>(std::size_t(c.layers()) + 1)};
  for (auto const& [edge, cells] : cells_on_edge) {
    std::optional<std::int64_t> first, nearest;
    for (std::int64_t const id : cells)
      if (auto const cell = c.local_of(id)) {
        if (!first) first = cell;
        nearest = std::min(nearest.value_or(*cell), *cell); // layers are in order
      }
    if (!first) continue;
    if (*first < c.owned().end) {
      made.owned.push_back(edge);
      continue;
    }
    int n = 0;
    while (*nearest >= (n == 0 ? c.owned().end : c.layer(n).end)) ++n;
    made.ghosts[std::size_t(n)].push_back(edge);
  }
  return made;
}

} // namespace keel::residency
