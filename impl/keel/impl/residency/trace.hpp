// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How the lines of a trace are made.

#include <keel/machine/host.hpp>
#include <keel/policy/error.hpp>
#include <keel/policy/json.hpp>
#include <keel/residency/trace.hpp>
#include <keel/topology/affinity.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <sys/random.h>
#include <unistd.h>

namespace keel::residency {

namespace detail {

/// Changes the exit code of a process that lost something where nothing could be thrown: `main` may have returned 0.
/// Made at the first use, so that what was made later ends before it.
class exit_code {
public:
  static exit_code& of_process() {
    static exit_code one;
    return one;
  }
  exit_code() = default;
  exit_code(exit_code const&) = delete;
  exit_code& operator=(exit_code const&) = delete;
  ~exit_code() {
    if (!has_failed_) return;
    std::fflush(nullptr);
    std::_Exit(2);
  }
  void fail() noexcept { has_failed_ = true; }

private:
  std::atomic<bool> has_failed_ = false;
};

/// `,"key":value`, numbers as they are.
[[nodiscard]] inline std::string member(char const* key, std::string_view value) {
  return ",\"" + std::string(key) + "\":" + policy::json_text(value);
}
[[nodiscard]] inline std::string member(char const* key, std::uint64_t value) {
  return ",\"" + std::string(key) + "\":" + std::to_string(value);
}
[[nodiscard]] inline std::string member(char const* key, double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.3f", value);
  return ",\"" + std::string(key) + "\":" + text;
}

/// Where this process runs, as members of a header; nothing if the system does not say.
[[nodiscard]] inline std::string place_members() {
  try {
    auto const threads = topology::process_hardware_threads();
    return member("host", machine::host_name()) + member("threads", topology::to_string(threads));
  } catch (error const&) {
    return {};
  }
}

/// 0, or errno's code where not all was written.
[[nodiscard]] inline int finish(std::FILE* f) noexcept {
  errno = 0;
  bool const was_bad = std::ferror(f) != 0;
  if (std::fclose(f) != 0) return errno != 0 ? errno : EIO;
  return was_bad ? EIO : 0;
}

KEEL_INLINE void trace_closer::operator()(std::FILE* f) const noexcept {
  int const code = finish(f);
  if (code == 0 || is_told) return;
  std::fprintf(stderr, "keel::residency::traced: the trace %s is not whole (%s). Make room for it?\n", path.c_str(),
               std::strerror(code));
  exit_code::of_process().fail();
}

} // namespace detail

KEEL_INLINE trace_identity trace::next(int ranks) {
  static std::atomic<int> made = 0;
  static std::uint64_t const run = [] {
    std::uint64_t random = 0;
    if (getrandom(&random, sizeof random, 0) == ssize_t(sizeof random)) return random;
    return std::uint64_t(std::chrono::system_clock::now().time_since_epoch().count()) ^ std::uint64_t(getpid()) << 32;
  }();
  return {run, ++made, ranks};
}

KEEL_INLINE void trace::open(std::string const& path, int rank, std::vector<std::string> memories,
                        trace_identity const& which) {
  rank_ = rank, memories_ = std::move(memories);
  (void)detail::exit_code::of_process();
  file_.reset();
  file_.get_deleter() = {path};
  file_.reset(std::fopen(path.c_str(), "we"));
  if (!file_)
    throw error("residency::traced", "the trace " + path + " cannot be written", std::strerror(errno),
                "Name another file", errno);
  origin_ = clock::now();
  auto const epoch =
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch());
  char run[24];
  std::snprintf(run, sizeof run, "%016llx", static_cast<unsigned long long>(which.run));
  put("{\"keel\":\"trace\"" + detail::member("version", std::uint64_t{3}) +
      detail::member("run", std::string_view(run)) + detail::member("part", std::uint64_t(which.part)) +
      detail::member("rank", std::uint64_t(rank)) + detail::member("ranks", std::uint64_t(which.ranks)) +
      detail::member("begin", std::uint64_t(epoch.count())) + detail::place_members() + "}\n");
}

KEEL_INLINE error trace::lost(std::string const& path, int code) {
  return error("residency::traced", "the trace " + path + " is not whole", std::strerror(code), "Make room for it",
               code);
}

KEEL_INLINE void trace::close() {
  if (!file_) return;
  if (int const code = detail::finish(file_.release()); code != 0) throw lost(file_.get_deleter().path, code);
}

KEEL_INLINE void trace::add(std::string_view name, int levels, int, region_bytes const& bytes) {
  variables_.push_back({std::string(name), levels, {bytes}});
}

KEEL_INLINE void trace::resize(int variable, int component, region_bytes const& bytes) {
  auto& all = variables_[std::size_t(variable)].bytes;
  if (all.size() <= std::size_t(component)) all.resize(std::size_t(component) + 1, all[0]);
  all[std::size_t(component)] = bytes;
}

KEEL_INLINE void trace::create(int variable, memory m) {
  if (file_) put(line("create", clock::now(), variable) + detail::member("memory", memories_[std::size_t(m)]) + "}\n");
}

KEEL_INLINE void trace::after(std::span<transfer const> batch, std::string_view routine, bool done) {
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
        detail::member("bytes", bytes) + detail::member("routine", routine) +
        detail::member("took", share * microseconds(took)) + "}\n");
  }
}

KEEL_INLINE void trace::exchange(int variable, int level, int component, std::uint64_t bytes) {
  if (!file_) return;
  put(line("exchange", begun_, variable) + detail::member("level", std::uint64_t(level)) +
      detail::member("component", std::uint64_t(component)) + detail::member("bytes", bytes) +
      detail::member("took", microseconds(clock::now() - begun_)) + "}\n");
  begun_ = clock::now();
}

KEEL_INLINE void trace::rotate(int variable, rotation how) {
  if (!file_) return;
  auto const levels = std::uint64_t(variables_[std::size_t(variable)].levels);
  put(line(words_of(how).name.data(), clock::now(), variable) + detail::member("levels", levels) + "}\n");
}

KEEL_INLINE void trace::write(request const& what, int component, memory m, std::string_view routine) {
  if (!file_ || what.writes == region::none) return;
  put(line("write", clock::now(), what.variable) + detail::member("level", std::uint64_t(what.level)) +
      detail::member("component", std::uint64_t(component)) + detail::member("region", name_of(what.writes)) +
      detail::member("memory", memories_[std::size_t(m)]) + detail::member("routine", routine) + "}\n");
}

KEEL_INLINE void trace::end_routine(clock::time_point begun, std::string_view routine, memory m) {
  if (!file_) return;
  auto const took = clock::now() - begun;
  put(line("routine", begun) + detail::member("routine", routine) +
      detail::member("memory", memories_[std::size_t(m)]) + detail::member("took", microseconds(took)) + "}\n");
}

KEEL_INLINE void trace::knob(std::string_view option, std::string_view on_device, std::string_view value,
                        std::string_view source) {
  if (!file_) return;
  put(line("knob", clock::now()) + detail::member("option", option) + detail::member("device", on_device) +
      detail::member("value", value) + detail::member("source", source) + "}\n");
}

KEEL_INLINE bool trace::begins_schedule(std::string_view name) {
  if (!file_ || std::find(schedules_.begin(), schedules_.end(), name) != schedules_.end()) return false;
  schedules_.emplace_back(name);
  return true;
}

KEEL_INLINE void trace::entry(std::string_view schedule, std::size_t number, int depth, std::string_view kind,
                         std::string_view name, std::string_view memory) {
  put(line("entry", clock::now()) + detail::member("schedule", schedule) +
      detail::member("number", std::uint64_t(number)) + detail::member("depth", std::uint64_t(depth)) +
      detail::member("kind", kind) + detail::member("name", name) + detail::member("memory", memory) + "}\n");
}

KEEL_INLINE void trace::flow(std::string_view schedule, std::size_t writer, std::size_t reader, std::string_view data,
                        std::string_view copied, bool crosses) {
  put(line("flow", clock::now()) + detail::member("schedule", schedule) +
      detail::member("writer", std::uint64_t(writer)) + detail::member("reader", std::uint64_t(reader)) +
      detail::member("data", data) + detail::member("copied", copied) +
      detail::member("crosses", std::uint64_t(crosses)) + "}\n");
}

KEEL_INLINE std::string trace::path_of(std::string const& name, int rank, int part) {
  return name + '.' + std::to_string(rank) + (part == 1 ? "" : '.' + std::to_string(part)) + ".jsonl";
}

KEEL_INLINE std::string trace::line(char const* what, clock::time_point when) const {
  return "{\"what\":" + policy::json_text(what) + detail::member("time", microseconds(when - origin_)) +
         detail::member("rank", std::uint64_t(rank_));
}
KEEL_INLINE std::string trace::line(char const* what, clock::time_point when, int variable) const {
  return line(what, when) + detail::member("variable", variables_[std::size_t(variable)].name);
}

// In full, or the program is told.
KEEL_INLINE void trace::put(std::string const& text) {
  if (std::fwrite(text.data(), 1, text.size(), file_.get()) == text.size()) return;
  int const code = errno;
  file_.get_deleter().is_told = true;
  throw lost(file_.get_deleter().path, code);
}

} // namespace keel::residency
