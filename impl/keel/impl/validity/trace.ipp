// SPDX-License-Identifier: MIT
#include <keel/validity/trace.hpp>
#include <keel/policy/file_limit.hpp>
#include <keel/machine/host.hpp>
#include <keel/policy/json.hpp>
#include <keel/policy/printable.hpp>
#include <keel/topology/affinity.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <concepts>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

namespace keel::residency::detail {

/// Changes the exit code of a process that lost something when nothing could be thrown: `main` may have returned 0.
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

/// A line: an object of JSON, member by member.
struct trace_line {
  std::string text; ///< without the last brace

  /// Keys and values in turn.
  template <class Value, class... More>
  trace_line& add(char const* key, Value const& value, More const&... more) {
    text.append(text.empty() ? "{\"" : ",\"").append(key).append("\":").append(text_of(value));
    if constexpr (sizeof...(more) != 0) add(more...);
    return *this;
  }

private:
  static std::string text_of(std::string_view value) { return policy::json_text(value); }
  static std::string text_of(std::integral auto value) { return std::to_string(value); }
  static std::string text_of(double value) {
    char digits[40];
    std::snprintf(digits, sizeof digits, "%.3f", value);
    return digits;
  }
};

} // namespace keel::residency::detail

namespace keel::residency {

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
  close();
  path_ = path;
  struct stat there{};
  auto const begin = [&](char const* how) { return file_.reset(std::fopen(path.c_str(), how)), file_ ? 0 : errno; };
  int code = begin("wxe");
  if (code == EEXIST && ::stat(path.c_str(), &there) == 0 && !S_ISREG(there.st_mode)) code = begin("we"); // a pipe
  if (code == EEXIST)
    throw error("residency::traced", "the trace " + path + " is there already", "it may be of another run",
                "Move it, or name another with trace-file", code);
  if (code != 0)
    throw error("residency::traced", "the trace " + path + " cannot be written", std::strerror(code),
                "Name another file", code);
  origin_ = clock::now();
  auto const epoch =
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch());
  char run[24];
  std::snprintf(run, sizeof run, "%016llx", static_cast<unsigned long long>(which.run));
  detail::trace_line header;
  header.add("keel", "trace", "version", 4, "run", run, "part", which.part, "rank", rank, "ranks", which.ranks);
  header.add("begin", epoch.count(), "of_keel", KEEL_VERSION);
#if defined(__linux__)
  header.add("program", std::string_view(program_invocation_short_name));
#endif
  try {
    auto const threads = topology::to_string(topology::process_hardware_threads());
    header.add("host", machine::host_name(), "threads", threads);
  } catch (error const&) { // the system does not say where this process runs
  }
  write_line(header);
}

// Nothing is written after what was lost.
KEEL_INLINE void trace::throw_lost(int code) {
  file_.reset();
  throw error("residency::traced", "the trace " + path_ + " is not whole", std::strerror(code), "Make room for it",
              code);
}

KEEL_INLINE void trace::closer::operator()(std::FILE* f) const noexcept {
  policy::file_limit_refuses const longer; // what it still holds
  std::fclose(f);
}

KEEL_INLINE void trace::close() {
  if (!file_) return;
  write_kernels();
  put("end", clock::now(), no_variable);
  policy::file_limit_refuses const longer;
  if (std::fflush(file_.get()) != 0 || std::fclose(file_.release()) != 0) throw_lost(errno);
}

KEEL_INLINE trace::~trace() {
  try {
    close();
  } catch (std::exception const& e) {
    policy::print_line(e.what());
    detail::exit_code::of_process().fail();
  }
}

KEEL_INLINE void trace::add(std::string_view name, int levels, int, region_bytes const& bytes) {
  variables_.push_back({std::string(name), levels, {bytes}});
}
KEEL_INLINE void trace::keep(int variables) {
  while (variables_.size() > std::size_t(variables)) variables_.pop_back();
}

KEEL_INLINE void trace::resize(int variable, int component, region_bytes const& bytes) {
  auto& all = variables_[std::size_t(variable)].bytes;
  if (all.size() <= std::size_t(component)) all.resize(std::size_t(component) + 1, all[0]);
  all[std::size_t(component)] = bytes;
}

KEEL_INLINE void trace::renumber(int variable, std::span<int const> kept) {
  std::string numbers;
  for (int const c : kept) numbers.append(numbers.empty() ? "" : ",").append(std::to_string(c));
  if (file_) put("components", clock::now(), variable, "kept", numbers);
}

// A line: `what`, `time`, `rank`, of one the `variable`, then `more`, keys and values in turn.
template <class... More>
void trace::put(char const* what, clock::time_point when, int variable, More const&... more) {
  detail::trace_line made;
  made.add("what", what, "time", microseconds(when - origin_), "rank", rank_);
  if (variable != no_variable) made.add("variable", variables_[std::size_t(variable)].name);
  if constexpr (sizeof...(more) != 0) made.add(more...);
  write_line(made);
}

KEEL_INLINE void trace::create(int variable, memory m) {
  if (file_) put("create", clock::now(), variable, "memory", memories_[std::size_t(m)]);
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
    put("copy", when, t.variable, "level", t.level, "component", t.component, "region", name_of(t.where), "from",
        memories_[std::size_t(t.from)], "to", memories_[std::size_t(t.to)], "bytes", bytes, "routine", routine, "took",
        share * microseconds(took));
  }
}

// The variables share the time by bytes; evenly, if nothing left this rank.
KEEL_INLINE void trace::after_exchange(std::span<sent const> all, bool done) {
  if (!file_) return;
  auto const now = clock::now();
  double bytes = 0;
  for (sent const& s : all) bytes += double(s.bytes);
  auto const share = [&](sent const& s, clock::duration whole) {
    return clock::duration(
        clock::rep(double(whole.count()) * (bytes > 0 ? double(s.bytes) / bytes : 1 / double(all.size()))));
  };
  auto when = begun_;
  for (sent const& s : all) {
    traced_variable& of = variables_[std::size_t(s.variable)];
    if (done) when -= of.sending;
    else of.sending += share(s, now - begun_), of.began = begun_;
  }
  if (!done) return;
  for (sent const& s : all) {
    traced_variable& of = variables_[std::size_t(s.variable)];
    auto const took = std::exchange(of.sending, {}) + share(s, now - begun_);
    put(s.entry.data(), when, s.variable, "level", s.level, "component", s.component, "bytes", s.bytes, "began",
        microseconds(of.began - origin_), "took", microseconds(took), "waited", microseconds(share(s, waited_)));
    when += took;
  }
}

KEEL_INLINE void trace::rotate(int variable, rotation how) {
  if (!file_) return;
  int const levels = variables_[std::size_t(variable)].levels;
  put(words_of(how).name.data(), clock::now(), variable, "levels", levels);
}

KEEL_INLINE void trace::write(request const& what, int component, memory m, std::string_view routine) {
  if (!file_ || what.writes == region::none) return;
  put("write", clock::now(), what.variable, "level", what.level, "component", component, "region", name_of(what.writes),
      "memory", memories_[std::size_t(m)], "routine", routine);
}

KEEL_INLINE void trace::end_routine(clock::time_point begun, std::string_view routine, memory m,
                                    std::shared_ptr<detail::device_span> ran) {
  if (!file_) return;
  auto const took = clock::now() - begun;
  put("routine", begun, no_variable, "routine", routine, "memory", memories_[std::size_t(m)], "took",
      microseconds(took));
  if (ran) queued_.push_back({routine, m, std::move(ran)});
  write_kernels();
}

KEEL_INLINE void trace::end_reduction(clock::time_point begun, std::string_view reduction) {
  if (file_) put("reduce", begun, no_variable, "reduction", reduction, "took", microseconds(clock::now() - begun));
}

// Those that have been run. What a queue dropped is held by nothing else.
KEEL_INLINE void trace::write_kernels() {
  for (; !queued_.empty(); queued_.pop_front()) {
    auto const& [routine, where, ran] = queued_.front();
    bool const is_dropped = ran.use_count() == 1;
    auto const end = ran->end.load(std::memory_order_acquire), begin = ran->begin.load(std::memory_order_relaxed);
    if (end == 0 && !is_dropped) return;
    if (end != 0)
      put("kernels", clock::time_point(clock::duration(begin)), no_variable, "routine", routine, "memory",
          memories_[std::size_t(where)], "took", microseconds(clock::duration(end - begin)));
  }
}

KEEL_INLINE void trace::knob(std::string_view option, std::string_view on_device, std::string_view value,
                             std::string_view source) {
  if (!file_) return;
  put("knob", clock::now(), no_variable, "option", option, "device", on_device, "value", value, "source", source);
}

KEEL_INLINE bool trace::begins_schedule(std::string_view name) {
  if (!file_ || std::find(schedules_.begin(), schedules_.end(), name) != schedules_.end()) return false;
  schedules_.emplace_back(name);
  return true;
}

KEEL_INLINE void trace::entry(std::string_view schedule, std::size_t number, int depth, std::string_view kind,
                              std::string_view name, std::string_view memory) {
  put("entry", clock::now(), no_variable, "schedule", schedule, "number", number, "depth", depth, "kind", kind, "name",
      name, "memory", memory);
}

KEEL_INLINE void trace::flow(std::string_view schedule, std::size_t writer, std::size_t reader, std::string_view data,
                             std::string_view copied, bool crosses) {
  put("flow", clock::now(), no_variable, "schedule", schedule, "writer", writer, "reader", reader, "data", data,
      "copied", copied, "crosses", crosses);
}

// Writes the line in full, or throws. Flushes between lines, so that a killed process leaves whole ones.
KEEL_INLINE void trace::write_line(detail::trace_line const& line) {
  std::string const text = line.text + "}\n";
  bool const fits = (in_buffer_ += text.size()) <= 4096; // the bytes that stdio holds, or fewer
  auto const put_all = [&] { return std::fwrite(text.data(), 1, text.size(), file_.get()) == text.size(); };
  if (fits && put_all()) return;
  policy::file_limit_refuses const longer;
  if (!fits) in_buffer_ = text.size();
  if (!fits && std::fflush(file_.get()) == 0 && put_all()) return;
  throw_lost(errno);
}

} // namespace keel::residency
