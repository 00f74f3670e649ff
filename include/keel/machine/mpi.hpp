// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Ranks carried by MPI. In a build without MPI the name stands for `alone`.

#include <keel/machine/alone.hpp>
#include <keel/policy/macros.hpp>

#if KEEL_WITH_MPI
#include <keel/impl/machine/launcher.hpp>
#include <keel/impl/machine/mpi_collectives.hpp>
#include <keel/impl/machine/mpi_neighbours.hpp>
#include <keel/impl/machine/mpi_reductions.hpp>
#include <keel/impl/machine/mpi_requests.hpp>
#include <keel/machine/host.hpp>

#include <cstdint>
#endif

namespace keel::machine {

#if KEEL_WITH_MPI

/// The processes of an MPI job.
///
/// Every failure of MPI is a `keel::error` with MPI's code, the class, the call,
/// the rank and the host. Communicators made here return codes from birth; on one of
/// the application's (`MPI_COMM_WORLD` too) its error handler is set aside for the length
/// of a collective call and back after it. Messages do not do so: on a borrowed
/// communicator they fail as its handler says.
struct mpi : detail::mpi_collectives, detail::mpi_reductions {
  using handle = MPI_Comm;
  using communicator = detail::mpi_communicator;
  using requests = detail::mpi_requests;
  using neighbours = detail::mpi_neighbours;

  static handle null() noexcept { return MPI_COMM_NULL; }

  /// Throws where MPI has already ended: it starts once a process; and where the launcher's count of processes and
  /// MPI's differ, because every one would believe to be the only one.
  static bool start(int* argc, char*** argv, thread_level wanted) {
    int begun = 0;
    MPI_Initialized(&begun);
    if (begun != 0) {
      if (!is_running()) throw error("machine::session", "MPI has ended", "it starts once a process");
      if (auto const why = detail::why_alone()) throw *why;
      return false;
    }
    constexpr int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};
    int obtained = 0;
    detail::require(MPI_Init_thread(argc, argv, levels[int(wanted)], &obtained), "MPI_Init_thread",
                    null());
    if (auto const why = detail::why_alone()) {
      stop();
      throw *why;
    }
    return true;
  }
  static void stop() {
    if (is_running()) MPI_Finalize();
  }
  static bool is_running() noexcept { return detail::mpi_is_running(); }
  static thread_level level() {
    int obtained = MPI_THREAD_SINGLE;
    detail::require(MPI_Query_thread(&obtained), "MPI_Query_thread", null());
    return obtained == MPI_THREAD_MULTIPLE     ? thread_level::multiple
           : obtained == MPI_THREAD_SERIALIZED ? thread_level::serialized
           : obtained == MPI_THREAD_FUNNELED   ? thread_level::funneled
                                               : thread_level::single;
  }

  static communicator world() {
    if (!is_running())
      throw error("machine", "MPI is not running", "it has not started, or has ended",
                  "Make a keel::runtime or a keel::machine::session first");
    return communicator::borrow(MPI_COMM_WORLD);
  }
  static communicator borrow(handle h) noexcept { return communicator::borrow(h); }

  static communicator duplicate(communicator const& c) {
    auto const guard = c.guarded();
    int is_inter = 0;
    detail::require(MPI_Comm_test_inter(c.get(), &is_inter), "MPI_Comm_test_inter", c.get());
    if (is_inter != 0)
      throw error("machine::environment", "the parent is an intercommunicator", "its ranks are of two groups",
                  "Merge it with MPI_Intercomm_merge first");
    MPI_Comm made = null();
    detail::require(MPI_Comm_dup(c.get(), &made), "MPI_Comm_dup", c.get());
    return communicator::adopt(made);
  }
  static communicator subset(communicator const& c, strided const& s) {
    int range[][3] = {{s.begin, s.rank_in_parent(s.size - 1), s.stride}};
    return of_group(c, "MPI_Group_range_incl",
                    [&](MPI_Group all, MPI_Group* some) { return MPI_Group_range_incl(all, 1, range, some); });
  }
  static communicator subset(communicator const& c, chosen const& s) {
    return of_group(c, "MPI_Group_incl", [&](MPI_Group all, MPI_Group* some) {
      return MPI_Group_incl(all, s.count(), s.ranks().data(), some);
    });
  }
  static communicator split(communicator const& c, std::optional<int> color, int key) {
    auto const guard = c.guarded();
    MPI_Comm made = null();
    detail::require(MPI_Comm_split(c.get(), color.value_or(MPI_UNDEFINED), key, &made), "MPI_Comm_split", c.get());
    return communicator::adopt(made);
  }
  /// The ranks of `c` with the same number, in the order of `c`. Collective. One split, because MPI's
  /// colors have 31 bits; a second where two numbers meet in those.
  static communicator by_identity(communicator const& c, std::uint64_t identity) {
    constexpr std::uint64_t color_bits = 0x7fffffff;
    auto made = split(c, int(identity & color_bits), 0);
    if (!all_equal(made, identity)) made = split(made, int(identity >> 31 & color_bits), 0);
    return made;
  }
  static communicator by_node(communicator const& c) { return by_identity(c, node_identity()); }

  /// The others split off too, and free at once: so each knows how many lead, without a further call.
  static std::pair<communicator, int> lead_nodes(communicator const& c, communicator const& node) {
    bool const leads = rank(node) == 0;
    auto made = split(c, leads ? 0 : 1, 0);
    int const leaders = leads ? size(made) : size(c) - size(made);
    return {leads ? std::move(made) : communicator{}, leaders};
  }

  static int rank(communicator const& c) {
    int rank = -1;
    detail::require(MPI_Comm_rank(c.get(), &rank), "MPI_Comm_rank", c.get());
    return rank;
  }
  static int size(communicator const& c) {
    int size = 0;
    detail::require(MPI_Comm_size(c.get(), &size), "MPI_Comm_size", c.get());
    return size;
  }

private:
  /// Collective over the ranks of the group alone.
  template <class Include>
  static communicator of_group(communicator const& c, char const* call, Include const& include) {
    auto const guard = c.guarded();
    detail::mpi_group all;
    detail::mpi_group some;
    MPI_Comm made = null();
    detail::require(MPI_Comm_group(c.get(), all.out()), "MPI_Comm_group", c.get());
    detail::require(include(all.get(), some.out()), call, c.get());
    detail::require(MPI_Comm_create_group(c.get(), some.get(), 0, &made), "MPI_Comm_create_group", c.get());
    return communicator::adopt(made);
  }
};

static_assert(CommunicatingRanks<mpi>);

#else

using mpi = alone;

#endif

} // namespace keel::machine
