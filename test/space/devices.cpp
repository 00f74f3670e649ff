// SPDX-License-Identifier: MIT
#include <keel/space/devices.hpp>

#include <support/test.hpp>

namespace {

struct mine {
  [[maybe_unused]] static constexpr std::string_view name = "mine";
};
struct no_device {
  [[maybe_unused]] static constexpr std::string_view name = "no device";
};

/// What an accelerator's own library would say.
struct two_cards {
  using execution_space = Kokkos::DefaultHostExecutionSpace;
  static int count() { return 2; }
  static int current() { return 1; }
  static std::string pci_id(int card) { return card == 0 ? "0000:1B:00.0" : ""; }
};
struct no_cards : two_cards {
  static int count() { return 0; }
};

/// Whether the traits of a device that is compiled in are complete.
template <class Tag>
void check_traits() {
  using traits = keel::device_traits<Tag>;
  CHECK(Kokkos::is_execution_space<typename traits::execution_space>::value);
  CHECK(traits::preference >= 0);
  CHECK(traits::preference <= 300);
  if constexpr (traits::has_threads) {
    CHECK(traits::max_threads() >= 1);
    CHECK(traits::threads() >= 1);
    CHECK(traits::default_threads() == traits::max_threads());
  }
  if constexpr (traits::has_instances) {
    CHECK(traits::max_devices() >= 0);
    for (int i = 0; i < traits::max_devices(); ++i) CHECK(traits::pci_id(i).size() == 12);
  }
}

} // namespace

/// A user's tag becomes a device.
template <>
struct keel::device_traits<mine> {
  static constexpr bool supported = true;
  static bool available() { return false; }
};

TEST_CASE("space: every device that is compiled in has complete traits") {
  using all = keel::list<keel::serial, keel::openmp, keel::threads, keel::tbb, keel::cuda, keel::hip, keel::sycl,
                         keel::simulated>;
  int count = 0;
  [&]<class... Tags>(keel::list<Tags...>) { ((check_traits<Tags>(), ++count), ...); }(keel::where_supported<all>{});
  CHECK(count >= 2);
}

TEST_CASE("space: supported and available are two questions") {
  CHECK(keel::supported<keel::simulated>);
  CHECK(keel::available<keel::simulated>());
  CHECK(keel::supported<mine>);
  CHECK_FALSE(keel::available<mine>());
  CHECK_FALSE(keel::supported<no_device>);
  CHECK_FALSE(keel::available<no_device>());
}

TEST_CASE("space: where_supported drops what this build lacks and keeps the order") {
  using kept = keel::where_supported<std::tuple<no_device, keel::simulated, mine>>;
  CHECK(std::is_same_v<kept, keel::list<keel::simulated, mine>>);
  CHECK(std::is_same_v<keel::where_supported<keel::list<>>, keel::list<>>);
}

TEST_CASE("space: a device has the knobs of its kind") {
  using accelerator = keel::space::detail::kokkos_accelerator<two_cards>;
  using threads = keel::space::detail::kokkos_threads<Kokkos::DefaultHostExecutionSpace>;
  using of_simulated = keel::device_traits<keel::simulated>;
  static_assert(!of_simulated::has_threads && !of_simulated::has_numa_regions && !of_simulated::has_instances);
  static_assert(threads::has_threads && !threads::has_instances);
  static_assert(accelerator::supported && accelerator::preference == 300);
  static_assert(!accelerator::has_threads && !accelerator::has_numa_regions && accelerator::has_instances);
  CHECK(of_simulated::available());
  CHECK(threads::available());
#if KOKKOS_VERSION < 30700
  static_assert(threads::has_numa_regions);
  int const regions = Kokkos::hwloc::available() ? int(Kokkos::hwloc::get_available_numa_count()) : 1;
  CHECK(threads::max_numa_regions() == regions);
#else
  static_assert(!threads::has_numa_regions);
#endif
#if KEEL_WITH_TBB
  using tbb = keel::device_traits<keel::tbb>;
  static_assert(tbb::has_threads && tbb::has_numa_regions && !tbb::has_instances);
  CHECK(tbb::own_knobs[0].values().least == std::int64_t{64} << 10);
  CHECK(tbb::own_knobs[0].values().most == std::int64_t{16} << 30);
#endif
}

TEST_CASE("space: an accelerator is available where a card is visible, and names it in lower case") {
  using accelerator = keel::space::detail::kokkos_accelerator<two_cards>;
  CHECK(accelerator::available());
  CHECK_FALSE(keel::space::detail::kokkos_accelerator<no_cards>::available());
  CHECK(accelerator::max_devices() == 2);
  CHECK(accelerator::device_instance() == 1);
  CHECK(accelerator::pci_id(0) == "0000:1b:00.0");
  CHECK(accelerator::pci_id(1).empty());
}
