// SPDX-License-Identifier: MIT
#include <keel/machine/pending.hpp>

#include <keel/machine/reductions.hpp>

#include <support/test.hpp>

#include <bit>
#include <compare>

namespace km = keel::machine;

namespace {

/// A maximum and where it is, as a user's own type.
struct peak {
  double height;
  int rank;
  friend bool operator==(peak const&, peak const&) = default;
};

struct matrix {
  std::int64_t a, b, c, d;
  friend bool operator==(matrix const&, matrix const&) = default;
};
/// Associative, and not commutative.
constexpr auto times = [](matrix const& x, matrix const& y) {
  return matrix{x.a * y.a + x.b * y.c, x.a * y.b + x.b * y.d, x.c * y.a + x.d * y.c, x.c * y.b + x.d * y.d};
};

/// Memory of a device that the host reaches by copies alone; `data()` may be handed on and not read.
template <class T>
struct far_memory {
  std::vector<T>* elements;
  mutable int copies = 0;
  [[nodiscard]] T* data() const { return nullptr; }
  [[nodiscard]] std::size_t size() const { return elements->size(); }
  void copy_to_host(T* host) const { ++copies, std::copy(elements->begin(), elements->end(), host); }
  void copy_from_host(T const* host) const { ++copies, std::copy(host, host + elements->size(), elements->begin()); }
};
static_assert(km::Staged<far_memory<double>>);

/// Ordered by the key alone.
struct keyed {
  int key, rank;
  friend std::strong_ordering operator<=>(keyed const& x, keyed const& y) { return x.key <=> y.key; }
};

/// A number that counts how often one was made of a double.
struct rounded {
  static inline int times = 0;
  double value;
  explicit rounded(double x) : value(x) { ++times; }
  explicit operator double() const { return value; }
};

/// The second of three ranks, by a model that does not reduce: rank `r` brings `r + 1` times what this one has.
struct second_of_three : km::alone {
  static int rank(communicator const&) noexcept { return 1; }
  static int size(communicator const&) noexcept { return 3; }
  static void all_gather(communicator const&, void const* from, void* to, std::size_t bytes) noexcept {
    for (std::size_t i = 0; i < bytes / sizeof(int); ++i)
      for (std::size_t r = 0; r != 3; ++r)
        static_cast<int*>(to)[r * bytes / sizeof(int) + i] = int(r + 1) * static_cast<int const*>(from)[i];
  }
};

#if KEEL_WITH_MPI
static_assert(km::mpi::is_own_operation<int, km::maximum> && km::mpi::is_own_operation<double, std::plus<>>);
static_assert(!km::mpi::is_own_operation<double, km::maximum> && !km::mpi::is_own_operation<float, km::minimum>);
static_assert(!km::mpi::is_own_operation<bool, km::maximum> && !km::mpi::is_own_operation<int, std::multiplies<>>);
#endif

constexpr auto larger_peak = [](peak const& x, peak const& y) { return y.height > x.height ? y : x; };

} // namespace

TEST_CASE_TEMPLATE("machine: sums and extremes of values, arrays and spans are there on every rank", R, km::mpi,
                   km::alone) {
  km::basic_environment<R> const world;
  int const n = world.size(), r = world.rank();
  CHECK(km::sum(world, r + 1) == n * (n + 1) / 2);
  CHECK(km::sum(world, 0.5) == 0.5 * n);
  CHECK(km::min(world, -r) == 1 - n);
  CHECK(km::max(world, std::uint64_t{1} << 40 | unsigned(r)) == (std::uint64_t{1} << 40 | unsigned(n - 1)));
  CHECK(km::max(world, static_cast<signed char>(-1 - r)) == -1);
  CHECK(km::sum(world, std::array{1.0, 1.0 * r}) == std::array{1.0 * n, 0.5 * n * (n - 1)});
  std::vector<long> many(1000, r);
  km::sum(world, std::span{many});
  CHECK(many == std::vector<long>(1000, n * (n - 1) / 2));
  km::max(world, many);
  CHECK(many.front() == n * (n - 1) / 2);
  km::sum(world, std::span<long>{});
  CHECK(km::any_of(world, r == n - 1));
  CHECK_FALSE(km::any_of(world, false));
}

TEST_CASE_TEMPLATE("machine: a user's struct and operation are reduced in the order of ranks", R, km::mpi, km::alone) {
  km::basic_environment<R> const world;
  int const n = world.size(), r = world.rank();
  CHECK(km::all_reduce(world, peak{std::abs(r - n / 2.0), r}, larger_peak) == peak{n / 2.0, 0});
  matrix wanted{1, 0, 0, 1}, up_to_here{};
  for (int i = 0; i < n; ++i) {
    wanted = times(wanted, matrix{i + 1, 1, 1, 0});
    if (i == r) up_to_here = wanted;
  }
  CHECK(km::all_reduce(world, matrix{r + 1, 1, 1, 0}, times) == wanted);
  CHECK(km::scan(world, matrix{r + 1, 1, 1, 0}, times) == up_to_here);
  CHECK(km::all_reduce(world, r + 1, std::multiplies<>{}) == int(std::tgamma(n + 1) + 0.5));
  CHECK(km::all_reduce(world, true, std::logical_and<>{}));
  CHECK(km::scan(world, 1) == r + 1);
  CHECK(km::scan(world, std::array{1, r}, km::maximum{}) == std::array{1, r});
  std::vector<double> own(3, 2.0);
  km::scan(world, std::span{own});
  CHECK(own == std::vector<double>(3, 2.0 * (r + 1)));
}

TEST_CASE_TEMPLATE("machine: of equals the least and the greatest are those of the first rank", R, km::mpi, km::alone) {
  km::basic_environment<R> const world;
  CHECK(km::min(world, keyed{5, world.rank()}).rank == 0);
  CHECK(km::max(world, keyed{5, world.rank()}).rank == 0);
  CHECK(km::max(world, world.rank() == 0));
}

TEST_CASE_TEMPLATE("machine: a NaN of any rank is the least and the greatest", T, float, double, long double) {
  static_assert(km::minimum{}(2, 1) == 1 && km::maximum{}(2, 1) == 2);
  km::environment const world;
  int const n = world.size(), r = world.rank();
  for (int owner = 0; owner < n; ++owner) {
    T const mine = r == owner ? std::numeric_limits<T>::quiet_NaN() : T(1 + r);
    CHECK(std::isnan(km::min(world, mine)));
    CHECK(std::isnan(km::max(world, mine)));
    CHECK(std::isnan(km::pending<km::mpi, T, km::minimum>(world, mine).wait()));
    auto const both = km::max(world, std::array{mine, T(r)});
    CHECK(std::isnan(both[0]));
    CHECK(both[1] == T(n - 1));
    std::vector<T> many(100, T(r));
    many[50] = mine;
    km::min(world, far_memory<T>{&many});
    CHECK(std::isnan(many[50]));
    CHECK(many[51] == T(0));
    CHECK(std::isnan(km::scan(world, mine, km::maximum{})) == (r >= owner));
  }
}

TEST_CASE_TEMPLATE("machine: sums of integers and of bool have 64 bits, and what they do not fit is unchanged", R,
                   km::mpi, km::alone) {
  km::basic_environment<R> const world;
  std::int64_t const n = world.size(), r = world.rank();
  CHECK(km::sum(world, true) == n);
  CHECK(km::sum(world, true, km::ordered) == n);
  CHECK(km::sum(world, std::int8_t{100}) == 100 * n);
  CHECK(km::sum(world, 2000000000) == 2000000000 * n);
  CHECK(km::sum(world, 4000000000U) == std::uint64_t{4000000000U} * std::uint64_t(n));
  static_assert(std::is_same_v<decltype(km::sum(world, 'a')), std::int64_t>);
  static_assert(std::is_same_v<decltype(km::sum(world, 1LL)), long long>);
  static_assert(std::is_same_v<decltype(km::max(world, 'a')), char>);
  CHECK(km::sum(world, std::array<bool, 2>{true, r == 0}) == std::array{n, std::int64_t{1}});
  CHECK(km::sum(world, std::array<std::uint8_t, 1>{200}, km::ordered) == std::array{std::uint64_t(200 * n)});
  CHECK(km::sum(world, std::vector<std::int8_t>(200, 1), km::ordered) == 200 * n);
  CHECK(km::sum(world, std::vector<bool>(300, true), km::ordered) == 300 * n);
  CHECK(km::scan(world, std::uint8_t{200}) == std::uint64_t(200 * (r + 1)));
  CHECK(km::pending<R, std::array<bool, 2>, std::plus<>>(world, {true, true}).wait() == std::array{n, n});
  std::vector<std::int8_t> few(3, 10), many(3, 100);
  km::sum(world, few);
  CHECK(few == std::vector<std::int8_t>(3, std::int8_t(10 * n)));
  if (n == 1) return;
  CHECK_THROWS_WITH_AS(km::sum(world, many), doctest::Contains("a sum of integers is "), keel::error);
  CHECK(many == std::vector<std::int8_t>(3, 100));
}

TEST_CASE("machine: where a model does not reduce, each rank folds what all bring") {
  km::basic_environment<second_of_three> const world;
  CHECK(km::sum(world, std::array{1, 10}) == std::array{std::int64_t{6}, std::int64_t{60}});
  CHECK(km::max(world, 2) == 6);
  CHECK(km::scan(world, std::array{1, 10}) == std::array{std::int64_t{3}, std::int64_t{30}});
}

TEST_CASE("machine: an ordered sum has the same bits on any number of ranks") {
  km::environment const world;
  std::vector<double> all(1001);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = std::sin(double(i * i)) * std::pow(10, double(i % 30));
  km::exact_sum exact;
  for (double x : all) exact += x;
  for (int ranks = 1; ranks <= world.size(); ++ranks) {
    km::environment const some{world, km::first{ranks}};
    if (!some.is_member()) continue;
    std::vector<double> mine;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (int(i * 7 % 5) % ranks == some.rank()) mine.push_back(all[i]);
    CHECK(std::bit_cast<std::uint64_t>(km::sum(some, mine, km::ordered)) ==
          std::bit_cast<std::uint64_t>(exact.value()));
    km::exact_sum own;
    for (double x : mine) own += x;
    CHECK(km::sum(some, own, km::ordered) == exact.value());
  }
  int const n = world.size(), r = world.rank();
  double const huge = r % 2 == 0 ? 1e30 : -1e30, kept = n % 2 == 0 ? 0 : 1e30;
  CHECK(km::sum(world, std::array{huge, 0.5}, km::ordered) == std::array{kept, 0.5 * n});
  std::array const halves{rounded{0.5}, rounded{1}};
  rounded::times = 0;
  CHECK(km::sum(world, halves, km::ordered)[1].value == n);
  CHECK(rounded::times == 2);
  CHECK(km::sum(world, huge, km::ordered) == kept);
  CHECK(km::sum(world, r, km::ordered) == n * (n - 1) / 2);
  CHECK(km::sum(world, std::vector<float>(3, 0.25f), km::ordered) == 0.75f * float(n));
  CHECK(km::sum(world, std::vector<int>(2, 1), km::ordered) == 2 * n);
}

TEST_CASE_TEMPLATE("machine: a reduction that was begun gives its result when it is waited for", R, km::mpi,
                   km::alone) {
  km::basic_environment<R> const world;
  int const n = world.size(), r = world.rank();
  km::pending<R, double, std::plus<>> total(world, 1.5);
  km::pending<R, peak, std::remove_const_t<decltype(larger_peak)>> highest(world, {1.0 * r, r});
  km::pending<R, std::array<int, 2>, km::minimum> lowest(world, {r, -r});
  (void)km::pending<R, int, std::plus<>>(world, 1); // nobody waits
  CHECK(lowest.wait() == std::array{0, 1 - n});
  CHECK(highest.wait() == peak{n - 1.0, n - 1});
  CHECK(total.wait() == 1.5 * n);
}

TEST_CASE("machine: elements of another memory are reduced through the host where MPI does not reach them") {
  km::environment const world;
  std::vector<double> elements(5, 1.0 + world.rank());
  far_memory<double> const far{&elements};
  if (!km::reaches_device_memory<km::mpi>()) {
    km::max(world, far);
    CHECK(far.copies == 2);
    CHECK(elements == std::vector<double>(5, world.size()));
  }
  std::vector<peak> peaks(2, peak{1.0 * world.rank(), world.rank()});
  far_memory<peak> const there{&peaks};
  km::all_reduce(world, there, larger_peak); // no operation of MPI's, so always through the host
  CHECK(there.copies == 2);
  CHECK(peaks == std::vector<peak>(2, peak{world.size() - 1.0, world.size() - 1}));
}

TEST_CASE("machine: a rank outside an environment keeps what it has") {
  km::environment const world;
  km::environment const one{world, km::first{1}};
  if (one.is_member()) return;
  std::vector<int> own{3, 4};
  km::sum(one, own);
  CHECK(own == std::vector<int>{3, 4});
  CHECK(km::sum(one, 7) == 7);
  CHECK(km::pending<km::mpi, int, std::plus<>>(one, 7).wait() == 7);
  CHECK(km::any_of(one, true));
}
