// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// An observer that writes a line of JSON for each copy, write and routine; `keel-info trace` and `keel-info report`
/// read them.

#include <keel/impl/validity/device_span.hpp>
#include <keel/policy/error.hpp>
#include <keel/policy/macros.hpp>
#include <keel/validity/observer.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace keel::residency {

/// Which run a trace is of, so that files of two runs are not added up. The ranks of the fields have to agree: one
/// rank's is sent to the others.
struct trace_identity {
  std::uint64_t run = 0; ///< random, the same for all traces of a process
  int part = 1;          ///< counts the traced fields of a process
  int ranks = 0;         ///< of the fields; 0 if a driver does not know it
};

namespace detail {

struct trace_line;

} // namespace detail

/// The file of one rank: a header, then lines in the order of the events, each a flat object. The header has `keel`
/// (`trace`), `version`, `run` (16 hexadecimal digits), `part`, `rank`, `ranks`, `begin`, and, if
/// the system says it, `host` and `threads`, the hardware threads that the process might run on then, as `0-3,8`.
///
/// | `what` | besides `time` and `rank` |
/// |---|---|
/// | `copy` | `variable level component region from to bytes routine took` |
/// | `exchange`, `accumulate`, `repartition`, `migrate`, `renew_ghosts`, `reorder`, `regrid` | `variable level component bytes began took waited`: what this rank sent; `waited` of `took` for messages |
/// | `create` | `variable memory` |
/// | `write` | `variable level component region memory routine`: it is now valid only there |
/// | `cycle`, `rewind`, `cycle_in_place` | `variable levels` |
/// | `components` | `variable kept`: of a `regrid`; by component the one that it was, as `2,0,-1`, negative for none |
/// | `routine` | `routine memory took`; written when it has ended; of a routine in pieces, one for each |
/// | `reduce` | `reduction took`: when the ranks waited for its value; its `routine` line has its name, too |
/// | `kernels` | `routine memory took`: when a device ran what the routine gave it; only of devices that say it |
/// | `knob` | `option device value source`; those of the runtime, `device` empty for the program's own |
/// | `entry` | `schedule number depth kind name memory`: the schedule's entries, before its first step |
/// | `flow` | `schedule writer reader data copied crosses`: what an entry reads of another's; see `explain` |
/// | `end` | the last line; a file without it is of a process that was killed, or that still runs |
///
/// `time` counts microseconds from `begin` of the header, microseconds since 1970. `took` is how long the
/// program's thread was held up: a copy to a device, one to the host that began early, and kernels of a device go on
/// after it. What travels together shares the time by bytes. The time of an exchange that overlaps with routines is
/// that of its two halves, before the end of the second; `began` is when the first half did, which may be within a
/// routine in pieces: the name of its `entry` says so. Nothing is written before `open`.
///
/// A line that cannot be written is an error of the call that it is about, and the last of its file. If the end of a
/// file is lost in a destructor, the trace says so on standard error, and the process ends with code 2 if `main`
/// returned another.
class trace : public unobserved {
public:
  trace() = default;
  trace(trace const&) = delete;
  trace& operator=(trace const&) = delete;
  ~trace();
  static constexpr bool is_told = true;

  /// That of the next trace of this process, on so many ranks.
  [[nodiscard]] static trace_identity next(int ranks);
  /// `name.rank.jsonl`; the second one of a process is `name.rank.2.jsonl`.
  [[nodiscard]] static std::string path_of(std::string const& name, int rank, int part) {
    return name + '.' + std::to_string(rank) + (part == 1 ? "" : '.' + std::to_string(part)) + ".jsonl";
  }
  /// Begins the file. Throws `keel::error` if it cannot be written, or holds something already.
  void open(std::string const& path, int rank, std::vector<std::string> memories,
            trace_identity const& which = next(0));
  /// Ends it; also the destructor does. Throws if not all could be written.
  void close();

  void add(std::string_view name, int levels, int, region_bytes const& bytes);
  void keep(int variables); ///< the first ones
  void resize(int variable, int component, region_bytes const& bytes);
  void renumber(int variable, std::span<int const> kept);
  void create(int variable, memory m);
  void before(std::span<transfer const>, std::string_view) { begun_ = clock::now(); }
  void after(std::span<transfer const> batch, std::string_view routine, bool done);
  void before_exchange() { begun_ = clock::now(), waited_ = {}; }
  void before_wait() { wait_begun_ = clock::now(); }
  void after_wait() { waited_ += clock::now() - wait_begun_; }
  void after_exchange(std::span<sent const> all, bool done);
  void rotate(int variable, rotation how);
  void write(request const& what, int component, memory m, std::string_view routine);
  /// When a routine began; what `end_routine` gets.
  [[nodiscard]] std::chrono::steady_clock::time_point begin_routine() const { return clock::now(); }
  /// `ran` is when its device runs it, if the device says that.
  void end_routine(std::chrono::steady_clock::time_point begun, std::string_view routine, memory m,
                   std::shared_ptr<detail::device_span> ran = {});
  void end_reduction(std::chrono::steady_clock::time_point begun, std::string_view reduction);
  /// A row of the runtime's table of knobs.
  void knob(std::string_view option, std::string_view on_device, std::string_view value, std::string_view source);
  /// Whether the graph of this schedule has not been written yet. From then on it counts as written.
  [[nodiscard]] bool begins_schedule(std::string_view name);
  void entry(std::string_view schedule, std::size_t number, int depth, std::string_view kind, std::string_view name,
             std::string_view memory);
  void flow(std::string_view schedule, std::size_t writer, std::size_t reader, std::string_view data,
            std::string_view copied, bool crosses);

private:
  using clock = std::chrono::steady_clock;
  struct traced_variable {
    std::string name;
    int levels;
    std::vector<region_bytes> bytes; // by component; those after the last are like the first
    clock::duration sending{};       // in the first half of an exchange that has not ended
    clock::time_point began{};       // that half
  };
  struct kernels {
    std::string_view routine;
    memory where;
    std::shared_ptr<detail::device_span> ran;
  };
  struct closer {
    void operator()(std::FILE* f) const noexcept;
  };

  [[nodiscard]] static double microseconds(clock::duration d) {
    return std::chrono::duration<double, std::micro>(d).count();
  }
  static constexpr int no_variable = -1;
  template <class... More>
  void put(char const* what, clock::time_point when, int variable, More const&... more);
  void write_line(detail::trace_line const& line);
  void write_kernels();
  [[noreturn]] void throw_lost(int code);

  std::unique_ptr<std::FILE, closer> file_;
  std::string path_;
  // Bytes that stdio may hold, 4 KiB or more: they go out between two lines, so a process that is killed leaves whole
  // ones.
  std::size_t in_buffer_ = 0;
  int rank_ = 0;
  clock::time_point origin_, begun_, wait_begun_;
  clock::duration waited_{};
  std::deque<kernels> queued_; // on devices, in the order of the calls
  std::vector<std::string> memories_;
  std::vector<traced_variable> variables_;
  std::vector<std::string> schedules_; // that were written
};

} // namespace keel::residency

#if !KEEL_COMPILED
#include <keel/impl/validity/trace.ipp>
#endif
