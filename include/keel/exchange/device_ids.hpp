// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Partitions made of ids that lie in views, such as on a device, which then looks for their owners.

#include <keel/impl/layout/owner_search.hpp>
#include <keel/layout/partition.hpp>
#include <keel/policy/macros.hpp>
#include <keel/space/kokkos.hpp>

#include <bit>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace keel::residency::detail {

/// Enters the owned ids of a rank into a table with open addressing, a thread a run; then answers what a rank asks.
template <class Space>
struct id_lookup {
  template <class T>
  using list = Kokkos::View<T*, Kokkos::LayoutRight, typename Space::memory_space>;

  list<id_run> runs;
  list<std::int64_t> slots; ///< the number of a run times the longest, and that of the id in it; or -1
  list<int> owners;         ///< of each run that is entered
  list<int> askers;         ///< the rank that last asked for the id of a slot
  list<owned_at> answers;
  list<int> mistakes;
  bool may_repeat, enters = true;
  int rank = 0;                       ///< whose runs they are
  std::int64_t first = 0, answer = 0; ///< where its parcel begins, and the answers for it

  KEEL_FUNCTION void operator()(int n) const {
    id_run const run = runs(first + n);
    if (enters) owners(first + n) = rank;
    for (int k = 0; k != run.length; ++k) {
      std::int64_t const id = run.id + k, mine = (first + n) * id_run::longest + k;
      for (std::uint64_t at = mixed(std::uint64_t(id));; ++at) {
        at &= slots.extent(0) - 1;
        std::int64_t const there =
            enters ? Kokkos::atomic_compare_exchange(&slots(at), std::int64_t{-1}, mine) : slots(at);
        std::int64_t const owner = there / id_run::longest, place = there % id_run::longest;
        bool const is_free = there == -1;
        if (!is_free && runs(owner).id + place != id) continue;
        // An id is to be entered once, and to be found, by each rank once.
        if (!enters && !is_free) answers(answer + run.place + k) = {owners(owner), runs(owner).place + int(place)};
        bool const is_first = enters || is_free || may_repeat || Kokkos::atomic_exchange(&askers(at), rank) != rank;
        if (is_free != enters || !is_first) Kokkos::atomic_add(&mistakes(0), 1);
        break;
      }
    }
  }
};

/// Ids in views of this type and others in its memory.
template <class View>
struct ids_in_views {
  using space = typename View::execution_space;
  using memory = typename space::memory_space;
  using host = Kokkos::HostSpace;

  /// Calls make(owned ids, layers of ghosts, what answers if not the host), with ids on the host.
  static void give(auto const& make, View const& owned, auto const& ghosts) {
    Kokkos::fence(); // who wrote the views
    std::vector<std::vector<std::int64_t>> all;
    auto const bring = [&]<class Ids>(Ids const& view) {
      constexpr bool are_ids = std::is_same_v<typename Ids::non_const_value_type, std::int64_t> && Ids::rank == 1 &&
                               !std::is_same_v<typename Ids::array_layout, Kokkos::LayoutStride>;
      static_assert(are_ids,
                    "keel::residency::partition: ids are no view of std::int64_t in one dimension, without strides. "
                    "Give a Kokkos::View<std::int64_t*, ...>.");
      if constexpr (are_ids) copy<host, memory>(all.emplace_back(view.extent(0)).data(), view.data(), view.extent(0));
    };
    bring(owned);
    if constexpr (requires { ghosts.extent(0); }) bring(ghosts);
    else
      for (auto const& layer : ghosts) bring(layer);
    owner_search::device_answers* by_device = nullptr;
    if constexpr (!Kokkos::SpaceAccessibility<host, memory>::accessible) by_device = &answers;
    make(std::span<std::int64_t const>(all[0]), as_layers(std::span(all).subspan(1)), by_device);
  }

  static std::optional<owner_search::owners> answers(owner_search::runs const& from_all, bool may_repeat) try {
    std::size_t runs = 0, owned = 0, asked = 0;
    for (auto const& [rank, items] : from_all)
      runs += items.size(), owned += std::size_t(items[0].place), asked += std::size_t(items[0].length);
    std::size_t const slots = std::bit_ceil(2 * owned + 1);
    id_lookup<space> all{of<id_run>(runs), of<std::int64_t>(slots), of<int>(runs),
                         of<int>(slots),   of<owned_at>(asked),     of<int>(1),
                         may_repeat};
    Kokkos::deep_copy(all.slots, -1), Kokkos::deep_copy(all.askers, -1), Kokkos::deep_copy(all.mistakes, 0);
    for (bool const enters : {true, false}) {
      all.enters = enters, all.first = all.answer = 0;
      for (auto const& [rank, items] : from_all) {
        if (enters) copy<memory, host>(&all.runs.data()[all.first], items.data(), items.size());
        std::int64_t const end_of_owned = 1 + items[0].id, end = std::int64_t(items.size());
        all.rank = rank;
        Kokkos::RangePolicy<space> const part(enters ? 1 : end_of_owned, enters ? end_of_owned : end);
        Kokkos::parallel_for("keel: look up ids", part, all);
        all.first += end, all.answer += items[0].length;
      }
    }
    int mistakes = 0;
    copy<host, memory>(&mistakes, all.mistakes.data(), 1);
    if (mistakes != 0) return {};
    owner_search::owners made;
    owned_at const* next = all.answers.data();
    for (auto const& [rank, items] : from_all) {
      std::vector<owned_at> answer(std::size_t(items[0].length));
      copy<host, memory>(answer.data(), next, answer.size()), next += answer.size();
      if (!answer.empty()) made.push_back({rank, std::move(answer)});
    }
    return made;
  } catch (std::exception const&) { // Kokkos throws any if memory is lacking
    return {};
  }

private:
  template <class T>
  static auto of(std::size_t count) {
    using list = typename id_lookup<space>::template list<T>;
    return list(Kokkos::view_alloc("keel: ids of a mesh", Kokkos::WithoutInitializing), count);
  }
  template <class To, class From, class T>
  static void copy(T* to, T const* from, std::size_t count) {
    using unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
    Kokkos::deep_copy(Kokkos::View<T*, Kokkos::LayoutRight, To, unmanaged>(to, count),
                      Kokkos::View<T const*, Kokkos::LayoutRight, From, unmanaged>(from, count));
  }
};

} // namespace keel::residency::detail
