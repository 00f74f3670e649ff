// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Copies: one of 64 bytes, where all but the copy is overhead, and a large one, where nothing else should be.

#include "model.hpp"
#include "report.hpp"

#include <keel/space/pinned.hpp>

#include <Kokkos_DualView.hpp>

#include <cstddef>
#include <string>

namespace bench {

struct small : kr::variable<"small", double[8], kr::off_grid> {};
struct write_small : kr::routine<"write_small", kr::on_host, kr::writes<small>> {
  template <class V>
  static void run(V) {}
};
struct read_small : kr::routine<"read_small", kr::on_device, kr::reads<small>> {
  template <class V>
  static void run(V) {}
};
struct large : kr::variable<"large", double**> {};
struct write_large : kr::routine<"write_large", kr::on_host, kr::writes<kr::everywhere<large>>> {
  template <class V>
  static void run(V) {}
};
struct read_large : kr::routine<"read_large", kr::on_device, kr::reads<large>> {
  template <class V>
  static void run(V v) {
    v.execution_space().fence();
  }
};

/// A variable goes to the device by need, beside a copy of Kokkos' and a DualView, which wait in the same places.
template <class Tag>
void transition_row() {
  using memory = kr::detail::memory_space_of<Tag>;
  using space = kr::detail::space_of<Tag>;
  run model{Tag::name};
  kr::fields<application<keel::list<host, Tag>>, small> f{model, kr::grid{{4, 4}}};
  space const queue = model.execution_space<Tag>();
  double const with_fields = nanoseconds(
      clock_of::wall,
      [&](long n) {
        for (long k = 0; k < n; ++k) {
          f.run(write_small{});
          f.run(read_small{});
        }
      },
      10'000);
  Kokkos::View<double*, keel::space::pinned> const from("from", 8);
  Kokkos::View<double*, memory> const to("to", 8);
  Kokkos::View<double*, Kokkos::HostSpace> const plain = from;
  double const by_kokkos = nanoseconds(
      clock_of::wall,
      [&](long n) {
        for (long k = 0; k < n; ++k) {
          queue.fence();
          Kokkos::deep_copy(queue, to, plain);
        }
      },
      10'000);
  Kokkos::DualView<double*, Kokkos::LayoutRight, Kokkos::Device<space, memory>> dual("dual", 8);
  double const by_dual = nanoseconds(
      clock_of::wall,
      [&](long n) {
        for (long k = 0; k < n; ++k) {
          dual.clear_sync_state();
          dual.modify_host();
          dual.sync_device();
        }
      },
      10'000);
  print("a transition of 64 B with fields, on " + std::string(Tag::name), text(with_fields, 0) + " ns",
        "raw " + text(by_kokkos, 0) + " ns, DualView " + text(by_dual, 0) + " ns", "raw + 10 ns",
        with_fields <= by_kokkos + 10);
}

/// Bytes a nanosecond of one large array to the device, beside a raw asynchronous copy from pinned memory.
template <class Tag>
void large_copy(long mebibytes) {
  run model{Tag::name};
  kr::fields<application<keel::list<host, Tag>>, large> f{model, kr::grid{{mebibytes * 128, 1024}}};
  f.run(write_large{});
  f.run(read_large{});
  double const size = double(f.template bytes<large>()[0]);
  double const with_keel = nanoseconds(
      clock_of::wall,
      [&](long) {
        f.run(write_large{});
        f.run(read_large{});
      },
      1);
  using memory = kr::detail::memory_space_of<Tag>;
  auto const queue = model.execution_space<Tag>();
  Kokkos::View<char*, Kokkos::HostSpace> const from =
      Kokkos::View<char*, keel::space::pinned>("from", std::size_t(size));
  Kokkos::View<char*, memory> const to(Kokkos::view_alloc("to", Kokkos::WithoutInitializing), std::size_t(size));
  double const raw = nanoseconds(
      clock_of::wall,
      [&](long) {
        Kokkos::deep_copy(queue, to, from);
        queue.fence();
      },
      1);
  print(std::to_string(mebibytes) + " MiB to " + std::string(Tag::name), text(size / with_keel) + " GB/s",
        "raw, pinned: " + text(size / raw) + " GB/s", "0.98 of raw (GPU)", with_keel <= raw / 0.98);
}

} // namespace bench
