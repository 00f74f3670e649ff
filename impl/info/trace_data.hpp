// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What the traces of a run hold, as data.

#include <keel/policy/error.hpp>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace keel::info {

/// One copy, or what one rank sent of a variable in an exchange, an accumulate or a migration. Times in microseconds.
struct trace_event {
  std::string variable, region, from, to, routine;
  int rank, level, component;
  std::uint64_t bytes;
  double time, took, waited;  ///< `waited` for messages, of `took`
  std::string why = {};       ///< of a copy: what had made it stale there
  std::uint64_t repeated = 0; ///< of `bytes`: what the memory held already

  [[nodiscard]] bool is_sent() const { return from == "this rank"; }
};

/// A routine that ran. `took` is how long it held the program's thread up, or the device that ran its kernels.
struct trace_routine {
  std::string routine, memory;
  bool is_on_device; ///< what the device did; another event is the call
  int rank;
  double time, took;
};

/// A knob of the run that was traced.
struct trace_knob {
  std::string option, device, value, source;
  std::set<int> ranks = {}; ///< on which it was so
};

/// The graph of a schedule: entries by number, and what one reads of another's.
struct trace_schedule {
  struct entry {
    int number, depth;
    std::string kind, name, memory;
  };
  struct flow {
    int writer, reader;
    std::string data, copied; ///< `never`, `always`, `depends`
    bool crosses;             ///< a step ends in between
  };
  std::string name;
  std::vector<entry> entries = {};
  std::vector<flow> flows = {};
};

/// What the header of a file says.
struct trace_header {
  std::string file, run;
  int part, rank, ranks; ///< `ranks` is 0 if the writer did not know
  double begin;
  std::string program = {}; ///< empty if the system did not tell, as are the next two
  std::string host = {};
  std::string threads = {}; ///< `0-3,8`: the system's numbers of the hardware threads that the rank might run on
  int of_keel = 0;          ///< KEEL_VERSION of the program; 0 in traces without it
  bool has_end = false;     ///< its last line is there
};

/// Events of all files, with times from the beginning of the earliest.
struct trace_data {
  std::vector<trace_header> headers;
  std::vector<trace_event> events;
  std::vector<trace_routine> routines;
  std::vector<trace_knob> knobs;
  std::vector<trace_schedule> schedules;
  [[nodiscard]] std::set<int> ranks() const {
    std::set<int> all;
    for (auto const& h : headers) all.insert(h.rank);
    return all;
  }
};

/// A sum over events that are alike, and when the first began and the last ended.
struct trace_sum {
  std::uint64_t times = 0, bytes = 0, repeated = 0;
  double took = 0, waited = 0, first = 0, last = 0;

  void add(trace_event const& e) {
    add(e.time, e.took);
    waited += e.waited;
    repeated += e.repeated;
    if (__builtin_add_overflow(bytes, e.bytes, &bytes))
      throw error("info", "the bytes of a variable are more than 2^64", {}, "Did a program write this");
  }
  void add(double time, double how_long) {
    first = times == 0 ? time : std::min(first, time);
    last = std::max(last, time + how_long);
    ++times;
    took += how_long;
  }
};

} // namespace keel::info
