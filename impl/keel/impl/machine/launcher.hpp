// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The launcher's variables about this process, and whether MPI agrees: with the launcher of another MPI it does not,
/// and every process is a world of its own.

#include <keel/policy/error.hpp>

#include <mpi.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

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

/// Why a world of one process is not what was launched; empty if it may be. Nothing is communicated.
[[nodiscard]] inline std::optional<error> why_alone() {
  int world = 0;
  auto const said = said_by_launcher();
  if (!said || said->ranks == 1 || MPI_Comm_size(MPI_COMM_WORLD, &world) != MPI_SUCCESS || world != 1)
    return std::nullopt;
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  std::string_view library{text.data(), std::size_t(length)};
  library = library.substr(0, library.find_first_of(",\n"));
  std::string const variable = said->variable;
  error const found("machine", "each of " + std::to_string(said->ranks) + " processes is alone",
                    variable + " counts them, MPI_COMM_WORLD does not: this program's MPI is " + std::string{library} +
                        ", and its launcher another's",
                    "Start it with the mpiexec of its own MPI, or without " + variable);
  return said->rank > 0 ? found.printed_elsewhere() : found;
}

} // namespace keel::machine::detail
