// SPDX-License-Identifier: MIT
#include <keel/device/defaults.hpp>

#include <keel/impl/device/choose_devices.hpp>

#include <support/test.hpp>

namespace {

namespace ks = keel::space;

/// A device that this Kokkos was built with.
using host = std::conditional_t<keel::supported<keel::serial>, keel::serial, keel::openmp>;

struct all_simulated : keel::defaults {
  using default_execution_space = ks::simulated;
  using default_memory_space = ks::simulated_memory;
};

template <class App>
std::string chosen() {
  return std::string{
      keel::device::choose_devices<keel::list<host, keel::simulated>, typename App::default_execution_space>({})
          .front()};
}

} // namespace

static_assert(keel::device::ApplicationPolicy<all_simulated> && ks::require_defaults<all_simulated>());

TEST_CASE("device: a policy's default for execution runs where no knob chose, whatever keel prefers") {
  CHECK(chosen<keel::defaults>() == host::name);
  CHECK(chosen<all_simulated>() == "simulated");
}

TEST_CASE("device: where no card is seen, the variable that says which ones are is named") {
  auto const none = [] { return false; };
  std::vector<keel::device::candidate> const card{{"a", none, 1}, {"b", none, 2, "B_VISIBLE_DEVICES"}};
  for (char const* asked : {"", "b"})
    CHECK(keel::test::message_of([&] {
            (void)keel::device::choose_devices(card, asked, "");
          }).find("Set B_VISIBLE_DEVICES to the cards that this process may use, or unset it.") != std::string::npos);
}

TEST_CASE("device: a prefix is of small letters, digits and hyphens, begins with a letter, and is not Kokkos'") {
  for (char const* good : {"a", "z", "keel", "a0", "az09-", "kokkoss", "x-"}) {
    CAPTURE(good);
    CHECK(keel::device::is_prefix(good));
  }
  for (char const* bad : {"", "kokkos", "A", "-a", "0a", "`a", "{a", "a_b", "aB", "a`", "a{", "a/", "a:", "a b"}) {
    CAPTURE(bad);
    CHECK_FALSE(keel::device::is_prefix(bad));
  }
}
