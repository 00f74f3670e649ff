// SPDX-License-Identifier: MIT
#include <keel/exchange/kokkos_provider.hpp>

#include <keel/impl/exchange/kokkos_copy_queue.hpp>

#include <validity/recording_provider.hpp>
#include <residency/run.hpp>

#include <keel/policy/error.hpp>

#include <laws/provider.hpp>

#include <support/test.hpp>

namespace kr = keel::residency;

namespace {

// Bytes of one array brought to the host and back.
template <class Memory>
using borrowed = Kokkos::View<unsigned char*, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

// Two ranks in x, so that there is a rim, and walls in y; doubles by rows, and triples of floats by columns.
class on_kokkos {
public:
  using space = keel::device_traits<keel::simulated>::execution_space;
  using device_memory = space::memory_space;
  using provider_type = kr::kokkos_provider;

  on_kokkos() : part_(kr::share_of(kr::grid{{12, 5}, kr::ghost_width{2, 1}, kr::periodic{true, false}}, 2, 1)) {
    kr::detail::shape rows, triples;
    auto const nx = part_.extents[0], ny = part_.extents[1];
    rows.rank = triples.rank = 2, rows.part = triples.part = &part_;
    rows.stride[0] = ny, rows.stride[1] = 1, rows.element_bytes = 8, rows.elements = nx * ny;
    triples.stride[0] = 1, triples.stride[1] = nx, triples.inner = 3, triples.inner_stride = nx * ny,
    triples.element_bytes = 4;
    triples.elements = 3 * nx * ny;
    provider.add({rows}, 3, &on_kokkos::make, this);
    provider.add({triples}, 1, &on_kokkos::make, this);
    provider.connect(kr::memory{1}, kr::detail::kokkos_copy_queue(queue_));
    for (int v = 0; v < 2; ++v)
      for (int m = 0; m < memories; ++m) provider.create(v, kr::memory(m));
  }
  void set(int v, int l, int c, kr::region r, kr::memory m, int value) {
    auto all = bring(v, l, c, m);
    for_each(v, r, all, [&](auto& x) { x = std::remove_reference_t<decltype(x)>(value); });
    put(v, l, c, m, all);
  }
  int get(int v, int l, int c, kr::region r, kr::memory m) {
    auto all = bring(v, l, c, m);
    int found = 0;
    for_each(v, r, all, [&](auto& x) {
      std::remove_reference_t<decltype(x)> poison;
      std::memset(&poison, 0xff, sizeof poison);
      int const here = std::memcmp(&x, &poison, sizeof x) == 0 ? laws::poisoned : int(x);
      found = found == 0 || found == here ? here : laws::mixed;
    });
    return found;
  }

private:
  kr::share part_;
  space queue_;
  std::vector<Kokkos::View<unsigned char*, Kokkos::HostSpace>> near_;
  std::vector<Kokkos::View<unsigned char*, device_memory>> far_;

public:
  static constexpr int memories = 2;
  provider_type provider;

private:
  static void make(void* self, int variable, kr::memory m) {
    auto& bench = *static_cast<on_kokkos*>(self);
    std::vector<void*> arrays;
    for (int i = 0; i < (variable == 0 ? 6 : 2); ++i) {
      auto const label = "array " + std::to_string(variable);
      if (m == kr::host) arrays.push_back(bench.near_.emplace_back(label, bench.size(variable)).data());
      else arrays.push_back(bench.far_.emplace_back(label, bench.size(variable)).data());
    }
    bench.provider.place(variable, m, arrays);
  }
  [[nodiscard]] std::size_t size(int v) const {
    return std::size_t(provider.shape_of(v).elements * provider.shape_of(v).element_bytes);
  }
  std::vector<unsigned char> bring(int v, int l, int c, kr::memory m) {
    provider.wait(kr::memory{1});
    std::vector<unsigned char> bytes(size(v));
    auto* const at = static_cast<unsigned char*>(provider.array(v, l, c, m));
    borrowed<Kokkos::HostSpace> const here(bytes.data(), bytes.size());
    if (m == kr::host) Kokkos::deep_copy(here, borrowed<Kokkos::HostSpace>(at, bytes.size()));
    else Kokkos::deep_copy(here, borrowed<device_memory>(at, bytes.size()));
    return bytes;
  }
  void put(int v, int l, int c, kr::memory m, std::vector<unsigned char>& bytes) {
    auto* const at = static_cast<unsigned char*>(provider.array(v, l, c, m));
    borrowed<Kokkos::HostSpace> const here(bytes.data(), bytes.size());
    if (m == kr::host) Kokkos::deep_copy(borrowed<Kokkos::HostSpace>(at, bytes.size()), here);
    else Kokkos::deep_copy(borrowed<device_memory>(at, bytes.size()), here);
  }
  // The cells of a region, told apart here by their place alone.
  template <class F>
  void for_each(int v, kr::region r, std::vector<unsigned char>& bytes, F&& f) {
    auto const own = part_.owned(), inside = part_.core();
    kr::detail::shape const& s = provider.shape_of(v);
    auto const within = [](kr::bounds const& b, std::int64_t i, std::int64_t j) {
      return i >= b.begin[0] && i < b.end[0] && j >= b.begin[1] && j < b.end[1];
    };
    for (std::int64_t i = 0; i < part_.extents[0]; ++i)
      for (std::int64_t j = 0; j < part_.extents[1]; ++j) {
        kr::region const where = within(inside, i, j)                  ? kr::region::core
                                 : within(own, i, j)                   ? kr::region::rim
                                 : j >= own.begin[1] && j < own.end[1] ? kr::region::halo
                                                                       : kr::region::walls;
        if (where != r) continue;
        for (std::int64_t k = 0; k < s.inner; ++k) {
          std::int64_t const at = i * s.stride[0] + j * s.stride[1] + k * s.inner_stride;
          if (v == 0) f(reinterpret_cast<double*>(bytes.data())[at]);
          else f(reinterpret_cast<float*>(bytes.data())[at]);
        }
      }
  }
};

class on_numbers {
public:
  using provider_type = test::recording_provider;
  static constexpr int memories = 3;
  on_numbers() : provider(memories, 2) {
    provider.add(3, {1, 1, 1, 1});
    provider.add(1, {1, 1, 1, 1});
    for (int v = 0; v < 2; ++v)
      for (int m = 0; m < memories; ++m) provider.create(v, kr::memory(m));
  }
  void set(int v, int l, int c, kr::region r, kr::memory m, int value) {
    provider.drain(kr::memory{1});
    provider.write(v, l, c, r, m, unsigned(value) * provider_type::one_bit_each);
  }
  int get(int v, int l, int c, kr::region r, kr::memory m) {
    provider.drain(kr::memory{1});
    auto const found = int(provider.in(v, l, c, m) >> 16 * index_of(r) & 0xffffU);
    return found == int(provider_type::poisoned & 0xffffU) ? laws::poisoned : found;
  }
  provider_type provider;
};

} // namespace

TEST_CASE("residency: the provider that stands on Kokkos keeps the laws") {
  on_kokkos bench;
  laws::check_provider<on_kokkos::provider_type>(bench);
}

TEST_CASE("residency: the recording provider keeps the laws") {
  on_numbers bench;
  laws::check_provider<test::recording_provider>(bench);
}

TEST_CASE("residency: arrays that overlap are refused, and bytes are known by their owner") {
  kr::share part = kr::share_of(kr::grid{{4}}, 1, 0);
  kr::kokkos_provider provider;
  kr::detail::shape lies;
  lies.rank = 1, lies.part = &part, lies.stride[0] = 1, lies.element_bytes = 8, lies.elements = 4;
  for (int v = 0; v < 2; ++v) provider.add({lies}, 2, nullptr, nullptr);
  double memory[16]{};
  provider.place(0, kr::host, {memory, memory + 4});
  CHECK(keel::test::refuses([&] { provider.place(1, kr::host, {memory + 8, memory + 7}); },
                            "arrays of variables 0 and 1 overlap"));
  provider.place(1, kr::host, {memory + 8, memory + 12});
  CHECK(provider.owner_of(memory + 5, 16)->level == 1);
  CHECK_FALSE(provider.owner_of(memory + 5, 16)->is_whole);
  CHECK(provider.owner_of(memory + 8, 32)->is_whole);
  provider.copy_cycle(1);
  CHECK(provider.owner_of(memory + 8, 32)->variable == 1);
  CHECK(provider.owner_of(memory + 8, 32)->level == 1);
  CHECK_FALSE(provider.owner_of(memory + 3, 16).has_value());
  CHECK_FALSE(provider.owner_of(memory, 0).has_value());
}
