// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Reading all knobs of a program at its start, from every source.

#include <keel/impl/device/candidates.hpp>
#include <keel/impl/device/common_settings.hpp>
#include <keel/impl/device/device_knobs.hpp>
#include <keel/impl/device/option_names.hpp>
#include <keel/policy/error.hpp>
#include <keel/policy/macros.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace keel::device {

/// What reading needs of an application policy.
struct reading_rules {
  option_names names;
  std::span<candidate const> candidates;
  bool is_strict, requires_device;
};

/// What was read beside the knobs.
struct read_words {
  read_words();
  read_words(read_words&&) noexcept;
  read_words& operator=(read_words&&) noexcept;
  ~read_words();

  std::vector<std::string_view> chain; ///< the devices that may run, the best first
  std::vector<std::string> for_kokkos; ///< every `--kokkos-…`, to be handed to Kokkos when it starts
  std::vector<char*> rest;             ///< the program's own, by the name it was started with
};

/// Everything is parsed and checked before argv is touched, so that what is refused is whole.
[[nodiscard]] read_words read_all(reading_rules const& rules, int argc, char* const* argv, common_settings& common,
                                  std::span<changeable_knobs const> devices);

/// The knobs that all ranks have to give the same values, as text.
[[nodiscard]] std::string alike_knobs(program_settings const& program);
/// What is wrong if ranks did not; `texts` has that of each rank, all of one length.
[[nodiscard]] std::string disagreement(std::span<char const> texts, std::size_t length, std::string_view prefix);

/// The error that `rank` throws where rank `first` has a problem; its own is empty on others. The first one says it.
[[nodiscard]] error error_of(std::string const& problem, int first, int rank);

} // namespace keel::device

#if !KEEL_COMPILED
#include <keel/impl/device/reading.ipp>
#endif
