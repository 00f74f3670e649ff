// SPDX-License-Identifier: MIT
#include <keel/impl/device/read.hpp>
#include <keel/policy/error.hpp>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>
#include <unistd.h>

namespace keel::device {

KEEL_INLINE std::string last_said(std::span<assignment const> all, knob_facts const& row) {
  assignment const* last = nullptr;
  for (auto const& a : all)
    if (a.row == &row && (last == nullptr || a.from >= last->from)) last = &a;
  return last == nullptr ? std::string{} : last->where + "=" + last->text + ": ";
}

KEEL_INLINE found_variables read_environment(option_names const& names) {
  found_variables found;
  std::string const ours = variable_prefix(names.prefix);
  for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
    std::string_view const entry = *at;
    if (!entry.starts_with(ours) || entry.find('=') == entry.npos) continue;
    std::string const variable{entry.substr(0, entry.find('='))};
    if (auto const known = find_knob(std::string_view{variable}.substr(ours.size()), names, true)) {
      found.knobs.push_back(
          {known->row, std::string{entry.substr(variable.size() + 1)}, variable, source::environment, known->device});
    } else {
      found.unknown.push_back(variable);
    }
  }
  std::sort(found.knobs.begin(), found.knobs.end(), [](auto const& a, auto const& b) { return a.where < b.where; });
  return found;
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
      if (word.starts_with(keels) && find_knob(word.substr(keels.size(), word.find('=') - keels.size()), names))
        taken.for_another.emplace_back(word.substr(0, word.find('=')));
      taken.rest.push_back(argv[i]);
      continue;
    }
    std::string_view const body = word.substr(ours.size());
    std::string_view const option = body.substr(0, body.find('='));
    bool const has_value = option.size() < body.size();
    std::string where{word.substr(0, ours.size() + option.size())};
    auto const known = find_knob(option, names);
    if (!known)
      throw error("device", "unknown option " + where, "no knob has this name",
                  "Did you mean " + ours + std::string{nearest_option(option)});
    auto const take = [&](std::string text) {
      taken.knobs.push_back({known->row, std::move(text), std::move(where), source::command_line, known->device});
    };
    if (has_value) {
      if (known->row->placeholder.empty())
        throw error("device", std::string{word} + " has a value", "this option is a switch", "Write " + where);
      take(std::string{body.substr(option.size() + 1)});
    } else if (known->row->is_switch()) {
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

namespace detail {

[[nodiscard]] inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  auto const begin = text.find_first_not_of(blanks);
  return begin == text.npos ? std::string_view{} : text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

/// All of a file. Refuses one that cannot be read, and one that is too large to be meant. `where`: what names it, an
/// option or a variable; empty if the program does.
[[nodiscard]] inline std::string content_of(std::string const& path, std::string const& where) {
  constexpr std::size_t most = std::size_t{1} << 20;
  auto const refuse = [&](std::string const& why, int code = 0) {
    std::string const at = where.empty() ? "" : where + ": ";
    throw error("device", at + "the configuration file '" + path + "' cannot be read", why, "Name another file", code);
  };
  std::error_code failed;
  if (std::filesystem::is_other(path, failed)) refuse("it is not a regular file"); // a pipe would wait for its writer
  struct closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, closer> const file(std::fopen(path.c_str(), "rb"));
  if (!file) refuse(std::generic_category().message(errno), errno);
  std::string text;
  char piece[4096];
  while (auto const n = std::fread(piece, 1, sizeof piece, file.get())) {
    text.append(piece, n);
    if (text.size() > most) refuse("it has more than " + std::to_string(most) + " bytes");
  }
  if (std::ferror(file.get()) != 0) refuse(std::generic_category().message(errno), errno);
  if (text.find('\0') != text.npos) refuse("it is not a text");
  return text;
}

/// Whether a device is called so, of the program's own or of keel's.
[[nodiscard]] inline bool is_device(std::string_view name, option_names const& names) {
  auto const is_in = [&](auto const& all) { return std::find(all.begin(), all.end(), name) != all.end(); };
  return is_in(names.devices) || is_in(known_devices);
}

} // namespace detail

KEEL_INLINE std::vector<assignment> parse_config(option_names const& names, std::string const& path,
                                                 std::string_view text) {
  std::vector<assignment> found;
  std::string section;
  if (constexpr std::string_view mark = "\xef\xbb\xbf"; text.starts_with(mark)) text.remove_prefix(mark.size());
  for (int number = 1; !text.empty(); ++number) {
    auto const line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    auto const words = detail::trimmed(line);
    if (words.empty() || words.front() == '#' || words.front() == ';') continue;
    std::string const at = path + ":" + std::to_string(number) + ": ";
    auto const refuse = [&](std::string const& what, std::string const& why, std::string const& hint) {
      throw error("device", at + what, why, hint);
    };
    if (words.size() > 4096)
      refuse("the line has " + std::to_string(words.size()) + " bytes", "no knob takes so much",
             "Is this a file of knobs");
    if (words.front() == '[') {
      if (words.back() != ']' || words.size() < 3)
        refuse("'" + std::string{words} + "' is not a section", "it has no ] at its end, or no name", "Write [serial]");
      section = detail::trimmed(words.substr(1, words.size() - 2));
      if (!detail::is_device(section, names))
        refuse("there is no device '" + section + "'", "a section holds the knobs of one device",
               "Write a device, as in [serial]");
      continue;
    }
    auto const equals = words.find('=');
    if (equals == words.npos)
      refuse("'" + std::string{words} + "' is not a setting",
             "it has no =", "Write num-threads = 4, or # before a comment");
    std::string const key{detail::trimmed(words.substr(0, equals))};
    auto const known = find_knob(section.empty() ? key : section + "-" + key, names);
    if (!known)
      refuse("unknown knob '" + key + "'" + (section.empty() ? "" : " of " + section),
             section.empty() ? "no knob has this name" : "no device has a knob of this name",
             "Did you mean " + std::string{nearest_option(key)});
    if (known->row == &facts("config"))
      refuse("a configuration file names another one", "only one is read",
             "Name that one with " + option_prefix(names.prefix) + key);
    for (auto const& before : found)
      if (before.row == known->row && before.device == known->device)
        refuse(key + " is set twice", before.where + " is the first", "Remove one");
    std::string value{detail::trimmed(words.substr(equals + 1))};
    found.push_back({known->row, std::move(value), at + key, source::file, known->device});
  }
  return found;
}

KEEL_INLINE std::vector<assignment> with_config(option_names const& names, std::string const& proposed,
                                                std::vector<assignment> all) {
  std::string path = proposed, where;
  for (auto const& a : all)
    if (a.row == &facts("config")) {
      program_settings told;
      a.row->of_program->store(told, a);
      path = told.config;
      where = a.where;
    }
  if (path.empty()) return all;
  auto knobs = parse_config(names, path, detail::content_of(path, where));
  knobs.insert(knobs.end(), all.begin(), all.end());
  return knobs;
}

} // namespace keel::device
