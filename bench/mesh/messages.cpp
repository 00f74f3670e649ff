// SPDX-License-Identifier: MIT
// Short messages by an exchanger, beside MPI by hand with lists made before, in turns. On a ring of ranks each has ghosts
// of the next one.
#include "../medians.hpp"

#include <keel/keel.hpp>
#include <keel/machine/reductions.hpp>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include <mpi.h>

namespace {

namespace km = keel::machine;
namespace kr = keel::residency;

struct app : keel::defaults {};
struct cells : kr::mesh<"cells"> {};

/// What a code without keel has.
class by_hand {
public:
  by_hand(int rank, int ranks, std::vector<int> rim, int owned)
      : from_((rank + 1) % ranks), to_((rank + ranks - 1) % ranks), owned_(owned), rim_(std::move(rim)),
        out_(rim_.size()), in_(rim_.size()) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
  }
  ~by_hand() { MPI_Comm_free(&comm_); }

  void exchange(std::vector<double>& a) {
    MPI_Request both[2];
    MPI_Irecv(in_.data(), int(in_.size()), MPI_DOUBLE, from_, 0, comm_, &both[0]);
    for (std::size_t n = 0; n < rim_.size(); ++n) out_[n] = a[std::size_t(rim_[n])];
    MPI_Isend(out_.data(), int(out_.size()), MPI_DOUBLE, to_, 0, comm_, &both[1]);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    for (std::size_t n = 0; n < in_.size(); ++n) a[std::size_t(owned_) + n] = in_[n];
  }

private:
  int from_, to_, owned_;
  std::vector<int> rim_;
  std::vector<double> out_, in_;
  MPI_Comm comm_ = MPI_COMM_NULL;
};

} // namespace

/// messages [GHOSTS] [CALLS] [TURNS]
int main(int argc, char** argv) try {
  keel::runtime<app> run{argc, argv};
  auto const& env = run.environment();
  int const ghosts = argc > 1 ? std::atoi(argv[1]) : 16, calls = argc > 2 ? std::atoi(argv[2]) : 2000;
  int const turns = argc > 3 ? std::atoi(argv[3]) : 41, owned = 4 * ghosts;
  std::vector<std::int64_t> mine, halo;
  std::vector<int> rim;
  for (int n = 0; n < owned; ++n) mine.push_back(std::int64_t(env.rank()) * owned + n);
  for (int n = 0; n < ghosts; ++n) {
    rim.push_back(3 * n);
    halo.push_back(std::int64_t((env.rank() + 1) % env.size()) * owned + 3 * n);
  }
  kr::partition<cells> const c{env, mine, halo};
  kr::exchanger const x{run, c};
  std::vector<double> a(mine.size() + halo.size(), 1. + env.rank());
  auto const array = kr::array_on<cells>(a.data(), kr::extents{owned + ghosts});
  auto const plan = x.plan(array);
  by_hand hand{env.rank(), env.size(), rim, owned};
  auto const time = [&](auto const& call) {
    km::barrier(env);
    return km::max(env, bench::microseconds(calls, call));
  };
  std::vector<double> ratios, hands;
  for (int n = 0; n < turns; ++n) {
    hands.push_back(time([&] { hand.exchange(a); }));
    ratios.push_back(time([&] { plan.exchange(array); }) / hands.back());
  }
  if (env.is_master())
    std::printf("%d ghosts: by hand %.2f us, an exchanger / that %.3f\n", ghosts, bench::median(hands),
                bench::median(ratios));
} catch (std::exception const& e) {
  return keel::report(e);
}
