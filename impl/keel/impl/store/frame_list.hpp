// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The list of a movie's frames, which ParaView opens: `movie.vtkhdf.series`, in JSON.

#include <keel/policy/macros.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace keel::residency::detail {

struct frame_list {
  std::map<std::int64_t, std::string> frames; ///< the JSON of each, by step; those of other names come before all steps
  std::vector<std::string> others = {"\"file-series-version\": \"1.0\""}; ///< members beside them, also unknown ones
};

/// `movie.000020.vtkhdf`, in the folder of the stem.
[[nodiscard]] std::string name_of_frame(std::string const& stem, std::int64_t step);
/// Its JSON.
[[nodiscard]] std::string text_of_frame(std::string const& stem, std::int64_t step, double time);
[[nodiscard]] std::string text_of(frame_list const& list);
/// The list that is there, whoever wrote it last. What is no such list, and in a build without nlohmann-json what keel
/// would write differently, gets the name `movie.vtkhdf.series.broken` with a warning. Then, and where there is none,
/// the frames that are there make a new one.
[[nodiscard]] frame_list read_frame_list(std::string const& stem);

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/store/frame_list.ipp>
#endif
