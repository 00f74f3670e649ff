// SPDX-License-Identifier: MIT
/// @file
/// What keel's environments cost over the MPI calls they stand for. Both in turns, in one run; the median of each,
/// on the slowest rank, and the median of the quotients of neighbouring turns.
#include "../medians.hpp"

#include <keel/machine.hpp>

#include <cstdio>
#include <vector>

namespace km = keel::machine;

namespace {

/// Microseconds of one call, `calls` of them together, on the slowest rank.
template <class F>
double measured(int calls, F const& f) {
  MPI_Barrier(MPI_COMM_WORLD);
  double mine = bench::microseconds(calls, f);
  double slowest = 0;
  MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return slowest;
}

template <class Raw, class Keel>
void compare(char const* what, int calls, Raw const& raw, Keel const& keel) {
  auto const [of_raw, of_keel, quotient] =
      bench::in_turns(51, [&] { return measured(calls, raw); }, [&] { return measured(calls, keel); });
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) std::printf("%-28s %10.3f %10.3f %8.3f\n", what, of_raw, of_keel, quotient);
}

MPI_Comm raw_subset(MPI_Comm parent, int size) {
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group some = MPI_GROUP_NULL;
  MPI_Comm made = MPI_COMM_NULL;
  int range[][3] = {{0, size - 1, 1}};
  MPI_Comm_group(parent, &all);
  MPI_Group_range_incl(all, 1, range, &some);
  MPI_Comm_create_group(parent, some, 0, &made);
  MPI_Group_free(&some);
  MPI_Group_free(&all);
  return made;
}

} // namespace

int main(int argc, char** argv) {
  km::session<km::mpi> const session{argc, argv};
  km::environment const world;
  km::environment const own{world.comm()};
  MPI_Comm const comm = own.comm();
  int const n = own.size();
  int const rank = own.rank();
  int const right = (rank + 1) % n;
  int const left = (rank + n - 1) % n;
  int const half = n / 2;
  if (world.is_master())
    std::printf("%d ranks                    %10s %10s %8s\n", n, "raw, us", "keel, us", "keel/raw");

  compare(
      "duplicate", 20,
      [&] {
        MPI_Comm c;
        MPI_Comm_dup(comm, &c);
        MPI_Comm_free(&c);
      },
      [&] { km::environment const c{comm}; });
  compare(
      "subset: all", 20,
      [&] {
        MPI_Comm c = raw_subset(comm, n);
        MPI_Comm_free(&c);
      },
      [&] { km::environment const c{own, km::first{n}}; });
  compare(
      "subset: first half", 20,
      [&] {
        if (rank < half) {
          MPI_Comm c = raw_subset(comm, half);
          MPI_Comm_free(&c);
        }
      },
      [&] { km::environment const c{own, km::first{half}}; });
  compare(
      "split by parity", 20,
      [&] {
        MPI_Comm c;
        MPI_Comm_split(comm, rank % 2, 0, &c);
        MPI_Comm_free(&c);
      },
      [&] { auto const c = own.split(rank % 2); });
  compare("barrier", 200, [&] { MPI_Barrier(comm); }, [&] { km::barrier(own); });
  int value = 1;
  compare(
      "broadcast of 4 B", 200, [&] { MPI_Bcast(&value, 4, MPI_BYTE, 0, comm); }, [&] { km::broadcast(own, value, 0); });
  auto all = std::vector<int>(std::size_t(n));
  compare(
      "all_gather of 4 B", 200, [&] { MPI_Allgather(&value, 4, MPI_BYTE, all.data(), 4, MPI_BYTE, comm); },
      [&] { all = km::all_gather(own, value); });
  km::messages messages{own};
  for (std::size_t const bytes : {std::size_t{8}, std::size_t{64} << 10}) {
    std::vector<char> in(2 * bytes);
    std::vector<char> const out(2 * bytes);
    auto const exchange = [&](auto const& receive, auto const& send) {
      receive(in.data(), left, 1), receive(in.data() + bytes, right, 2);
      send(out.data(), right, 1), send(out.data() + bytes, left, 2);
    };
    compare(
        bytes == 8 ? "messages round the ring, 8 B" : "messages, 64 KiB", 100,
        [&] {
          MPI_Request r[4];
          int i = 0;
          exchange([&](char* p, int from, int tag) { MPI_Irecv(p, int(bytes), MPI_BYTE, from, tag, comm, &r[i++]); },
                   [&](char const* p, int to, int tag) { MPI_Isend(p, int(bytes), MPI_BYTE, to, tag, comm, &r[i++]); });
          MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
        },
        [&] {
          exchange([&](char* p, int from, int tag) { messages.receive(p, bytes, from, tag); },
                   [&](char const* p, int to, int tag) { messages.send(p, bytes, to, tag); });
          messages.wait();
        });
  }
}
