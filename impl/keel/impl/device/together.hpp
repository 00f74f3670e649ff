// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What the ranks of a program do together at its start: agree on mistakes, tell one another what they share, and take
/// their places. All of it is collective, and sends bytes, so that it is compiled once for all kinds of ranks.

#include <keel/impl/device/common_settings.hpp>
#include <keel/machine/environment.hpp>
#include <keel/policy/macros.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace keel::topology {
class id_set;
}

namespace keel::device {

class own_node;
class placed_rank;

/// The ranks of an environment, which has to live on, without its type.
class program_ranks {
public:
  template <class R>
  explicit program_ranks(machine::basic_environment<R> const& all)
      : environment_(&all), gather_(&gather<R>), rank_(all.rank()), is_master_(all.is_master()) {}

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] bool is_master() const { return is_master_; }
  /// The bytes of all of them, of each equally many; none if this process is not one of them.
  [[nodiscard]] std::vector<char> bytes_of_all(void const* mine, std::size_t bytes) const;
  /// The bytes of the ranks of this node, and which of them this one is.
  struct on_node {
    std::vector<char> bytes;
    int rank;
  };
  [[nodiscard]] on_node bytes_of_node(void const* mine, std::size_t bytes) const;

private:
  struct message {
    void const* mine;
    std::size_t bytes;
  };
  template <class R>
  static int gather(void const* environment, bool of_node, message const& what, std::vector<char>& all);

  void const* environment_;
  int (*gather_)(void const* environment, bool of_node, message const& what, std::vector<char>& all);
  int rank_;
  bool is_master_;
};

template <class R>
int program_ranks::gather(void const* environment, bool of_node, message const& what, std::vector<char>& all) {
  auto const& ranks = *static_cast<machine::basic_environment<R> const*>(environment);
  if (of_node) {
    auto const here = ranks.node();
    return gather<R>(&here, false, what, all);
  }
  all.resize(what.bytes * std::size_t(ranks.size()));
  if (ranks.is_member()) R::all_gather(ranks.communicator(), what.mine, all.data(), what.bytes);
  return ranks.rank();
}

/// Throws on all ranks if one reports a problem, after `session_fails`; only the first such rank prints it. Knobs
/// `alike` that differ between ranks are a problem, too.
void agree(program_ranks const& ranks, std::string problem, std::string_view prefix, std::string alike,
           void (*session_fails)(void* session), void* session);

/// The hardware threads that one at least of the ranks of a node may use.
[[nodiscard]] topology::id_set allowed_together(program_ranks const& ranks);

/// Binds each rank to its place, if that is asked for; returns why this rank could not be bound, empty on success. An
/// error of all ranks if only some ask for it.
[[nodiscard]] std::string go(placed_rank& me, program_ranks const& ranks, std::string_view prefix,
                             common_settings const& common, own_node const& node);

/// The first rank of each node notes where those of its node are, once all went.
void note_places(placed_rank const& me, program_ranks const& ranks, common_settings& common);

/// What keel takes of each device if no knob says it.
void propose(std::span<changeable_knobs const> devices, program_ranks const& ranks, placed_rank const& placed,
             program_settings const& program, own_node const& node);

} // namespace keel::device

#if !KEEL_COMPILED
#include <keel/impl/device/together.ipp>
#endif
