// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What can be set at run time, where a value can come from, what setting one can answer, and the values of the knobs
/// that belong to the program and to none of its devices. Those of devices have their rows in keel/space/settings.hpp,
/// all of them in impl/keel/impl/device/table.ipp.

#include <keel/policy/log.hpp>
#include <keel/space/settings.hpp>
#include <keel/validity/settings.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace keel::device {

using policy::log;
using policy::log_level;
using policy::log_level_words;
using policy::log_sink;
using policy::set_log_level;
using policy::set_log_sink;
using policy::set_log_speaker;

/// A knob of devices. One of the program is named by its member: `&program_settings::device`.
using space::knob;

/// What set a value; a later one beats an earlier one, but for `code`, which is the
/// weakest before the start and the strongest after it.
enum class source { unset, code, file, environment, command_line };

/// What became of setting a knob.
enum class outcome {
  success,
  out_of_bounds,      ///< a possible number, but more than there is here; nothing changed
  invalid_for_device, ///< the device has no such knob; nothing changed
  invalid_value,      ///< never possible (zero threads, a negative index); nothing changed
  not_applied,        ///< too late: Kokkos runs already; nothing changed, said once on standard error
};

[[nodiscard]] constexpr std::string_view name(source s) {
  constexpr std::array<std::string_view, 5> names{"unset", "code", "file", "environment", "command line"};
  return names[std::size_t(s)];
}

[[nodiscard]] constexpr std::string_view name(outcome o) {
  constexpr std::array<std::string_view, 5> names{"success", "out of bounds", "invalid for device", "invalid value",
                                                  "not applied"};
  return names[std::size_t(o)];
}

/// A value and who set it; `unset` with a value is what keel proposes by itself.
template <class T>
struct setting {
  T value{};
  device::source from = device::source::unset;

  constexpr void set(T const& v, device::source s) {
    value = v;
    from = s;
  }
  [[nodiscard]] constexpr bool is_set() const { return from != device::source::unset; }
};

/// How the ranks of a node share its accelerators.
enum class device_mapping { nearest, rank, none };
/// The mappings as a user writes and reads them.
inline constexpr std::array<std::string_view, 3> device_mapping_words{"nearest", "rank", "none"};

/// How the configuration is printed at the start.
enum class print_form { off, text, json };

/// What `--keel-bind` asks for: `none`, or `place` and options after commas, which are mpibind's.
///
/// | option | what it does |
/// |---|---|
/// | `smt=N` | N hardware threads of each core; without it all |
/// | `gpu` | ranks on the cores near each GPU |
/// | `greedy=no` | ranks that are fewer than the memories have cores near one memory each |
struct bind_rule {
  bool place = false;
  int smt = 0; ///< 0 is all
  bool gpu = false, greedy = true;

  friend bool operator==(bind_rule const&, bind_rule const&) = default;
};

/// The knobs of the program, as keel proposes them. What each is, its row says.
struct program_settings {
  std::string device;
  std::optional<int> num_devices;
  device_mapping map_device_by = device_mapping::nearest;
  bind_rule bind;
  std::string config;
  device::log_level log_level = log_level::warning;
  residency::settings residency;
  std::optional<int> end_timeout;
  print_form print_configuration = print_form::off;
  bool strict = false, help = false;

  /// A value by its member, of these or of those of a room: `of(&residency::settings::restart)`.
  template <class T, class Owner>
  [[nodiscard]] T const& of(T Owner::* member) const {
    if constexpr (std::is_same_v<Owner, program_settings>) return this->*member;
    else return residency.*member;
  }
  /// Who set it.
  template <class T, class Owner>
  [[nodiscard]] device::source source(T Owner::* member) const {
    for (auto const& [place, by] : said_)
      if (place == place_of(member)) return by;
    return device::source::unset;
  }
  template <class T, class Owner>
  [[nodiscard]] bool is_set(T Owner::* member) const {
    return source(member) != device::source::unset;
  }
  template <class T, class Owner>
  void set(T Owner::* member, std::type_identity_t<T> value, device::source by) {
    const_cast<T&>(of(member)) = std::move(value);
    std::erase_if(said_, [&](auto const& one) { return one.first == place_of(member); });
    said_.emplace_back(place_of(member), by);
  }

private:
  template <class T, class Owner>
  [[nodiscard]] std::ptrdiff_t place_of(T Owner::* member) const {
    return reinterpret_cast<char const*>(&of(member)) - reinterpret_cast<char const*>(this);
  }
  std::vector<std::pair<std::ptrdiff_t, device::source>> said_; // by the place of a value
};

} // namespace keel::device
