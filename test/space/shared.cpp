// SPDX-License-Identifier: MIT
#include <keel/space/shared.hpp>

#include <keel/machine/alone.hpp>
#include <keel/machine/collectives.hpp>
#include <keel/space/peer_memory.hpp>

#include <support/test.hpp>
#include <laws/memory_space.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <fstream>

namespace {

namespace km = keel::machine;
namespace kd = keel::space::detail;
using ranks = km::environment::ranks;
using shared = keel::space::shared<ranks>;
using view = Kokkos::View<double*, shared>;
using keel::test::message_of;

/// Each rank of MPI is a node of its own, so that it keeps the laws without waiting for others.
struct each_for_itself : ranks {
#if KEEL_WITH_MPI
  static communicator world() { return borrow(MPI_COMM_SELF); }
#endif
};
using own = keel::space::shared<each_for_itself>;
using alone = keel::space::shared<km::alone>;

/// An element that several processes read and write at once.
template <class T>
class posted_element {
public:
  using value = std::remove_const_t<T>;
  explicit posted_element(T* at) : at_(const_cast<value*>(at)) {}
  posted_element(posted_element const&) = default;

  operator value() const { return whole().load(); }
  posted_element const& operator=(value const& wanted) const {
    whole().store(wanted);
    return *this;
  }
  posted_element const& operator=(posted_element const& other) const { return *this = static_cast<value>(other); }
  /// The sum, which no other process changes between the reading and the writing.
  value operator+=(value added) const {
    value before = whole().load();
    while (!whole().compare_exchange_weak(before, before + added)) {
    }
    return before + added;
  }

private:
  std::atomic_ref<value> whole() const { return std::atomic_ref<value>(*at_); }
  value* at_;
};

/// Memory of a node whose elements are reached by calls: what a program writes to carry a space of its own.
template <class Ranks>
struct posted_resource : keel::space::shared_resource<Ranks> {
  static constexpr char const* name = "posted";
  using keel::space::shared_resource<Ranks>::shared_resource;
  template <class T>
  using element = posted_element<T>;
};
template <class Ranks>
using posted_memory = keel::space::memory<posted_resource<Ranks>>;

using posted = posted_memory<ranks>;
template <class Data>
using posted_view = Kokkos::View<Data, Kokkos::LayoutRight, posted>;
using range = Kokkos::RangePolicy<posted::execution_space>;
static_assert(std::is_same_v<posted_view<double*>::reference_type, posted_element<double>>);

/// Whether all ranks were told the same.
bool is_same_everywhere(km::environment const& world, std::string const& text) {
  auto const all = km::gather_texts(world, text, 0);
  bool same = true;
  for (auto const& other : all) same = same && other == text;
  km::broadcast(world, same, 0);
  return same;
}

/// The process gets no more than 64 MiB of addresses as long as this lives.
class short_of_addresses {
public:
  short_of_addresses() {
    getrlimit(RLIMIT_AS, &before_);
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    auto limit = before_;
    limit.rlim_cur = pages * std::size_t(sysconf(_SC_PAGESIZE)) + (std::size_t{64} << 20);
    setrlimit(RLIMIT_AS, &limit);
  }
  short_of_addresses(short_of_addresses const&) = delete;
  ~short_of_addresses() { setrlimit(RLIMIT_AS, &before_); }

private:
  rlimit before_{};
};

} // namespace

TYPE_TO_STRING_AS("memory shared by one rank of MPI", own);
TYPE_TO_STRING_AS("memory shared by one rank alone", alone);
TEST_CASE_TEMPLATE_INVOKE(memory_space, own, alone);

TEST_CASE("space: a file is closed with its owner, also where its descriptor is 0") {
  int const kept = dup(0);
  close(0);
  {
    kd::shared_pages const pages(4096, 0);
    kd::open_file file;
    errno = EIO;
    CHECK(pages.create(file) == 0);
    CHECK(file.get() == 0);
  }
  CHECK(fcntl(0, F_GETFD) == -1);
  if (kept < 0) return;
  dup2(kept, 0);
  close(kept);
}

TEST_CASE("space: pages beyond the limit on file sizes are refused, and the process goes on") {
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit const short_files{4096, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &short_files);
  kd::shared_pages const pages(1 << 20, 0);
  kd::open_file file;
  int const code = pages.create(file);
  setrlimit(RLIMIT_FSIZE, &before);
  CHECK(code == EFBIG);
  sigset_t pending{};
  sigpending(&pending);
  CHECK(sigismember(&pending, SIGXFSZ) == 0);
}

TEST_CASE("space: why a file of another process is not opened is what the system says") {
  kd::file_place nowhere;
  errno = 0;
  CHECK(nowhere.open().get() < 0);
  CHECK(errno == ENOENT);
  kd::open_file const held(::open("/dev/null", O_RDWR | O_CLOEXEC));
  auto other = kd::file_place::of(held);
  other.number += 1; // the number of a file that another one has since
  CHECK(other.open().get() < 0);
  CHECK(errno == ENOENT);
  keel::space::peer_handle handle;
  std::memcpy(handle.bytes.data(), &nowhere, sizeof nowhere);
  handle.size = 4096;
  std::string why;
  CHECK(keel::space::peer_memory::of_host().map(handle, 0, why) == nullptr);
  CHECK(why == "No such file or directory");
}

TEST_CASE("space: of shared pages, what lies ahead is this process's, the rest a file's that is large enough") {
  auto const page = std::size_t(sysconf(_SC_PAGESIZE));
  constexpr std::size_t ahead = 64;
  auto const is_mapped = [](void* at) { return msync(at, 1, MS_ASYNC) == 0; };
  for (std::size_t const behind : {std::size_t{0}, std::size_t{1}, page - 1, page, page + 1, 2 * page}) {
    CAPTURE(behind);
    std::byte* first = nullptr;
    {
      kd::shared_pages pages(ahead + behind, ahead);
      kd::open_file file;
      REQUIRE(pages.reserve() == 0);
      REQUIRE(pages.create(file) == 0);
      struct stat about{};
      REQUIRE(fstat(file.get(), &about) == 0);
      CHECK(std::size_t(about.st_size) == (behind + page - 1) / page * page);
      REQUIRE(pages.map(file) == 0);
      auto* const given = static_cast<std::byte*>(pages.give());
      std::fill_n(given, ahead, std::byte{1});
      std::fill_n(given + ahead, behind, std::byte{2});
      std::vector<std::byte> found(behind);
      CHECK(pread(file.get(), found.data(), behind, 0) == ssize_t(behind));
      CHECK(std::ranges::all_of(found, [](std::byte b) { return b == std::byte{2}; }));
      CHECK(std::all_of(given, given + ahead, [](std::byte b) { return b == std::byte{1}; }));
      first = given + ahead - page;
      CHECK(is_mapped(first));
      pages.take_back(given);
    }
    for (std::size_t at = 0; at <= behind; at += page) CHECK_FALSE(is_mapped(first + at));
  }
  kd::shared_pages const small(ahead - 1, ahead);
  kd::open_file none;
  CHECK(small.create(none) == 0);
  CHECK(lseek(none.get(), 0, SEEK_END) == 0);
}

TEST_CASE("space: shared memory is mapped from a file as long as a view of it lives, of one rank too") {
  auto const mapped = [] {
    std::ifstream maps("/proc/self/maps");
    int n = 0;
    for (std::string line; std::getline(maps, line);) n += line.find("memfd:keel::space::shared") != std::string::npos;
    return n;
  };
  int const before = mapped();
  {
    Kokkos::View<double*, alone> const v("v", 1000);
    CHECK(mapped() == before + 1);
  }
  CHECK(mapped() == before);
}

TEST_CASE("space: what one rank writes into shared memory all ranks of the node read") {
  shared const space;
  auto const& node = space.resource();
  for (int const n : {1, 100, 511, 512, 513, 1000000}) {
    view const zero(Kokkos::view_alloc("zero", Kokkos::WithoutInitializing), n); // can be written at once
    if (node.rank() == 0) zero(n - 1) = 7;
    node.barrier();
    CHECK(zero(0) == (n == 1 ? 7 : 0));
    CHECK(zero(n - 1) == 7);
    view const table("table", n);
    CHECK(table.label() == "table"); // Kokkos' header is each rank's own
    CHECK(table.use_count() == 1);
    space.fence(); // until then Kokkos fills it with zeros
    if (node.rank() == n % node.size())
      for (int i = 0; i < n; ++i) table(i) = i;
    space.fence();
    CHECK(keel::laws::counts_up(table, std::size_t(n)));
    node.barrier();
    if (node.rank() < n) table(node.rank()) = -1.0 - node.rank();
    node.barrier();
    for (int r = 0; r < node.size() && r < n; ++r) CHECK(table(r) == -1.0 - r);
  }
}

TEST_CASE("space: a rank gives its shared view back when it likes, and the others keep theirs") {
  auto const node = shared().resource();
  std::optional<view> mine(std::in_place, "mine", 5000);
  view next;
  node.barrier();
  if (node.rank() == 0) (*mine)(4999) = 3.5;
  node.barrier();
  if (node.rank() == 0) mine.reset();
  next = view("next", 5000); // the first rank may get the addresses again
  next(0) = 1;
  node.barrier();
  if (node.rank() != 0) CHECK((*mine)(4999) == 3.5);
}

TEST_CASE("space: the ranks of an environment share memory, and a rank outside is refused") {
  km::environment const world;
  km::environment const some{world, km::first{(world.size() + 1) / 2}};
  keel::space::memory const space(keel::space::shared_resource{some});
  static_assert(std::is_same_v<decltype(space), shared const>);
  auto const said = message_of([&] { view const v(Kokkos::view_alloc("v", space), 10); });
  if (some.is_member()) {
    CHECK(said.empty());
    CHECK(space.resource().size() == some.node().size());
  } else {
    CHECK(said.find("this rank is not a member") != std::string::npos);
    CHECK(message_of([&] { space.resource().barrier(); }).find("Ask is_member()") != std::string::npos);
  }
}

TEST_CASE("space: where one rank has no room all ranks get the same error, and the next allocation works") {
  km::environment const world;
  int const last = world.size() - 1;
  std::optional<short_of_addresses> limit;
  if (world.rank() == last) limit.emplace();
  auto const said = message_of([] { view const v(Kokkos::view_alloc("large", Kokkos::WithoutInitializing), 1 << 27); });
  limit.reset();
  CHECK(said.find("shared memory space failed to allocate ") != std::string::npos);
  CHECK(said.find("(label=\"large\") (rank " + std::to_string(last)) != std::string::npos);
  CHECK(said.find("Cannot allocate memory") != std::string::npos);
  CHECK(is_same_everywhere(world, said));
  view const v("v", 10);
  CHECK(v.extent(0) == 10);
}

TEST_CASE("space: ranks that ask for different sizes are all told so") {
  km::environment const world;
  auto const n = world.rank() == 0 ? 100 : 200;
  auto const said = message_of([&] { view const v("uneven", n); });
  if (world.size() == 1) CHECK(said.empty());
  else CHECK(said.find("rank 1 of " + std::to_string(world.size()) + " on this node asks for ") != std::string::npos);
  view const v("v", 10);
  CHECK(v.extent(0) == 10);
}

TEST_CASE("space: all ranks add to the same elements at once, and no addition is lost") {
  posted const space;
  int const size = space.resource().size();
  posted_view<long*> const counts("counts", 7);
  CHECK(counts.use_count() == 1);
  space.fence(); // until then Kokkos fills it with zeros
  Kokkos::parallel_for("add", range(0, 7000), [=](int i) { counts(i % 7) += i; });
  Kokkos::fence();
  space.fence();
  long all = 0;
  for (int c = 0; c < 7; ++c) all += counts(c);
  CHECK(all == 6999L * 7000 / 2 * size);
  space.fence();
}

TEST_CASE("space: a rank writes its row of shared elements by a sub-view, and its neighbour reads it") {
  posted const space;
  int const me = space.resource().rank();
  int const size = space.resource().size();
  posted_view<double**> const table("table", size, 300);
  space.fence();
  auto const mine = Kokkos::subview(table, me, Kokkos::ALL);
  Kokkos::parallel_for("write", range(0, 300), [=](int i) { mine(i) = 1000 * me + i; });
  Kokkos::fence();
  space.fence();

  int const other = (me + 1) % size;
  auto const theirs = Kokkos::subview(table, other, std::make_pair(100, 200));
  double sum = 0;
  Kokkos::parallel_reduce("read", range(0, 100), [=](int i, double& s) { s += theirs(i); }, sum);
  CHECK(sum == 100 * (1000 * other + 100) + 99 * 100 / 2);
  space.fence();
}

TEST_CASE("space: shared elements are copied as a whole, by one kernel, and from one rank's row to the next") {
  posted const space;
  int const me = space.resource().rank();
  int const size = space.resource().size();
  posted_view<int**> const a("a", size, 40);
  posted_view<int**> const b("b", size, 40);
  space.fence();
  auto const row = Kokkos::subview(a, me, Kokkos::ALL);
  Kokkos::Experimental::local_deep_copy(row, 5 + me);
  space.fence();
  auto const from = Kokkos::subview(a, (me + 1) % size, Kokkos::ALL);
  auto const to = Kokkos::subview(b, me, Kokkos::ALL);
  Kokkos::Experimental::local_deep_copy(to, from);
  space.fence();

  auto const host = Kokkos::create_mirror(b);
  Kokkos::deep_copy(host, b);
  bool good = true;
  for (int r = 0; r < size; ++r)
    for (int i = 0; i < 40; ++i) good = good && host(r, i) == 5 + (r + 1) % size;
  CHECK(good);
  space.fence();
}

TEST_CASE("space: Kokkos' atomic views count over all ranks of a node") {
  shared const space;
  Kokkos::View<int*, shared> const plain("plain", 3);
  posted_view<int*> const called("called", 3);
  space.fence();
  Kokkos::View<int*, shared, Kokkos::MemoryTraits<Kokkos::Atomic>> const counts = plain;
  Kokkos::View<int*, Kokkos::LayoutRight, posted, Kokkos::MemoryTraits<Kokkos::Atomic>> const others = called;
  Kokkos::parallel_for("count", range(0, 9000), [=](int i) {
    counts(i % 3) += 1;
    others(i % 3) += 2;
  });
  Kokkos::fence();
  space.fence();
  for (int c = 0; c < 3; ++c) CHECK(plain(c) == 3000 * space.resource().size());
  for (int c = 0; c < 3; ++c) CHECK(called(c) == 6000 * space.resource().size());
  space.fence();
}
