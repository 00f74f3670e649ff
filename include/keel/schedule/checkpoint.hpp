// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Entries that write files: what later steps need, to go on in another run; and fields, for those who look at them.

#include <keel/policy/list.hpp>
#include <keel/schedule/routine.hpp>

#include <array>
#include <cstdint>
#include <type_traits>

namespace keel::residency {

namespace detail {
/// How many files of a kind are finished.
struct finished_files {
  std::int64_t written = 0, failed = 0;
};

template <class... Entries>
constexpr auto levels_of() {
  return join(std::array<declaration, sizeof...(Entries)>{declaration{
      &item<typename Entries::part>::variable::about, std::uint8_t(item<typename Entries::part>::level)}...});
}
} // namespace detail

/// A level of a variable that a checkpoint has beside those that later steps read: `checkpoint<"run", keep<x>>`.
template <Part X>
struct keep {
  using part = X;
};
template <class K>
concept Kept = requires { typename K::part; } && std::is_same_v<K, keep<typename K::part>>;

/// Writes `run.h5` when the step in which it stands is over, wherever it stands: of every level of every variable what
/// later steps read before they write it, as far as it is valid, in global order; the ids of meshes; and the steps.
/// `fields::restart` goes on with it. See the guide.
///
/// The data are copied before the next step begins, and a thread writes them behind it. `run.h5` is always whole: the
/// file gets its name when it is, and the one before becomes `run.previous.h5`.
template <text Name, Kept... Keeps>
struct checkpoint {
  static constexpr auto declared = detail::levels_of<Keeps...>();
  static constexpr entry about{.what = entry_kind::checkpoint,
                               .name = Name.view(),
                               .first = declared.list.data(),
                               .declaration_count = declared.size};
};

/// Writes `movie.000010.vtkhdf` in the tenth step, with the owned elements of these parts as they are at its place, in
/// global order; ParaView opens the files of all steps as one series. In the state machine it is a routine on the host
/// that reads the parts, so only what changed since is copied there.
template <text Name, Part... Xs>
struct save {
  static_assert(sizeof...(Xs) > 0,
                "keel::residency::save: no variables (nothing would be written). Name those that are to be seen.");
  static_assert(
      (detail::item<Xs>::variable::about.lies_on_grid || ...),
      "keel::residency::save: no variable lies on a grid or a mesh (there is nothing to see). Name one that does.");
  static_assert(
      ((detail::number_kind_of<typename detail::element_of<typename detail::item<Xs>::variable::data_type>::type> !=
        detail::number_kind::none) &&
       ...),
      "keel::residency::save: a variable's elements are no numbers (files for looking at have nothing else; "
      "it is in the message). Leave it out.");
  using parts = keel::list<Xs...>;
  static constexpr auto declared =
      detail::join(std::array<declaration, sizeof...(Xs)>{detail::declared_by<true, false, region::owned, Xs>()...});
  static constexpr entry about{.what = entry_kind::save,
                               .name = Name.view(),
                               .where = on_host::where,
                               .first = declared.list.data(),
                               .declaration_count = declared.size};
};

} // namespace keel::residency
