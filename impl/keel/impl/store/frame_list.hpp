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
/// Reads the list, whichever tool wrote it last. A file that is not such a list is renamed to
/// `movie.vtkhdf.series.broken`, with a warning; so is one that says more than the frames in the folder do, if keel was
/// built without nlohmann-json. Then, and if there is no file, the list is made from those frames.
[[nodiscard]] frame_list read_frame_list(std::string const& stem);

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/store/frame_list.ipp>
#endif
