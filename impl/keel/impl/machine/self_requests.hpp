// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Messages of a process to itself, matched when they are waited for.

#include <keel/policy/macros.hpp>

#include <cstddef>
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

} // namespace keel::machine::detail

#if !KEEL_COMPILED
#include <keel/impl/machine/self_requests.ipp>
#endif
