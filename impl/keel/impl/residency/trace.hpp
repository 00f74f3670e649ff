// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How the lines of a trace are made.

#include <keel/policy/error.hpp>
#include <keel/residency/trace.hpp>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

namespace keel::residency {

namespace detail {

/// A text between quotes, as JSON wants it.
[[nodiscard]] inline std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\', out += c;
    else if (static_cast<unsigned char>(c) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", unsigned(static_cast<unsigned char>(c)));
      out += code;
    } else out += c;
  }
  return out + '"';
}

/// `,"key":value`, numbers as they are.
[[nodiscard]] inline std::string member(char const* key, std::string_view value) { return ",\"" + std::string(key) + "\":" + quoted(value); }
[[nodiscard]] inline std::string member(char const* key, std::uint64_t value) { return ",\"" + std::string(key) + "\":" + std::to_string(value); }
[[nodiscard]] inline std::string member(char const* key, double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.3f", value);
  return ",\"" + std::string(key) + "\":" + text;
}

} // namespace detail

inline void trace::open(std::string const& path, int rank, std::vector<std::string> memories) {
  path_ = path, rank_ = rank, memories_ = std::move(memories);
  file_.reset(std::fopen(path.c_str(), "w"));
  if (!file_)
    throw error("residency::traced", "the trace " + path + " cannot be written", std::strerror(errno), "Name another file", errno);
  origin_ = clock::now();
  auto const epoch = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch());
  put("{\"keel\":\"trace\"" + detail::member("version", std::uint64_t{1}) + detail::member("rank", std::uint64_t(rank)) +
      detail::member("begin", std::uint64_t(epoch.count())) + "}\n");
}

inline void trace::close() {
  if (!file_) return;
  bool const was_bad = std::ferror(file_.get()) != 0;
  if (std::fclose(file_.release()) != 0 || was_bad)
    throw error("residency::traced", "the trace " + path_ + " is not whole", std::strerror(errno), "Make room for it", errno);
}

inline void trace::create(int variable, memory m) {
  if (file_) put(line("create", clock::now(), variable) + detail::member("memory", memories_[std::size_t(m)]) + "}\n");
}

inline void trace::after(std::span<transfer const> batch, std::string_view routine, bool done) {
  if (!file_ || !done) return;
  auto const took = clock::now() - begun_;
  auto const bytes_of = [&](transfer const& t) {
    std::uint64_t bytes = 0;
    auto const& by_component = variables_[std::size_t(t.variable)].bytes;
    auto const& of = by_component[std::size_t(t.component) < by_component.size() ? std::size_t(t.component) : 0];
    for (region one : single_regions)
      if (overlap(one, t.where)) bytes += of[std::size_t(index_of(one))];
    return bytes;
  };
  double all = 0, gone = 0; // bytes: the batch shares its time by them
  for (transfer const& t : batch) all += double(bytes_of(t));
  for (transfer const& t : batch) {
    std::uint64_t const bytes = bytes_of(t);
    double const share = all > 0 ? double(bytes) / all : 0;
    auto const when = begun_ + clock::duration(clock::rep(double(took.count()) * gone));
    gone += share;
    put(line("copy", when, t.variable) + detail::member("level", std::uint64_t(t.level)) +
        detail::member("component", std::uint64_t(t.component)) + detail::member("region", name_of(t.where)) +
        detail::member("from", memories_[std::size_t(t.from)]) + detail::member("to", memories_[std::size_t(t.to)]) +
        detail::member("bytes", bytes) + detail::member("routine", routine) + detail::member("took", share * microseconds(took)) + "}\n");
  }
}

inline void trace::exchange(int variable, int level, int component, std::uint64_t bytes) {
  if (!file_) return;
  put(line("exchange", begun_, variable) + detail::member("level", std::uint64_t(level)) +
      detail::member("component", std::uint64_t(component)) + detail::member("bytes", bytes) +
      detail::member("took", microseconds(clock::now() - begun_)) + "}\n");
  begun_ = clock::now();
}

inline std::string trace::path_of(std::string const& name, int rank) {
  static std::atomic<int> made = 0;
  int const before = made++;
  return name + '.' + std::to_string(rank) + (before == 0 ? "" : '.' + std::to_string(before + 1)) + ".jsonl";
}

inline std::string trace::line(char const* what, clock::time_point when, int variable) const {
  return "{\"what\":" + detail::quoted(what) + detail::member("time", microseconds(when - origin_)) +
         detail::member("rank", std::uint64_t(rank_)) + detail::member("variable", variables_[std::size_t(variable)].name);
}

// In full, or the program is told.
inline void trace::put(std::string const& text) {
  if (std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size())
    throw error("residency::traced", "the trace " + path_ + " is not whole", std::strerror(errno), "Make room for it", errno);
}

} // namespace keel::residency
