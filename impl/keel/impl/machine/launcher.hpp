// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The launcher's variables about this process, which MPI may not agree with: a launcher of another MPI makes every
/// process a world of its own, and so does a keel without MPI.

#include <keel/policy/error.hpp>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>

namespace keel::machine::detail {

struct launched {
  char const* variable; ///< that says so
  int ranks, rank;
};

/// By the variables of Open MPI's launcher, of those that speak PMI, and of a step of Slurm's, which counts only if
/// neither of the others is there: it may have started a launcher.
[[nodiscard]] inline std::optional<launched> said_by_launcher() {
  auto const number = [](char const* variable) {
    char const* const text = std::getenv(variable);
    int value = -1;
    if (text != nullptr) std::from_chars(text, text + std::strlen(text), value);
    return value;
  };
  std::optional<launched> said;
  struct names {
    char const *ranks, *rank;
  };
  for (auto const& n : {names{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"}, names{"PMI_SIZE", "PMI_RANK"}})
    if (int const ranks = number(n.ranks); ranks > 0 && (!said || ranks < said->ranks))
      said = {n.ranks, ranks, number(n.rank)};
  if (int const ranks = number("SLURM_STEP_NUM_TASKS"); !said && ranks > 0)
    said = {"SLURM_STEP_NUM_TASKS", ranks, number("SLURM_PROCID")};
  return said;
}

/// The error of one of several launched processes that each are a world of their own; the first one prints it.
[[nodiscard]] inline error each_alone(launched const& said, std::string const& why, std::string const& fix) {
  error const found("machine", "each of " + std::to_string(said.ranks) + " processes is alone",
                    std::string(said.variable) + " counts them" + why, fix + ", or without " + said.variable);
  return said.rank > 0 ? found.printed_elsewhere() : found;
}

} // namespace keel::machine::detail
