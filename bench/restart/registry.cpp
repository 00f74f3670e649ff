// SPDX-License-Identifier: MIT
// A registry that goes on from a checkpoint: heat on a ring. Prints a digest of the last state.
#include <keel/keel.hpp>
#include <keel/machine/reductions.hpp>

#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace ring_of_heat {

namespace kr = keel::residency;

struct app : keel::defaults {};
struct cells : kr::mesh<"cells"> {};
using variable = kr::registered_variable;

/// Elements of a ring that is dealt out to the ranks in pieces of 16.
struct ring {
  static constexpr std::int64_t size = 4000, piece = 16;
  std::vector<std::int64_t> owned, ghosts;
  ring(int rank, int ranks) {
    auto const is_mine = [&](std::int64_t id) { return id % size / piece % ranks == rank; };
    for (std::int64_t id = 0; id < size; ++id)
      if (is_mine(id)) owned.push_back(id);
      else if (is_mine(id + 1) || is_mine(id + size - 1)) ghosts.push_back(id);
  }
};

template <class Tag>
void spread(kr::registry<app>& f, variable heat, variable beside, int owned) {
  auto const use = f.use("spread", kr::on<Tag>{}, kr::reading{heat.past(1), beside.only(kr::region::owned)},
                         kr::writing{heat.only(kr::region::owned)});
  auto const from = use.template view<double const*>(heat.past(1));
  auto const next_to = use.template view<int const**>(beside);
  auto const to = use.template view<double*>(heat);
  Kokkos::parallel_for(
      "spread", Kokkos::RangePolicy(use.execution_space(), 0, owned),
      KOKKOS_LAMBDA(int i) { to(i) = 0.3 * from(next_to(i, 0)) + 0.45 * from(i) + 0.25 * from(next_to(i, 1)); });
}

} // namespace ring_of_heat

/// registry STEPS EVERY: so many steps, and a checkpoint after each `EVERY` of them, 0 for none.
int main(int argc, char** argv) try {
  using namespace ring_of_heat;
  keel::runtime<app> run{argc, argv};
  long const steps = argc > 1 ? std::atol(argv[1]) : 100, every = argc > 2 ? std::atol(argv[2]) : 0;
  auto const& env = run.environment();
  ring const r(env.rank(), env.size());
  kr::partition<cells> const c{env, r.owned, r.ghosts};
  kr::registry<app> f{run, c};
  auto const heat = f.add<double*, cells>("heat", kr::levels<2>{});
  auto const beside = f.add<int**, cells>("beside", kr::extents{2}, kr::without_checkpoint{});
  auto const made = f.add<std::int64_t*>("steps", kr::extents{1});
  int const owned = int(c.owned().end);

  if (!f.restart()) {
    auto const use = f.use("fill", kr::on_host{}, kr::writing{heat.only(kr::region::owned), made});
    for (int i = 0; i < owned; ++i) use.view<double*>(heat)(i) = 1 / (1. + double(c.ids()[std::size_t(i)] * 37 % 101));
    use.view<std::int64_t*>(made)(0) = 0;
  }
  {
    auto const use = f.use("connect", kr::on_host{}, kr::writing{beside.only(kr::region::owned)});
    for (int i = 0; i < owned; ++i)
      for (int k = 0; k < 2; ++k)
        use.view<int**>(beside)(i, k) =
            int(*c.local_of((c.ids()[std::size_t(i)] + ring::size + 2 * k - 1) % ring::size));
  }
  auto const count = [&](std::int64_t more) {
    auto const use = f.use("count", kr::on_host{}, kr::updating{made});
    return use.view<std::int64_t*>(made)(0) += more;
  };
  for (std::int64_t n = count(0); n < steps;) {
    f.cycle(heat);
    f.exchange({heat.past(1)});
    keel::with_device<app::devices>(run.device_name(), [&]<class Tag>(Tag) { spread<Tag>(f, heat, beside, owned); });
    n = count(1);
    if (every > 0 && n % every == 0) f.checkpoint("checkpoint");
  }
  std::uint64_t digest = 0;
  {
    auto const use = f.use("look", kr::on_host{}, kr::reading{heat.only(kr::region::owned)});
    for (int i = 0; i < owned; ++i)
      digest += std::bit_cast<std::uint64_t>(use.view<double const*>(heat)(i)) *
                (2 * std::uint64_t(c.ids()[std::size_t(i)]) + 1);
  }
  digest = keel::machine::sum(env, digest);
  if (env.is_master()) std::printf("digest            %016llx\n", static_cast<unsigned long long>(digest));
} catch (std::exception const& e) {
  return keel::report(e);
}
