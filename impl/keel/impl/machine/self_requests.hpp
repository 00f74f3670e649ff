// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Messages of a process to itself, matched when they are waited for.

#include <keel/policy/error.hpp>
#include <keel/policy/macros.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

namespace keel::machine::detail {

/// Buffers noted by `send` and `receive`, copied by `wait`: per tag the n-th sent
/// meets the n-th received.
class self_requests {
public:
  template <class Communicator>
  void receive(Communicator const&, void* to, std::size_t bytes, int, int tag) {
    receive(to, bytes, tag);
  }
  template <class Communicator>
  void send(Communicator const&, void const* from, std::size_t bytes, int, int tag) {
    send(from, bytes, tag);
  }

  /// Throws `keel::error`, and forgets all that was noted, if a message has no partner or does not fit.
  void wait();

private:
  struct sent {
    void const* from;
    std::size_t bytes;
    int tag;
  };
  struct received {
    void* to;
    std::size_t bytes;
    int tag;
  };
  void receive(void* to, std::size_t bytes, int tag);
  void send(void const* from, std::size_t bytes, int tag);

  std::vector<sent> sends_;
  std::vector<received> receives_;
};

inline void self_requests::receive(void* to, std::size_t bytes, int tag) { receives_.push_back({to, bytes, tag}); }
inline void self_requests::send(void const* from, std::size_t bytes, int tag) { sends_.push_back({from, bytes, tag}); }
inline void self_requests::wait() {
  auto const by_tag = [](auto const& a, auto const& b) { return a.tag < b.tag; };
  std::stable_sort(sends_.begin(), sends_.end(), by_tag);
  std::stable_sort(receives_.begin(), receives_.end(), by_tag);
  auto const pairs = [](sent const& s, received const& r) { return s.tag == r.tag && s.bytes == r.bytes; };
  bool const all = std::equal(sends_.begin(), sends_.end(), receives_.begin(), receives_.end(), pairs);
  for (std::size_t i = 0; all && i != sends_.size(); ++i)
    if (sends_[i].bytes != 0) std::memcpy(receives_[i].to, sends_[i].from, sends_[i].bytes);
  auto const counts = std::to_string(sends_.size()) + " sent, " + std::to_string(receives_.size()) + " received";
  sends_.clear();
  receives_.clear();
  if (!all)
    throw error("machine::messages", "a message of this rank to itself has no partner, or one of another length",
                counts, "Give each send a receive of the same tag and size");
}

} // namespace keel::machine::detail
