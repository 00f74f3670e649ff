// SPDX-License-Identifier: MIT
#include <keel/impl/device/read.hpp>
#include <keel/impl/device/table.hpp>
#include <keel/impl/device/find_knob.hpp>
#include <keel/policy/error.hpp>
#include <keel/policy/nearest.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <unistd.h>

namespace keel::device {

KEEL_INLINE std::string last_said(std::span<assignment const> all, knob id) {
  assignment const* last = nullptr;
  for (auto const& a : all)
    if (a.id == id && (last == nullptr || a.from >= last->from)) last = &a;
  return last == nullptr ? std::string{} : last->where + "=" + last->text + ": ";
}

KEEL_INLINE found_variables read_environment(option_names const& names) {
  found_variables found;
  std::string const ours = variable_prefix(names.prefix);
  for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
    std::string_view const entry = *at;
    if (!entry.starts_with(ours) || entry.find('=') == entry.npos) continue;
    std::string const variable{entry.substr(0, entry.find('='))};
    if (auto const known = detail::find_knob(std::string_view{variable}.substr(ours.size()), names, true)) {
      if (auto one = known->assign(std::string{entry.substr(variable.size() + 1)}, variable, source::environment))
        found.knobs.push_back(std::move(*one));
    } else {
      found.unknown.push_back(variable);
    }
  }
  std::sort(found.knobs.begin(), found.knobs.end(), [](auto const& a, auto const& b) { return a.where < b.where; });
  return found;
}

KEEL_INLINE std::string meant_variable(option_names const& names, std::string const& written) {
  std::vector<std::string> known;
  for (auto const& row : all_knobs) {
    known.push_back(variable_name(names.prefix, row.option));
    if (!row.of_devices()) continue;
    for (auto const device : names.devices)
      known.push_back(variable_name(names.prefix, std::string{device} + "-" + std::string{row.option}));
  }
  std::string const meant{policy::nearest(written, known)};
  std::size_t const letters = written.size() - std::min(written.size(), names.prefix.size() + 1);
  std::size_t const near = names.prefix == "keel" ? std::min(std::size_t{4}, (letters + 1) / 2) : 2;
  return policy::edit_distance(written, meant) <= near ? meant : std::string{};
}

KEEL_INLINE taken_arguments read_arguments(option_names const& names, int argc, char* const* argv) {
  taken_arguments taken;
  std::string const ours = option_prefix(names.prefix);
  int i = 0;
  taken.rest.reserve(std::size_t(argc));
  taken.knobs.reserve(std::size_t(argc));
  if (argc > 0) taken.rest.push_back(argv[i++]);
  for (; i < argc && std::string_view{argv[i]} != "--"; ++i) {
    std::string_view const word = argv[i];
    if (word.starts_with("--kokkos-")) {
      if (taken.for_kokkos.empty()) taken.for_kokkos.reserve(std::size_t(argc - i));
      taken.for_kokkos.emplace_back(word);
      continue;
    }
    if (!word.starts_with(ours)) {
      constexpr std::string_view keels = "--keel-";
      if (word.starts_with(keels) && detail::find_knob(word.substr(keels.size(), word.find('=') - keels.size()), names))
        taken.for_another.emplace_back(word.substr(0, word.find('=')));
      taken.rest.push_back(argv[i]);
      continue;
    }
    std::string_view const body = word.substr(ours.size());
    std::string_view const option = body.substr(0, body.find('='));
    bool const has_value = option.size() < body.size();
    origin where{word.substr(0, ours.size() + option.size())};
    auto const known = detail::find_knob(option, names);
    if (!known)
      throw error("device", "unknown option " + where, "no knob has this name",
                  "Did you mean " + ours + std::string{nearest_option(option)});
    auto const take = [&](std::string text) {
      taken.knobs.push_back(*known->assign(std::move(text), std::move(where), source::command_line));
    };
    if (has_value) {
      if (!known->takes_value())
        throw error("device", std::string{word} + " has a value", "this option is a switch", "Write " + where);
      take(std::string{body.substr(option.size() + 1)});
    } else if (known->is_switch()) {
      take("1");
    } else if (i + 1 < argc && std::string_view{argv[i + 1]} != "--") {
      take(argv[++i]);
    } else {
      throw error("device", where + " has no value", i + 1 < argc ? "-- follows it" : "it is the last argument",
                  "Write " + where + "=" + std::string{known->row->placeholder});
    }
  }
  taken.rest.insert(taken.rest.end(), argv + i, argv + argc);
  return taken;
}

KEEL_INLINE void leave_rest(std::span<char* const> rest, int& argc, char** argv) {
  std::copy(rest.begin(), rest.end(), argv);
  if (int(rest.size()) < argc) argv[rest.size()] = nullptr;
  argc = int(rest.size());
}

} // namespace keel::device
