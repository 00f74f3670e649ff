// SPDX-License-Identifier: MIT
#include <keel/keel.hpp>
#include <iostream>
#include <tuple>

/// A device of your own: an empty type with a name, and what keel has to know of it.
struct lone {
  static constexpr std::string_view name = "lone";
};
template <>
struct keel::device_traits<lone> {
  static constexpr bool supported = true, has_threads = false, has_numa_regions = false, has_instances = false;
  static constexpr int preference = 0; // chosen only if a user names it
  using execution_space = Kokkos::DefaultHostExecutionSpace;
  static bool available() { return true; }
  static void configure(keel::space::settings const&) {}
};

struct app : keel::defaults {
  using devices = std::tuple<keel::simulated, lone>; // any variadic list of types will do
};

int main(int argc, char** argv) try {
  using list = keel::policy::to_list<app::devices>;
  static_assert(keel::policy::size<list> == 2 && keel::policy::contains<list, lone>);
  std::cout << "devices: " << keel::policy::names<list>() << '\n';

  keel::runtime<app> run{argc, argv};
  if (run.help_requested()) return 0;
  keel::with_device<list>(run.device_name(), [&]<class Tag>(Tag) {
    run.template execution_space<Tag>().fence();
    std::cout << "kernels run on " << Tag::name << '\n';
  });

  throw keel::error("example", "this is wrong", "because it shows how", "Look at the exit code");
} catch (keel::error const& e) {
  std::cout << e.what() << '\n';
}
