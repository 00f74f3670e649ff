// SPDX-License-Identifier: MIT
#pragma once

#include <keel/space/start.hpp>

namespace keel::space::detail {

KEEL_INLINE void start_kokkos(std::vector<std::string> const& kokkos_arguments) {
  auto& life = kokkos_life();
  if (!is_started()) {
    if (has_ended())
      throw error("space", "Kokkos cannot start", "it has ended, and starts once in a process",
                  "Keep it until the last use of a device");
    for_each_device<policy::filter<all_devices, has_cards>>([]<class Tag>(Tag) {
      require_cards(Tag::name, device_traits<Tag>::available(), device_traits<Tag>::visible_by);
    });
    auto words = command_line(kokkos_words(wanted_settings()), kokkos_arguments);
    std::vector<char*> argv;
    for (auto& word : words) argv.push_back(word.data());
    int argc = int(argv.size());
    argv.push_back(nullptr);
    report_leaks_at_the_end();
    try {
      Kokkos::initialize(argc, argv.data());
    } catch (error const&) {
      throw;
    } catch (std::bad_alloc const&) {
      throw out_of_memory_error("space", "Kokkos did not start", 0);
    } catch (std::exception const& thrown) {
      throw error("space", "Kokkos did not start", thrown.what(),
                  "Check the --kokkos-… options and KOKKOS_… variables");
    }
    life.started_here = true;
    wanted_settings() = {};
#if KOKKOS_VERSION < 30700 // Kokkos removes what it knows; from 3.7 on it speaks of the rest itself
    for (int at = 1; at < argc; ++at)
      policy::log(policy::log_level::warning,
                  argv[std::size_t(at)] + std::string(" is read by nothing in this Kokkos. Leave it out."));
#endif
  }
  if (life.watched) return;
  life.watched = true;
  life.ended = false;
  Kokkos::push_finalize_hook([] { kokkos_life() = {.ended = true}; });
}

} // namespace keel::space::detail
