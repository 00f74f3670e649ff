// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Bytes between two ranks while the host does something else.

#include <keel/machine/environment.hpp>

#include <cstddef>
#include <string>

namespace keel::machine {

/// Sends and receives under way in one environment, which outlives it and is not moved.
///
/// Sizes agree on both sides, else `wait` throws; messages of one tag between two ranks arrive in the
/// order sent. Buffers are MPI's until `wait`. A rank may write to itself, by a send and a
/// receive of the same object. Tags are 0 to 32767. Ready for the next round after `wait`,
/// then without allocation.
template <CommunicatingRanks R>
class messages {
public:
  explicit messages(basic_environment<R> const& env) : env_(&env) {}
  messages(messages const&) = delete;
  messages& operator=(messages const&) = delete;

  void receive(void* to, std::size_t bytes, int from, int tag) {
    check(from, tag);
    requests_.receive(env_->communicator(), to, bytes, from, tag);
  }
  void send(void const* from, std::size_t bytes, int to, int tag) {
    check(to, tag);
    requests_.send(env_->communicator(), from, bytes, to, tag);
  }

  /// Makes room for so many messages of at most a GiB, which allocate nothing then; if the model can.
  void reserve(std::size_t count) {
    if constexpr (requires { requests_.reserve(count); }) requests_.reserve(count);
  }

  /// Returns when all that was begun is done. Throws `keel::error` if one failed; the others are given up.
  void wait() { requests_.wait(); }

private:
  void check(int partner, int tag) const {
    if (partner < 0 || partner >= env_->size())
      throw error("machine::messages", "rank " + std::to_string(partner) + " cannot be reached",
                  "the environment has " + policy::counted(env_->size(), "rank"),
                  "Write to a rank of this environment");
    if (tag < 0 || tag > 32767)
      throw error("machine::messages", "tag " + std::to_string(tag) + " is refused", "MPI grants 0 to 32767",
                  "Take a smaller one");
  }

  basic_environment<R> const* env_;
  typename R::requests requests_;
};

} // namespace keel::machine
