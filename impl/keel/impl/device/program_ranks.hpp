// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The ranks of a program without their type, for what they do together at its start, which is compiled once.

#include <keel/machine/environment.hpp>
#include <keel/policy/macros.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace keel::device {

/// The ranks of an environment, which has to live on. All calls are collective.
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
  /// Throws on all ranks if one reports a problem, after `session_fails`; only the first such rank prints it. Knobs
  /// `alike` that differ between ranks are a problem, too.
  void agree(std::string problem, std::string_view prefix, std::string alike, void (*session_fails)(void* session),
             void* session) const;

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

} // namespace keel::device

#if !KEEL_COMPILED
#include <keel/impl/device/program_ranks.ipp>
#endif
