// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What holds for every memory space. Instantiate with the space, Kokkos running:
/// `TEST_CASE_TEMPLATE_INVOKE(memory_space, my_space);` Installed as <keel/laws/memory_space.hpp>; stands on doctest
/// and on Kokkos' containers.

#include <keel/space/kokkos.hpp>

#include <Kokkos_UnorderedMap.hpp>
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace keel::laws {

/// Fills a view with 0, 1, 2, … where it lies.
template <class View>
void count_up(View const& view) {
  using execution = typename View::execution_space;
  Kokkos::parallel_for(
      "count up", Kokkos::RangePolicy<execution>(0, view.extent(0)),
      KOKKOS_LAMBDA(int i) { view(i) = static_cast<typename View::value_type>(i); });
  Kokkos::fence();
}

/// Whether the elements [0, n) of the view are 0, 1, 2, … seen from the host.
template <class View>
bool counts_up(View const& view, std::size_t n) {
  auto const host = Kokkos::create_mirror_view(view);
  Kokkos::deep_copy(host, view);
  bool good = host.extent(0) >= n;
  for (std::size_t i = 0; good && i < n; ++i) good = host(i) == static_cast<typename View::value_type>(i);
  return good;
}

/// Whether the space is on this machine; one that cannot be asked is.
template <class Space>
bool is_here() {
  if constexpr (requires { Space::resource_type::is_available(); }) return Space::resource_type::is_available();
  else return true;
}

/// Counts how often it lives, on the host.
struct lives {
  static inline int now = 0;
  KOKKOS_FUNCTION lives() { add(1); }
  KOKKOS_FUNCTION ~lives() { add(-1); }

private:
  KOKKOS_FUNCTION static void add([[maybe_unused]] int n) {
#if !defined(__CUDA_ARCH__) && !defined(__HIP_DEVICE_COMPILE__)
    now += n;
#endif
  }
};

/// Fills, grows and searches a hash map in kernels.
template <class Map, class Execution>
void use_hash_map() {
  Map map(500);
  Kokkos::parallel_for(
      "insert", Kokkos::RangePolicy<Execution>(0, 300), KOKKOS_LAMBDA(int i) {
        map.insert(7 * i, i);
        map.insert(7 * i, -1); // the first stays
      });
  Kokkos::fence();
  CHECK(map.size() == 300);
  CHECK_FALSE(map.failed_insert());
  map.rehash(2000);
  CHECK(map.capacity() >= 2000);
  long sum = 0;
  Kokkos::parallel_reduce(
      "find", Kokkos::RangePolicy<Execution>(0, 2100),
      KOKKOS_LAMBDA(int key, long& s) {
        auto const at = map.find(key);
        if (map.valid_at(at)) s += map.value_at(at);
      },
      sum);
  CHECK(sum == 300 * 299 / 2);
}

/// An allocation, or its end, as Kokkos' tools are told of it.
struct tool_event {
  std::string space;
  void const* pointer = nullptr;
  std::uint64_t bytes = 0;
  friend bool operator==(tool_event const&, tool_event const&) = default;
};

/// What Kokkos' tools were told, as long as it lives, of the allocations with one label.
class tool {
public:
  static inline tool_event given, taken;

  explicit tool(std::string const& of) : before_(Kokkos::Tools::Experimental::get_callbacks()) {
    given = taken = {};
    label = of;
    Kokkos::Tools::Experimental::set_allocate_data_callback(hear<&given>);
    Kokkos::Tools::Experimental::set_deallocate_data_callback(hear<&taken>);
  }
  tool(tool const&) = delete;
  ~tool() { Kokkos::Tools::Experimental::set_callbacks(before_); }

private:
  template <tool_event* Into>
  static void hear(Kokkos::Tools::SpaceHandle space, char const* name, void const* pointer, std::uint64_t bytes) {
    if (label == name) *Into = {space.name, pointer, bytes};
  }
  static inline std::string label;
  Kokkos::Tools::Experimental::EventSet before_;
};

} // namespace keel::laws

TEST_CASE_TEMPLATE_DEFINE("space: a memory space keeps the laws of one", Space, memory_space) {
  namespace laws = keel::laws;
  using view = Kokkos::View<double*, Space>;
  if (!laws::is_here<Space>()) return; // supported, and not available

  SUBCASE("it is one for Kokkos, and has a name") {
    CHECK(Kokkos::is_memory_space<Space>::value);
    CHECK(std::is_same_v<typename view::memory_space, Space>);
    CHECK(!std::string(Space::name()).empty());
  }
  SUBCASE("a view keeps its label and counts its references; its elements are zero, unless that is not wanted") {
    view const a(Kokkos::view_alloc("my label", Space(), typename Space::execution_space()), 100);
    Kokkos::fence();
    CHECK(a.label() == "my label");
    CHECK(a.use_count() == 1);
    {
      view const b = a;
      CHECK(a.use_count() == 2);
    }
    CHECK(a.use_count() == 1);
    auto const host = Kokkos::create_mirror_view(a);
    Kokkos::deep_copy(host, a);
    double sum = 0;
    for (std::size_t i = 0; i < 100; ++i) sum += host(i) * host(i);
    CHECK(sum == 0);
    view const raw(Kokkos::view_alloc("raw", Space(), Kokkos::WithoutInitializing), 5);
    CHECK(raw.label() == "raw");
  }
  SUBCASE("every allocation is aligned, also of one byte, and beside others") {
    std::vector<std::pair<void*, std::size_t>> given;
    for (std::size_t const bytes : {1, 48, 63, 64, 80, 96, 112, 1000, 1 << 20})
      for (int n = 0; n < 3; ++n) given.emplace_back(Space().allocate("aligned", bytes), bytes);
    int wrong = 0;
    for (auto const& [p, bytes] : given) {
      wrong += reinterpret_cast<std::uintptr_t>(p) % 64 == 0 ? 0 : 1;
      Space().deallocate("aligned", p, bytes);
    }
    CHECK(wrong == 0);
    Kokkos::View<char*, Space> const v("v", 63);
    CHECK(reinterpret_cast<std::uintptr_t>(v.data()) % 64 == 0);
  }
  SUBCASE("a view of no element can be copied, and a default one owns nothing") {
    view a("none", 0);
    CHECK(a.extent(0) == 0);
    auto const host = Kokkos::create_mirror_view(a);
    Kokkos::deep_copy(host, a);
    Kokkos::deep_copy(a, host);
    CHECK(view().use_count() == 0);
  }
  SUBCASE("deep copies go both ways, between spaces, and of one element") {
    view a("a", 1000);
    view b("b", 1000);
    laws::count_up(a);
    CHECK(laws::counts_up(a, 1000));
    Kokkos::deep_copy(b, a);
    CHECK(laws::counts_up(b, 1000));
    Kokkos::View<double*, Kokkos::HostSpace> host("host", 1000);
    Kokkos::deep_copy(host, b);
    host(999) = -1;
    Kokkos::deep_copy(a, host);
    CHECK_FALSE(laws::counts_up(a, 1000));
    CHECK(laws::counts_up(a, 999));
    Kokkos::View<double, Space> one("one");
    Kokkos::deep_copy(one, 2.5);
    double seen = 0;
    Kokkos::deep_copy(seen, one);
    CHECK(seen == 2.5);
    Kokkos::deep_copy(typename Space::execution_space(), b, 4.0);
    Kokkos::fence();
    CHECK_FALSE(laws::counts_up(b, 1000));
  }
  SUBCASE("mirrors stand where they were asked for") {
    Kokkos::View<double*, Kokkos::HostSpace> host("host", 20);
    laws::count_up(host);
    auto const there = Kokkos::create_mirror_view_and_copy(Space(), host);
    CHECK(std::is_same_v<typename std::remove_cv_t<decltype(there)>::memory_space, Space>);
    CHECK(laws::counts_up(there, 20));
    auto const same = Kokkos::create_mirror_view(Space(), there);
    CHECK(same.data() == there.data());
  }
  SUBCASE("sub-views of a matrix are its rows and columns, and share its memory and count") {
    Kokkos::View<double**, Kokkos::LayoutRight, Space> const a("a", 6, 4);
    Kokkos::View<double*, Space, Kokkos::MemoryUnmanaged> const all(a.data(), 24);
    laws::count_up(all);
    auto const row = Kokkos::subview(a, 2, Kokkos::ALL);
    auto const column = Kokkos::subview(a, Kokkos::ALL, 1);
    CHECK(row.data() == a.data() + 8);
    CHECK(column.stride(0) == 4);
    CHECK(a.use_count() == 3);
    double sum = 0;
    Kokkos::parallel_reduce(
        "sub-views", Kokkos::RangePolicy<typename Space::execution_space>(0, 4),
        KOKKOS_LAMBDA(int i, double& s) { s += 100 * row(i) + column(i); }, sum);
    CHECK(sum == 100 * (8 + 9 + 10 + 11) + (1 + 5 + 9 + 13));
    Kokkos::deep_copy(Kokkos::subview(row, std::make_pair(1, 3)), -1.0);
    CHECK(laws::counts_up(all, 9));
    CHECK_FALSE(laws::counts_up(all, 10));
  }
  SUBCASE("a hash map of Kokkos' holds what kernels put into it, and grows") {
    using execution = typename Space::execution_space;
    using hash_map = Kokkos::UnorderedMap<int, long, Kokkos::Device<execution, Space>>;
    // g++ 16 copies no map of Kokkos 5.2, wherever it lies.
    if constexpr (std::is_copy_constructible_v<hash_map>) laws::use_hash_map<hash_map, execution>();
  }
  SUBCASE("an allocation that cannot be is an exception with the label and the space") {
    std::string said;
    try {
      view const a(Kokkos::view_alloc("too much", Kokkos::WithoutInitializing),
                   std::numeric_limits<std::ptrdiff_t>::max() / 16);
    } catch (std::runtime_error const& thrown) {
      said = thrown.what();
    }
    CHECK(said.find("too much") != std::string::npos);
    CHECK(said.find(Space::name()) != std::string::npos);
#if KOKKOS_VERSION >= 40600 // before it Kokkos' own spaces had other words
    CHECK(said.find(std::string(Space::name()) + " memory space failed to allocate ") != std::string::npos);
    CHECK(said.find("(label=\"too much\")") != std::string::npos);
#endif
  }
  SUBCASE("Kokkos' tools hear of every allocation and of its end") {
    laws::tool const tool("heard");
    {
      view const a("heard", 10);
      CHECK(tool.given.space == Space::name());
      CHECK(tool.given.bytes == 80);
      CHECK(tool.taken.pointer == nullptr);
    }
    CHECK(tool.given.pointer != nullptr);
    CHECK(tool.taken == tool.given);
  }
  SUBCASE("resizing keeps what fits") {
    view a("a", 10);
    laws::count_up(a);
    Kokkos::resize(a, 20);
    CHECK(a.extent(0) == 20);
    CHECK(laws::counts_up(a, 10));
    Kokkos::resize(a, 5);
    CHECK(laws::counts_up(a, 5));
    Kokkos::realloc(a, 3);
    CHECK(a.extent(0) == 3);
  }
  SUBCASE("raw memory can be had, grown and given back") {
    void* p = Kokkos::kokkos_malloc<Space>("raw", 100);
    p = Kokkos::kokkos_realloc<Space>(p, 200);
    CHECK(p != nullptr);
    Kokkos::kokkos_free<Space>(p);
  }
  SUBCASE("elements are made and destroyed as often as there are") {
    laws::lives::now = 0;
    {
      Kokkos::View<laws::lives*, Space> const a("a", 7);
      Kokkos::fence();
      CHECK(laws::lives::now == 7);
    }
    CHECK(laws::lives::now == 0);
  }
}
