// SPDX-License-Identifier: MIT
#include <keel/space/start.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <string_view>
#include <system_error>

namespace keel::space::detail {

/// The options of Kokkos that take a whole number; those of devices may take two.
inline constexpr std::array<std::string_view, 7> numbered_options{
    "--kokkos-threads", "--kokkos-num-threads", "--kokkos-numa",    "--kokkos-device-id",
    "--kokkos-device",  "--kokkos-num-devices", "--kokkos-ndevices"};

inline void require_numbers(std::vector<std::string> const& given) {
  auto const is_number = [](std::string_view text) {
    int value = -1;
    auto const [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    return failure == std::errc{} && end == text.data() + text.size() && value >= 0;
  };
  for (std::string_view const word : given) {
    std::string_view const name = word.substr(0, word.find('='));
    if (std::find(numbered_options.begin(), numbered_options.end(), name) == numbered_options.end()) continue;
    std::string_view const value = word.substr(std::min(name.size() + 1, word.size()));
    std::size_t const comma = name.ends_with("devices") ? std::min(value.find(','), value.size()) : value.size();
    if (!is_number(value.substr(0, comma)) || (comma < value.size() && !is_number(value.substr(comma + 1))))
      throw error("space", std::string(word) + " is refused", "Kokkos takes a whole number from 0 on here",
                  "Write " + std::string(name) + "=1");
  }
}

KEEL_INLINE void require_cards(std::string_view device, bool is_there, std::string_view visible_by) {
  if (is_there) return;
  std::string const name(visible_by);
  char const* const set = std::getenv(name.c_str());
  throw error("space", "Kokkos cannot start",
              "it was built for " + std::string(device) + ", and this process sees no card" +
                  (set != nullptr ? "; " + name + " is '" + set + "'" : ""),
              "Set " + name + " to the cards that it may use, or unset it, or take a build without " +
                  std::string(device));
}

/// Before 3.7 threads count per NUMA region, since then there are no such regions.
KEEL_INLINE std::vector<std::string> kokkos_words(settings const& wanted) {
  std::vector<std::string> words;
#if KOKKOS_VERSION < 30700
  int const regions = wanted.numa_regions.value_or(1);
  if (wanted.threads) words.push_back("--kokkos-threads=" + std::to_string(std::max(1, *wanted.threads / regions)));
  if (wanted.numa_regions) words.push_back("--kokkos-numa=" + std::to_string(regions));
#else
  if (wanted.threads) words.push_back("--kokkos-num-threads=" + std::to_string(*wanted.threads));
#endif
  if (wanted.device_instance) words.push_back("--kokkos-device-id=" + std::to_string(*wanted.device_instance));
  return words;
}

KEEL_INLINE std::vector<std::string> command_line(std::vector<std::string> const& settings,
                                                  std::vector<std::string> const& given) {
  require_numbers(given);
  std::vector<std::string> all{"keel"};
  for (auto const* words : {&settings, &given}) all.insert(all.end(), words->begin(), words->end());
  return all;
}

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
  Kokkos::push_finalize_hook([] { kokkos_life() = {}; });
}

} // namespace keel::space::detail
