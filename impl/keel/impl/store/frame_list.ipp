// SPDX-License-Identifier: MIT
#pragma once

#include <keel/impl/store/frame_list.hpp>

#include <keel/impl/store/folder_lock.hpp>
#include <keel/impl/store/read_file.hpp>
#include <keel/policy/error.hpp>
#include <keel/policy/json.hpp>
#include <keel/policy/log.hpp>

#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

// Sources that compile keel with their own code would pay for it, each.
#if KEEL_COMPILED && __has_include(<nlohmann/json.hpp>)
#include <nlohmann/json.hpp>
#endif

namespace keel::residency::detail {

inline std::string without_folder(std::string const& path) { return path.substr(path.rfind('/') + 1); }

KEEL_INLINE std::string name_of_frame(std::string const& stem, std::int64_t step) {
  std::string number = std::to_string(step);
  if (number.size() < 6) number.insert(0, 6 - number.size(), '0');
  return stem + "." + number + ".vtkhdf";
}

/// -1 if that is no name of a frame.
inline std::int64_t step_of_frame(std::string const& stem, std::string_view name) {
  std::string const begin = without_folder(stem) + ".";
  std::int64_t step = -1;
  if (!name.starts_with(begin)) return -1;
  auto const [end, failed] = std::from_chars(name.data() + begin.size(), name.data() + name.size(), step);
  return failed == std::errc{} && step >= 0 && without_folder(name_of_frame(stem, step)) == name ? step : -1;
}

KEEL_INLINE std::string text_of_frame(std::string const& stem, std::int64_t step, double time) {
  char number[40];
  static_cast<void>(std::snprintf(number, sizeof number, "%.17g", time));
  return "{\"name\": " + policy::json_text(without_folder(name_of_frame(stem, step))) + ", \"time\": " + number + "}";
}

KEEL_INLINE std::string text_of(frame_list const& list) {
  std::string text = "{\n";
  for (std::string const& member : list.others) text += "  " + member + ",\n";
  text += "  \"files\": [";
  char const* before = "\n    ";
  for (auto const& [step, frame] : list.frames) text += std::exchange(before, ",\n    ") + frame;
  return text + "\n  ]\n}\n";
}

/// Returns false if that is no list.
inline bool read_list([[maybe_unused]] std::string const& text, [[maybe_unused]] std::string const& stem,
                      [[maybe_unused]] frame_list& into) {
#if KEEL_COMPILED && __has_include(<nlohmann/json.hpp>)
  auto const all = nlohmann::ordered_json::parse(text, nullptr, false);
  if (!all.is_object() || !all.contains("files") || !all["files"].is_array()) return false;
  into.others.clear();
  for (auto const& [key, value] : all.items())
    if (key != "files") into.others.push_back(policy::json_text(key) + ": " + value.dump());
  std::int64_t before_all = std::numeric_limits<std::int64_t>::min();
  for (auto const& frame : all["files"]) {
    bool const has_name = frame.is_object() && frame.contains("name") && frame["name"].is_string();
    std::int64_t const step = has_name ? step_of_frame(stem, frame["name"].get<std::string>()) : -1;
    into.frames[step < 0 ? before_all++ : step] = frame.dump();
  }
  return true;
#else
  return false;
#endif
}

inline frame_list list_frames(std::string const& stem) {
  frame_list made;
  std::error_code failed; // of a folder that cannot be read
  for (auto const& file : std::filesystem::directory_iterator(folder_of(stem), failed)) {
    std::int64_t const step = step_of_frame(stem, file.path().filename().string());
    if (step < 0) continue;
    try {
      constexpr std::string_view time_in_file = "/VTKHDF/FieldData/time";
      stored_file const all = read_file(file.path().string(), {&time_in_file, 1});
      stored_dataset const* const found = all.dataset(time_in_file);
      auto time = double(step);
      if (found != nullptr && found->type == stored_type::floating && found->content.size() == sizeof time)
        std::memcpy(&time, found->content.data(), sizeof time);
      made.frames[step] = text_of_frame(stem, step, time);
    } catch (error const&) { // it is no frame
    }
  }
  return made;
}

/// Whether all that a whole list says, a line each, is in another.
inline bool says_all_of(std::string const& list, std::string const& text) {
  if (!text.ends_with("\n  ]\n}\n")) return false;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (list.find(line.substr(0, line.find_last_not_of(',') + 1)) == std::string::npos) return false;
  return true;
}

KEEL_INLINE frame_list read_frame_list(std::string const& stem) {
  std::string const path = stem + ".vtkhdf.series";
  std::ifstream file(path);
  std::string const text{std::istreambuf_iterator<char>(file), {}};
  if (frame_list made; file.is_open() && read_list(text, stem, made)) return made;
  frame_list made = list_frames(stem);
  if (file.is_open() && !says_all_of(text_of(made), text)) {
    std::rename(path.c_str(), (path + ".broken").c_str());
    policy::log(policy::log_level::warning,
                "residency::save: " + path + " is no list of frames that can be read; it is called " + path +
                    ".broken now, and the " + policy::counted(std::int64_t(made.frames.size()), "frame") +
                    " that are there make a new one");
  }
  return made;
}

} // namespace keel::residency::detail
