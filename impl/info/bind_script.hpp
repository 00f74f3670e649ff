// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A shell script that starts ranks bound as the map shows them, through the launcher that its first argument names.

#include <keel/topology.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace keel::info {

/// A set as one hexadecimal number, the lowest hardware thread in the last digit.
inline std::string hexadecimal(topology::id_set const& threads) {
  std::string digits;
  int largest = 0;
  for (int const t : threads) largest = t;
  for (int digit = largest / 4; digit >= 0; --digit) {
    int value = 0;
    for (int bit = 0; bit < 4; ++bit) value += threads.contains(4 * digit + bit) ? 1 << bit : 0;
    digits += "0123456789abcdef"[value];
  }
  return "0x" + digits;
}

/// What `one` makes of each rank's hardware threads, with `between` in between.
inline std::string of_each(std::vector<topology::placement> const& ranks, std::string const& between, auto const& one) {
  std::string text;
  for (auto const& p : ranks) text += (text.empty() ? "" : between) + one(p.hardware_threads);
  return text;
}

/// Hardware threads are named by the system's numbers, as each launcher takes them: srun as masks; Flux as lists; MPICH's
/// Hydra as sums; jsrun in a file of resources. Open MPI's own files name cores, so there each rank binds itself.
/// Memory is not bound: pages lie where they are first touched, which is near.
inline std::string bind_script(topology::node const& node, std::vector<topology::placement> const& ranks) {
  auto const n = std::to_string(ranks.size());
  auto const list = [](topology::id_set const& threads) { return to_string(threads); };
  auto const lists = [&](char const* between) { return of_each(ranks, between, list); };
  auto const sums = of_each(ranks, ",", [](topology::id_set const& threads) {
    std::string text;
    for (int const t : threads) text += (text.empty() ? "" : "+") + std::to_string(t);
    return text;
  });
  std::string resources;
  for (std::size_t r = 0; r < ranks.size(); ++r)
    resources += "rank: " + std::to_string(r) + ": { host: 1; cpu: {" + list(ranks[r].hardware_threads) + "} }\n";
  std::string source;
  for (char const c : node.source()) source += c >= ' ' && c < 0x7f ? c : '?'; // a file's name may break a comment

  return "#!/bin/sh\n"
         "# " + n + (n == "1" ? " rank" : " ranks") + " on " + source + ", bound as keel-info --map " + n + " shows them.\n"
         "# sh THIS srun|openmpi|mpich|flux|jsrun PROGRAM [ARGUMENT]...\n"
         "usage() {\n"
         "  echo \"usage: sh $0 srun|openmpi|mpich|flux|jsrun PROGRAM [ARGUMENT]...\" >&2\n"
         "  exit 2\n"
         "}\n"
         "[ $# -ge 2 ] || usage\n"
         "launcher=$1\n"
         "shift\n"
         "case $launcher in\n"
         "srun) exec srun --nodes=1 --ntasks=" + n + " --cpu-bind=mask_cpu:" + of_each(ranks, ",", hexadecimal) + " \"$@\" ;;\n"
         "openmpi) exec mpiexec -n " + n + " --bind-to none sh -c '\n"
         "  set_of() { shift \"$OMPI_COMM_WORLD_LOCAL_RANK\"; echo \"$1\"; }\n"
         "  exec taskset -c \"$(set_of " + lists(" ") + ")\" \"$@\"' sh \"$@\" ;;\n"
         "mpich) exec mpiexec -n " + n + " -bind-to user:" + sums + " \"$@\" ;;\n"
         "flux) exec flux run -N 1 -n " + n + " --exclusive -o mpibind=off -o 'cpu-affinity=map:" + lists(";") + "' \"$@\" ;;\n"
         "jsrun)\n"
         "  resources=$(mktemp) || exit 2\n"
         "  cat >\"$resources\" <<'end'\n"
         "cpu_index_using: physical\n"
         "overlapping_rs: allow\n"
         "oversubscribe_cpu: allow\n" + resources +
         "end\n"
         "  jsrun --erf_input \"$resources\" \"$@\"\n"
         "  code=$?\n"
         "  rm \"$resources\"\n"
         "  exit $code ;;\n"
         "*) usage ;;\n"
         "esac\n";
}

} // namespace keel::info
