// SPDX-License-Identifier: MIT
#include <keel/machine/sparse.hpp>

#include <support/test.hpp>
#include <laws/sparse_exchange.hpp>

namespace km = keel::machine;

namespace {

/// A model that has no sparse exchange of its own.
template <class R>
struct counting_ranks : R {
  using exchange_sparse = void;
};

using parcels = std::vector<km::parcel<int>>;

} // namespace

static_assert(km::CommunicatingRanks<counting_ranks<km::mpi>>);

TEST_CASE_TEMPLATE("machine: ranks that expect nothing get what is sent to them", R, km::mpi, km::alone,
                   counting_ranks<km::mpi>, counting_ranks<km::alone>) {
  keel::laws::sparse_exchange_is_sound<R>();
}

TEST_CASE("machine: a sparse exchange does not take other messages") {
  km::environment const world;
  km::environment const own{world.comm()};
  km::messages other{own};
  km::sparse_messages talk{own};
  int const next = (own.rank() + 1) % own.size(), before = (own.rank() + own.size() - 1) % own.size();
  int const out = own.rank();
  int in = -1;
  other.send(&out, sizeof out, next, 0);
  auto const got = talk.exchange(parcels{{next, {out + 100}}});
  other.receive(&in, sizeof in, before, 0);
  other.wait();
  CHECK(in == before);
  CHECK(got.size() == 1);
  CHECK(got.at(0).items == std::vector{before + 100});
}

TEST_CASE("machine: a sparse exchange of a non-member does nothing") {
  km::environment const world;
  km::environment const one{world, km::first{1}};
  km::sparse_messages talk{one};
  CHECK(talk.exchange(parcels{{0, {1}}}).size() == (one.is_member() ? 1 : 0));
}

TEST_CASE("machine: parcels for no rank, or not in order, are refused") {
  km::environment const world;
  km::sparse_messages talk{world};
  int const n = world.size();
  CHECK(keel::test::message_of([&] { (void)talk.exchange(parcels{{n, {1}}}); }) ==
        "keel::machine::sparse_messages: rank " + std::to_string(n) + " cannot get a parcel (the environment has " +
            keel::policy::counted(n, "rank") +
            ", and each gets one parcel, in ascending order). Join the parcels of a rank, and sort them.");
  CHECK_THROWS_AS((void)talk.exchange(parcels{{0, {1}}, {0, {2}}}), keel::error);
  // Parcels of one rank that are refused are an error of all, and the next round is sound.
  int const me = world.rank(), wrong = n - 1;
  CHECK_THROWS_AS((void)talk.exchange(me == wrong ? parcels{{n, {1}}} : parcels{{0, {me}}}), keel::error);
  auto const got = talk.exchange(parcels{{0, {me}}});
  CHECK(got.size() == (me == 0 ? std::size_t(n) : 0));
}
