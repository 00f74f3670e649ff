// SPDX-License-Identifier: MIT
#include <keel/impl/device/config_file.hpp>
#include <keel/impl/device/find_knob.hpp>
#include <keel/impl/device/kinds.hpp>
#include <keel/impl/device/table.hpp>
#include <keel/policy/error.hpp>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

namespace keel::device {

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
    auto const known = detail::find_knob(section.empty() ? key : section + "-" + key, names);
    if (!known)
      refuse("unknown knob '" + key + "'" + (section.empty() ? "" : " of " + section),
             section.empty() ? "no knob has this name" : "no device has a knob of this name",
             "Did you mean " + std::string{nearest_option(key)});
    if (known->row->id == knob::config)
      refuse("a configuration file names another one", "only one is read",
             "Name that one with " + option_prefix(names.prefix) + key);
    for (auto const& before : found)
      if (before.id == known->row->id && before.device == known->device)
        refuse(key + " is set twice", before.where + " is the first", "Remove one");
    std::string value{detail::trimmed(words.substr(equals + 1))};
    if (auto one = known->assign(std::move(value), at + key, source::file)) found.push_back(std::move(*one));
  }
  return found;
}

KEEL_INLINE std::vector<assignment> with_config(option_names const& names, std::string const& proposed,
                                                std::vector<assignment> all) {
  std::string path = proposed, where;
  for (auto const& a : all)
    if (a.id == knob::config) path = kinds::file.parse(a.where, a.text), where = a.where;
  if (path.empty()) return all;
  auto knobs = parse_config(names, path, detail::content_of(path, where));
  knobs.insert(knobs.end(), all.begin(), all.end());
  return knobs;
}

} // namespace keel::device
