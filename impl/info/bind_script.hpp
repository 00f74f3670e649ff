// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A shell script that starts ranks bound as the map shows them, through the launcher that its first argument names.

#include <keel/topology.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
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

/// What is written, with a word between two % for each part that depends on the map.
inline constexpr std::string_view bind_script_form = R"sh(#!/bin/sh
# %ranks% on %node%, bound as keel-info --map shows them.
# sh THIS srun|openmpi|mpich|flux|jsrun PROGRAM [ARGUMENT]...
usage() {
  echo "usage: sh $0 srun|openmpi|mpich|flux|jsrun PROGRAM [ARGUMENT]..." >&2
  exit 2
}
[ $# -ge 2 ] || usage
launcher=$1
shift
case $launcher in
srun) exec srun --nodes=1 --ntasks=%n% --cpu-bind=mask_cpu:%masks% "$@" ;;
openmpi) exec mpiexec -n %n% --bind-to none sh -c '
  set_of() { shift "$OMPI_COMM_WORLD_LOCAL_RANK"; echo "$1"; }
  exec taskset -c "$(set_of %lists%)" "$@"' sh "$@" ;;
mpich) exec mpiexec -n %n% -bind-to user:%sums% "$@" ;;
flux) exec flux run -N 1 -n %n% --exclusive -o mpibind=off -o 'cpu-affinity=map:%map%' "$@" ;;
jsrun)
  resources=$(mktemp) || exit 2
  cat >"$resources" <<'end'
cpu_index_using: physical
overlapping_rs: allow
oversubscribe_cpu: allow
%resources%end
  jsrun --erf_input "$resources" "$@"
  code=$?
  rm "$resources"
  exit $code ;;
*) usage ;;
esac
)sh";

/// Hardware threads are named by the system's numbers, as each launcher takes them: srun as masks; Flux as lists;
/// MPICH's Hydra as sums; jsrun in a file of resources. Open MPI's own files name cores, so there each rank binds
/// itself. Memory is not bound: pages lie where they are first touched, which is near.
inline std::string bind_script(topology::node const& node, std::vector<topology::placement> const& ranks) {
  auto const list = [](topology::id_set const& threads) { return to_string(threads); };
  auto const sum = [](topology::id_set const& threads) {
    std::string text;
    for (int const t : threads) text += (text.empty() ? "" : "+") + std::to_string(t);
    return text;
  };
  std::string source, resources;
  for (char const c : node.source()) source += c >= ' ' && c < 0x7f ? c : '?'; // a file's name could end the comment
  for (std::size_t r = 0; r < ranks.size(); ++r)
    resources += "rank: " + std::to_string(r) + ": { host: 1; cpu: {" + list(ranks[r].hardware_threads) + "} }\n";
  auto const part = [&](std::string_view name) -> std::string {
    if (name == "n") return std::to_string(ranks.size());
    if (name == "ranks") return policy::counted(std::int64_t(ranks.size()), "rank");
    if (name == "node") return source;
    if (name == "masks") return of_each(ranks, ",", hexadecimal);
    if (name == "lists") return of_each(ranks, " ", list);
    if (name == "sums") return of_each(ranks, ",", sum);
    if (name == "map") return of_each(ranks, ";", list);
    return resources;
  };
  std::string text;
  bool is_name = false;
  for (auto rest = bind_script_form; !rest.empty(); is_name = !is_name) {
    auto const word = rest.substr(0, rest.find('%'));
    text += is_name ? part(word) : std::string{word};
    rest.remove_prefix(std::min(word.size() + 1, rest.size()));
  }
  return text;
}

} // namespace keel::info
