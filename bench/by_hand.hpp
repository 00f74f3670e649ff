// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Ghosts filled without keel's exchange: a kernel packs what goes to other ranks, the host sends it, a kernel unpacks
/// what came. From a device with memory of its own the messages go through the host's, pinned for CUDA. What a rank
/// gives itself stays on the device.

#include "command_line.hpp"
#include "medians.hpp"

#include <keel/machine/environment.hpp>
#include <keel/machine/mpi.hpp>
#include <keel/machine/reductions.hpp>
#include <keel/machine/sparse.hpp>
#include <keel/policy/error.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#if KEEL_WITH_MPI
#include <mpi.h>
#endif

namespace bench {

/// Asks Kokkos to pass a kernel's arguments with its launch, as keel's loops do.
template <class Policy>
auto light(Policy const& policy) {
  return Kokkos::Experimental::require(policy, Kokkos::Experimental::WorkItemProperty::HintLightWeight);
}

/// An element of one of `Arrays` arrays by one number, and the element of a rank that it is a copy of.
struct ghost {
  int at;
  int rank;
  int there;
};

/// Ghosts of `Arrays` arrays, which are given by their addresses: element i of array k has the number i * Arrays + k, and
/// consists of `length` doubles.
template <class Space, int Arrays = 1>
class ghosts_by_hand {
  using memory = typename Space::memory_space;
  using numbers = Kokkos::View<int*, memory>;
  using buffer = Kokkos::View<double*, memory>;
  static constexpr bool is_on_host = std::is_same_v<memory, Kokkos::HostSpace>;
#ifdef KOKKOS_ENABLE_CUDA
  using host_space =
      std::conditional_t<std::is_same_v<memory, Kokkos::CudaSpace>, Kokkos::CudaHostPinnedSpace, Kokkos::HostSpace>;
#else
  using host_space = Kokkos::HostSpace;
#endif

public:
  /// Passed to kernels; nvcc wants it public.
  struct arrays {
    double* begin[Arrays];
    int length;

    KOKKOS_FUNCTION double& operator()(int element, int k) const {
      return begin[element % Arrays][std::size_t(element / Arrays) * std::size_t(length) + std::size_t(k)];
    }
  };

  /// Collective: each rank asks the owners of its ghosts for them.
  template <class Ranks>
  ghosts_by_hand(Space const& space, keel::machine::basic_environment<Ranks> const& env, std::vector<ghost> const& all,
                 int length = 1)
      : space_(space), length_(length) {
    std::map<int, std::array<std::vector<int>, 2>> by_owner; // here and there
    for (ghost const& g : all) by_owner[g.rank][0].push_back(g.at), by_owner[g.rank][1].push_back(g.there);
    auto const own = std::exchange(by_owner[env.rank()], {});
    by_owner.erase(env.rank());
    to_self_ = on_device(own[0]), from_self_ = on_device(own[1]);
    std::vector<keel::machine::parcel<int>> asked;
    std::vector<int> wanted, needed;
    auto const add = [&](auto& messages, int rank, std::vector<int>& elements, std::vector<int> const& more) {
      auto const doubles = std::size_t(length);
      messages.push_back({rank, elements.size() * doubles, more.size() * doubles});
      elements.insert(elements.end(), more.begin(), more.end());
    };
    for (auto const& [rank, lists] : by_owner)
      asked.push_back({rank, lists[1]}), add(from_others_, rank, needed, lists[0]);
    for (auto const& parcel : keel::machine::sparse_messages<Ranks>(env).exchange(std::move(asked)))
      add(to_others_, parcel.rank, wanted, parcel.items);
    to_ = on_device(needed), from_ = on_device(wanted);
    out_ = buffer("out", wanted.size() * std::size_t(length)), in_ = buffer("in", needed.size() * std::size_t(length));
    host_out_ = on_host(out_), host_in_ = on_host(in_);
  }

  void fill(auto const& env, std::array<double*, Arrays> const& begin) const {
    arrays of{{}, length_};
    for (std::size_t k = 0; k < std::size_t(Arrays); ++k) of.begin[k] = begin[k];
    pack(of);
    if (!to_others_.empty() || !from_others_.empty()) {
      Kokkos::deep_copy(space_, host_out_, out_);
      space_.fence();
      exchange(env, host_out_.data(), host_in_.data());
      Kokkos::deep_copy(space_, in_, host_in_);
    }
    unpack(of);
  }

  // Kernels of nvcc stand in public functions.
  void pack(arrays const& of) const {
    auto const from = from_, to_self = to_self_, from_self = from_self_;
    auto const out = out_;
    run(
        from.size(), KOKKOS_LAMBDA(int n) {
          for (int k = 0; k < of.length; ++k)
            out(std::size_t(n) * std::size_t(of.length) + std::size_t(k)) = of(from(n), k);
        });
    run(
        to_self.size(), KOKKOS_LAMBDA(int n) {
          for (int k = 0; k < of.length; ++k) of(to_self(n), k) = of(from_self(n), k);
        });
  }
  void unpack(arrays const& of) const {
    auto const to = to_;
    auto const in = in_;
    run(
        to.size(), KOKKOS_LAMBDA(int n) {
          for (int k = 0; k < of.length; ++k)
            of(to(n), k) = in(std::size_t(n) * std::size_t(of.length) + std::size_t(k));
        });
  }

private:
  /// A piece of a buffer that goes to a rank, or comes from it.
  struct message {
    int rank;
    std::size_t begin, count;
  };

  void exchange([[maybe_unused]] auto const& env, [[maybe_unused]] double const* from,
                [[maybe_unused]] double* to) const {
#if KEEL_WITH_MPI
    std::vector<MPI_Request> requests;
    for (message const& m : from_others_)
      MPI_Irecv(to + m.begin, int(m.count), MPI_DOUBLE, m.rank, 0, env.comm(), &requests.emplace_back());
    for (message const& m : to_others_)
      MPI_Isend(from + m.begin, int(m.count), MPI_DOUBLE, m.rank, 0, env.comm(), &requests.emplace_back());
    MPI_Waitall(int(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
#endif
  }
  template <class F>
  void run(std::size_t count, F const& f) const {
    if (count == 0) return;
    Kokkos::parallel_for("ghosts", light(Kokkos::RangePolicy<Space, Kokkos::IndexType<int>>(space_, 0, int(count))), f);
  }
  static numbers on_device(std::vector<int> const& list) {
    numbers const made("elements", list.size());
    Kokkos::deep_copy(made,
                      Kokkos::View<int const*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(list.data(), list.size()));
    return made;
  }
  static auto on_host(buffer const& b) {
    if constexpr (is_on_host) return b;
    else return Kokkos::View<double*, host_space>("messages", b.size());
  }

  Space space_;
  int length_;
  std::vector<message> to_others_, from_others_;
  numbers to_self_, from_self_, to_, from_;
  buffer out_, in_;
  std::conditional_t<is_on_host, buffer, Kokkos::View<double*, host_space>> host_out_, host_in_;
};

/// Seconds of a step on the slowest rank, medians, and how long keel takes beside it by hand: median, least and most.
struct steps_beside {
  double keel, by_hand, ratio, least, most;
};
/// Some turns of steps by keel and as many by hand. Collective.
steps_beside steps_in_turns(auto const& env, auto const& space, long steps, auto const& keel, auto const& by_hand) {
  constexpr int turns = 15;
  long const each = std::max(1L, steps / turns);
  auto const timed = [&](auto const& step) {
    keel::machine::barrier(env);
    double const all = microseconds(1, [&] {
      for (long n = 0; n < each; ++n) step();
      space.fence();
    });
    return keel::machine::max(env, all) / (1e6 * double(each));
  };
  std::vector<double> keels, others, ratios;
  for (int n = 0; n < turns; ++n) {
    keels.push_back(timed(keel)), others.push_back(timed(by_hand));
    ratios.push_back(keels.back() / others.back());
  }
  return {median(keels), median(others), median(ratios), std::ranges::min(ratios), std::ranges::max(ratios)};
}

/// What a program with `--by-hand` prints of them, and whether the bits are the same.
template <int Column = 18>
void print(steps_beside const& t, auto const& env, std::string_view device, bool same) {
  if (!env.is_master()) return;
  row<Column>("time per step", "%.6f ms on %s, device %s", 1e3 * t.keel,
              keel::policy::counted(env.size(), "rank").c_str(), std::string(device).c_str());
  row<Column>("by hand", "%.6f ms", 1e3 * t.by_hand);
  row<Column>("keel / by hand", "%.3f (%.3f to %.3f), bits %s", t.ratio, t.least, t.most,
              same ? "the same" : "DIFFERENT");
}

} // namespace bench
