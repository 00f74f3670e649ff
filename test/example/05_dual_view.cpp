// SPDX-License-Identifier: MIT
#include <Kokkos_DualView.hpp>
#include <keel/keel.hpp>
#include <iostream>

// The same program twice: data go to the device, are changed there, and are read on the host.

namespace before {

/// The author says where data were written and when they are needed elsewhere. A `sync` too few is a wrong result, a
/// `sync` too many is a needless copy.
double work(int n) {
  Kokkos::DualView<double*> x("x", std::size_t(n));
  for (int i = 0; i < n; ++i) x.view_host()(i) = i;
  x.modify_host();

  x.sync_device();
  auto const on_device = x.view_device();
  Kokkos::parallel_for("double it", n, KOKKOS_LAMBDA(int i) { on_device(i) *= 2; });
  x.modify_device();

  x.sync_host();
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += x.view_host()(i);
  return sum;
}

} // namespace before

namespace after {

namespace kr = keel::residency;

struct app : keel::defaults {};
struct x : kr::variable<"x", double*> {};

/// A routine says what it reads and writes. What has to be copied follows from that.
struct fill : kr::routine<"fill", kr::on_host, kr::writes<x>> {
  template <class V>
  static void run(V v) {
    auto const a = v(x{});
    auto const own = v.owned();
    for (auto i = own.begin[0]; i < own.end[0]; ++i) a(i) = double(i);
  }
};
struct double_it : kr::routine<"double it", kr::on_device, kr::updates<x>> {
  template <class V>
  static void run(V v) {
    auto const a = v(x{});
    kr::for_owned(v, KOKKOS_LAMBDA(int i) { a(i) *= 2; });
  }
};
struct sum : kr::routine<"sum", kr::on_host, kr::reads<kr::owned<x>>> {
  template <class V>
  static double run(V v) {
    auto const a = v(x{});
    auto const own = v.owned();
    double all = 0;
    for (auto i = own.begin[0]; i < own.end[0]; ++i) all += a(i);
    return all;
  }
};

} // namespace after

int main(int argc, char** argv) try {
  keel::runtime<after::app> run{argc, argv};
  if (run.help_requested()) return 0;
  namespace kr = keel::residency;
  kr::fields<after::app, after::x> f{run, kr::grid{{100}}};
  f.run(after::fill{});
  f.run(after::double_it{});
  double const with_keel = f.run(after::sum{});
  run.start_devices(); // a DualView needs Kokkos even where keel does not
  std::cout << "DualView: " << before::work(100) << "\nkeel:     " << with_keel << '\n';
} catch (std::exception const& e) {
  return keel::report(e);
}
