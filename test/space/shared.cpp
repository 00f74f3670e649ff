// SPDX-License-Identifier: MIT
#include <keel/space/shared.hpp>

#include <keel/machine/alone.hpp>
#include <keel/machine/collectives.hpp>
#include <keel/space/peer_memory.hpp>

#include <doctest/doctest.h>
#include <laws/memory_space.hpp>
#include <support/message_of.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

namespace {

namespace km = keel::machine;
using ranks = km::environment::ranks;
using shared = keel::space::shared<ranks>;
using view = Kokkos::View<double*, shared>;
using keel::test::message_of;

#if KEEL_WITH_MPI
/// Each rank of MPI is a node of its own, so that it keeps the laws without waiting for others.
struct each_for_itself : ranks {
  static communicator world() { return borrow(MPI_COMM_SELF); }
};
using own = keel::space::shared<each_for_itself>;
#endif
using alone = keel::space::shared<km::alone>;

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

#if KEEL_WITH_MPI
TYPE_TO_STRING_AS("memory shared by one rank of MPI", own);
TEST_CASE_TEMPLATE_INVOKE(memory_space, own);
#endif
TYPE_TO_STRING_AS("memory shared by one rank alone", alone);
TEST_CASE_TEMPLATE_INVOKE(memory_space, alone);

TEST_CASE("space: a file is closed with its owner, also where its descriptor is 0") {
  int const kept = dup(0);
  close(0);
  {
    keel::space::detail::shared_pages const pages(4096, 0);
    keel::space::detail::open_file file;
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
  keel::space::detail::shared_pages const pages(1 << 20, 0);
  keel::space::detail::open_file file;
  int const code = pages.create(file);
  setrlimit(RLIMIT_FSIZE, &before);
  CHECK(code == EFBIG);
  sigset_t pending{};
  sigpending(&pending);
  CHECK(sigismember(&pending, SIGXFSZ) == 0);
}

TEST_CASE("space: why a file of another process is not opened is what the system says") {
  keel::space::detail::file_place nowhere;
  errno = 0;
  CHECK(nowhere.open().get() < 0);
  CHECK(errno == ENOENT);
  int const own = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  auto other = keel::space::detail::file_place::of(keel::space::detail::open_file(own));
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
      keel::space::detail::shared_pages pages(ahead + behind, ahead);
      keel::space::detail::open_file file;
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
  keel::space::detail::shared_pages const small(ahead - 1, ahead);
  keel::space::detail::open_file none;
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

TEST_CASE("space: shared memory is zero where a view is made without initialising, and can be written at once") {
  Kokkos::View<int**, Kokkos::LayoutRight, shared> const a(Kokkos::view_alloc("a", Kokkos::WithoutInitializing), 10,
                                                           3000);
  auto const node = shared().resource();
  a(9, node.rank()) = 7 + node.rank();
  node.barrier();
  Kokkos::View<int**, Kokkos::LayoutRight, Kokkos::HostSpace> const host("host", 10, 3000);
  Kokkos::deep_copy(host, a);
  for (int r = 0; r < node.size(); ++r) CHECK(host(9, r) == 7 + r);
  CHECK(host(0, 0) == 0);
  CHECK(host(9, 2999) == 0);
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
