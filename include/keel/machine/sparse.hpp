// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Messages to some ranks, which do not know that they will get one.

#include <keel/machine/agreement.hpp>
#include <keel/machine/collectives.hpp>
#include <keel/machine/messages.hpp>

#include <algorithm>
#include <climits>
#include <cstddef>
#include <exception>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace keel::machine {

/// Elements for a rank, or from it.
template <Gatherable T>
struct parcel {
  int rank;
  std::vector<T> items;
};

/// Rounds of an exchange in which a rank knows only what it sends. Time and memory of a round are those of the messages
/// that a rank sends and gets, of a barrier and of a reduction, if the model has `exchange_sparse`, as `mpi` has;
/// without it, each rank counts for all ranks in turn. Depends on an environment that outlives it.
template <CommunicatingRanks R>
class sparse_messages {
public:
  /// Collective over `env`: duplicates its communicator, so that other messages do not mix with these.
  explicit sparse_messages(basic_environment<R> const& env) : env_(env.comm()) {}

  /// Sends each parcel, and returns those that were sent to this rank, in ascending order of their senders. Collective;
  /// empty on a non-member. Each rank once in `out`, in ascending order; a parcel may be empty. If a rank has other
  /// parcels, or lacks memory, all ranks throw `keel::error` when the round has ended.
  template <Gatherable T>
  [[nodiscard]] std::vector<parcel<T>> exchange(std::vector<parcel<T>> out) {
    std::vector<parcel<T>> in;
    if (!env_.is_member()) return in;
    agreement const ranks(env_);
    failing_call const round{"machine::sparse_messages", "a round", "is refused", "Give each rank one parcel, sorted"};
    ranks.all_alike(round, [&] {
      std::exception_ptr refused;
      try {
        check(out);
      } catch (error const&) { // it takes part all the same, because the others wait for it
        refused = std::current_exception();
        out.clear();
      }
      parcel<T> mine{-1, {}};
      auto const own = std::find_if(out.begin(), out.end(), [&](auto const& p) { return p.rank == env_.rank(); });
      if (own != out.end()) {
        mine = std::move(*own);
        out.erase(own);
      }
      if constexpr (requires { &R::exchange_sparse; }) by_consensus(out, in);
      else by_counts(out, in);
      if (refused) std::rethrow_exception(refused);
      if (mine.rank >= 0) in.push_back(std::move(mine));
      std::stable_sort(in.begin(), in.end(), [](auto const& a, auto const& b) { return a.rank < b.rank; });
    });
    return in;
  }

private:
  template <class T>
  void check(std::vector<parcel<T>> const& out) const {
    int least = 0;
    for (parcel<T> const& p : out) {
      if (p.rank < least || p.rank >= env_.size())
        throw error("machine::sparse_messages", "rank " + std::to_string(p.rank) + " cannot get a parcel",
                    "the environment has " + policy::counted(env_.size(), "rank") +
                        ", and each gets one parcel, in ascending order",
                    "Join the parcels of a rank, and sort them");
      if (p.items.size() > INT_MAX)
        throw error("machine::sparse_messages", "a parcel has " + std::to_string(p.items.size()) + " items",
                    "MPI counts in int", "Send them in several rounds");
      least = p.rank + 1;
    }
  }

  // Both append what comes to `in`, in any order.
  template <class T>
  void by_consensus(std::vector<parcel<T>> const& out, std::vector<parcel<T>>& in) {
    struct {
      std::vector<parcel<T>>& parcels;
      bool lack_memory;
    } all{in, false};
    std::vector<outgoing> sends; // stays empty without memory
    try {
      sends.reserve(out.size());
      for (parcel<T> const& p : out) sends.push_back({p.rank, p.items.data(), int(p.items.size())});
    } catch (std::bad_alloc const&) {
      all.lack_memory = true;
    }
    auto const room = [](void* to, int rank, int count) -> void* {
      auto& here = *static_cast<decltype(all)*>(to);
      try {
        return here.parcels.emplace_back(parcel<T>{rank, std::vector<T>(std::size_t(count))}).items.data();
      } catch (std::bad_alloc const&) {
        here.lack_memory = true;
        return nullptr;
      }
    };
    // Neighbouring rounds have different tags: a rank may send in the next one while another is still in this one.
    R::exchange_sparse(env_.communicator(), sends, sizeof(T), round_++ % 2, room, &all);
    if (all.lack_memory) throw std::bad_alloc();
  }

  template <class T>
  void by_counts(std::vector<parcel<T>> const& out, std::vector<parcel<T>>& in) {
    auto next = out.begin();
    for (int root = 0; root != env_.size(); ++root) {
      bool const sends = next != out.end() && next->rank == root;
      int const count = sends ? int((next++)->items.size()) : -1;
      auto const counts = R::gather_counts(env_.communicator(), count, root);
      for (std::size_t r = 0; r != counts.size(); ++r)
        if (counts[r] >= 0) in.push_back({int(r), std::vector<T>(std::size_t(counts[r]))});
    }
    messages<R> m{env_};
    for (auto& p : in) m.receive(p.items.data(), p.items.size() * sizeof(T), p.rank, 0);
    for (auto const& p : out) m.send(p.items.data(), p.items.size() * sizeof(T), p.rank, 0);
    m.wait();
  }

  basic_environment<R> env_;
  int round_ = 0;
};

} // namespace keel::machine
