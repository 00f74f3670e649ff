// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What the page of a report shows, as JSON: every number of a trace, and its sums.

#include "check.hpp"
#include "json.hpp"
#include "places.hpp"
#include "report_columns.hpp"
#include "trace.hpp"

#include <keel/policy/error.hpp>
#include <keel/topology.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace keel::info::json {

/// A sum over events that are alike, and when the first began and the last ended.
struct report_sum {
  std::uint64_t times = 0, bytes = 0, repeated = 0;
  double took = 0, first = 0, last = 0, waited = 0;

  void add(trace_event const& e) { add(e.time, e.took, e.bytes, e.repeated), waited += e.waited; }
  void add(double time, double how_long, std::uint64_t n = 0, std::uint64_t again = 0) {
    first = times == 0 ? time : std::min(first, time);
    last = std::max(last, time + how_long);
    ++times, took += how_long, repeated += again;
    if (__builtin_add_overflow(bytes, n, &bytes))
      throw error("info", "the bytes of a variable are more than 2^64", {}, "Did a program write this");
  }
};

/// The events by column. What events have in common stands once, in `kinds`, and `kind` counts from 0 in it. If there
/// are too many, those of a kind and rank that lie within a pixel of the whole are one.
class report_events {
public:
  static constexpr std::size_t most = std::size_t{1} << 17; ///< in a page, which has some 4 MB then

  report_events(trace_data const& all, report_texts& texts, double duration) : texts_(texts) {
    auto e = all.events.begin();
    auto r = all.routines.begin();
    while (e != all.events.end() || r != all.routines.end()) { // both are in the order of time
      if (r == all.routines.end() || (e != all.events.end() && e->time <= r->time)) add(*e++);
      else add(*r++);
    }
    auto const count = rows_.size();
    double pixel = duration / 8192;
    for (; rows_.size() > most && pixel <= duration; pixel *= 2) merge(pixel);
    if (rows_.size() < count) thinned_ = object({{"events", std::to_string(count)}, {"within", fixed(pixel / 2)}});
  }
  [[nodiscard]] std::string text() const {
    auto const column = [&](char const* name, auto const& value) {
      list made;
      for (auto const& e : rows_) made.add(value(e));
      return std::string(",\n  \"") + name + "\": " + made.text();
    };
    return "\"kinds\": {" + kinds_.text() + "},\n  \"thinned\": " + thinned_ +
           column("kind", [](event const& e) { return e.kind; }) +
           column("rank", [](event const& e) { return std::uint64_t(e.rank); }) +
           column("time", [](event const& e) { return fixed(e.time); }) +
           column("took", [](event const& e) { return fixed(e.took); }) +
           column("waited", [](event const& e) { return fixed(e.waited); }) +
           column("bytes", [](event const& e) { return e.bytes; }) +
           (thinned_ == "null" ? "" : column("count", [](event const& e) { return e.count; }));
  }

private:
  struct event {
    std::uint64_t kind;
    int rank;
    double time, took, waited;
    std::uint64_t bytes, count;
  };
  using row = std::array<std::uint64_t, 10>;

  void add(trace_event const& e) {
    auto const text = [&](std::string const& one) { return texts_.number(one); };
    add_row({text(e.is_sent() ? "exchange" : "copy"), text(e.variable), std::uint64_t(e.level),
             std::uint64_t(e.component), text(e.region), text(e.from), text(e.to), text(e.routine), text(e.why),
             e.repeated > 0},
            {0, e.rank, e.time, e.took, e.waited, e.bytes, 1});
  }
  /// `to` is where it ran.
  void add(trace_routine const& r) {
    auto const none = texts_.number("");
    add_row({texts_.number(r.is_on_device ? "device" : "routine"), none, 0, 0, none, none, texts_.number(r.memory),
             texts_.number(r.routine), none, 0},
            {0, r.rank, r.time, r.took, 0, 0, 1});
  }
  void add_row(row const& kind, event e) {
    auto const [at, is_new] = numbers_.try_emplace(kind, numbers_.size());
    if (is_new) kinds_.add(kind);
    e.kind = at->second;
    rows_.push_back(e);
  }
  /// Those of a kind and rank that begin within the same pixel become the first of them, but for longer ones.
  void merge(double pixel) {
    std::map<std::pair<std::uint64_t, int>, std::size_t> first; // of the pixel
    double now = -1;
    std::vector<event> made;
    for (event const& e : rows_) {
      if (double const at = std::floor(e.time / pixel); at != now) now = at, first.clear();
      auto const of = e.took < pixel ? first.try_emplace({e.kind, e.rank}, made.size()).first->second : made.size();
      if (of == made.size()) {
        made.push_back(e);
        continue;
      }
      event& sum = made[of];
      sum.took += e.took, sum.waited += e.waited, sum.bytes += e.bytes, sum.count += e.count;
    }
    rows_ = std::move(made);
  }
  /// With as few digits as hold it to a nanosecond.
  static std::string fixed(double x) {
    auto made = info::detail::fixed(x);
    return made.erase(made.find_last_not_of('0') + 1 - (made.ends_with(".000") ? 1 : 0));
  }

  struct hash {
    std::size_t operator()(row const& r) const {
      std::size_t mixed = 0;
      for (auto const n : r) mixed = (mixed ^ n) * 0x9e3779b97f4a7c15U, mixed ^= mixed >> 32;
      return mixed;
    }
  };

  report_texts& texts_;
  std::unordered_map<row, std::uint64_t, hash> numbers_;
  report_columns<10> kinds_{
      {"what", "variable", "level", "component", "region", "from", "to", "routine", "why", "repeated"}};
  std::vector<event> rows_;
  std::string thinned_ = "null";
};

inline std::string sum_members(report_sum const& s) {
  return ", \"times\": " + std::to_string(s.times) + ", \"took\": " + info::detail::fixed(s.took) +
         ", \"first\": " + info::detail::fixed(s.first) + ", \"last\": " + info::detail::fixed(s.last);
}

/// A row for each variable, way, routine and reason, by column; most bytes first.
inline std::string report_copies(trace_data const& all, report_texts& texts) {
  std::map<std::array<std::uint64_t, 5>, report_sum> sums;
  for (auto const& e : all.events)
    sums[{texts.number(e.variable), texts.number(e.routine), texts.number(e.from), texts.number(e.to),
          texts.number(e.why)}]
        .add(e);
  std::vector<decltype(sums)::const_iterator> rows;
  for (auto row = sums.cbegin(); row != sums.cend(); ++row) rows.push_back(row);
  std::stable_sort(rows.begin(), rows.end(), [](auto a, auto b) { return a->second.bytes > b->second.bytes; });
  report_columns<8> made{{"variable", "routine", "from", "to", "why", "bytes", "least", "times"}};
  list took, waited, first, last;
  for (auto const row : rows) {
    auto const& [key, sum] = *row;
    made.add({key[0], key[1], key[2], key[3], key[4], sum.bytes, sum.bytes - sum.repeated, sum.times});
    took.add(info::detail::fixed(sum.took)), waited.add(info::detail::fixed(sum.waited)),
        first.add(info::detail::fixed(sum.first)), last.add(info::detail::fixed(sum.last));
  }
  return '{' + made.text() + ", \"took\": " + took.text() + ", \"waited\": " + waited.text() +
         ", \"first\": " + first.text() + ", \"last\": " + last.text() + '}';
}

inline std::string report_routines(trace_data const& all) {
  struct both {
    report_sum calls, kernels;
  };
  std::map<std::pair<std::string, std::string>, both> sums;
  for (auto const& r : all.routines) {
    auto& sum = sums[{r.routine, r.memory}];
    (r.is_on_device ? sum.kernels : sum.calls).add(r.time, r.took);
  }
  return array(
      sums,
      [](auto const& row) {
        return "{\"routine\": " + json_text(row.first.first) + ", \"memory\": " + json_text(row.first.second) +
               sum_members(row.second.calls) + ", \"on_device\": " +
               (row.second.kernels.times == 0 ? "null" : info::detail::fixed(row.second.kernels.took)) + '}';
      },
      ",\n   ");
}

inline std::string report_schedule(trace_schedule const& s) {
  auto const entry = [](trace_schedule::entry const& e) {
    return object({{"number", std::to_string(e.number)},
                   {"depth", std::to_string(e.depth)},
                   {"kind", json_text(e.kind)},
                   {"name", json_text(e.name)},
                   {"memory", json_text(e.memory)}});
  };
  auto const flow = [](trace_schedule::flow const& f) {
    return object({{"writer", std::to_string(f.writer)},
                   {"reader", std::to_string(f.reader)},
                   {"data", json_text(f.data)},
                   {"copied", json_text(f.copied)},
                   {"crosses", f.crosses ? "true" : "false"}});
  };
  return object({{"name", json_text(s.name)}, {"entries", array(s.entries, entry)}, {"flows", array(s.flows, flow)}});
}

inline std::string report_trace(trace_data const& all) {
  report_sum moved, sent, whole;
  report_texts texts;
  for (auto const& e : all.events) {
    whole.add(e.time, e.took);
    (e.is_sent() ? sent : moved).add(e);
  }
  for (auto const& r : all.routines) whole.add(r.time, r.took);
  auto const file = [](trace_header const& h) {
    return object({{"file", json_text(h.file)}, {"rank", std::to_string(h.rank)}, {"part", std::to_string(h.part)}});
  };
  auto const by_variable = report_copies(all, texts);
  auto const events = report_events{all, texts, whole.last}.text();
  auto const& first = *std::min_element(all.headers.begin(), all.headers.end(),
                                        [](auto const& a, auto const& b) { return a.begin < b.begin; });
  return "{\"run\": " + json_text(first.run) + ", \"program\": " + json_text(first.program) +
         ", \"begin\": " + info::detail::fixed(first.begin) + ", \"of_keel\": " + std::to_string(first.of_keel) +
         ",\n  \"files\": " + array(all.headers, file) +
         ",\n  \"ranks\": " + array(all.ranks(), [](int rank) { return std::to_string(rank); }) +
         ", \"duration\": " + info::detail::fixed(whole.last) + ", \"copies\": " + std::to_string(moved.times) +
         ", \"moved\": " + std::to_string(moved.bytes) +
         ", \"least\": " + std::to_string(moved.bytes - moved.repeated) + ", \"sent\": " + std::to_string(sent.bytes) +
         ",\n  \"texts\": " + texts.text() + ",\n  \"by_variable\": " + by_variable +
         ",\n  \"by_routine\": " + report_routines(all) +
         ",\n  \"schedules\": " + array(all.schedules, [](auto const& s) { return report_schedule(s); }) + ",\n  " +
         events + '}';
}

/// The ranks: where keel places them, where they were, and whether the latter is drawn.
struct report_ranks {
  std::vector<topology::placement> const& planned;
  std::vector<rank_place> const& places;
  bool are_drawn;
};

/// The whole document, which may stand in a script element of a page. `all` is null if no trace was given.
inline std::string report(topology::node const& n, configuration const& c, report_ranks const& ranks,
                          std::vector<finding> const& findings, trace_data const* all) {
  std::string const line = ",\n  ";
  bool const is_of_run = all != nullptr && !all->knobs.empty();
  auto const own = [](knob_row const& k) {
    return object({{"option", json_text(k.option)},
                   {"device", json_text(k.device)},
                   {"value", json_text(k.value)},
                   {"source", json_text(k.source)}});
  };
  auto const traced = [](trace_knob const& k) {
    return object({{"option", json_text(k.option)},
                   {"device", json_text(k.device)},
                   {"value", json_text(k.value)},
                   {"source", json_text(k.source)},
                   {"ranks", array(k.ranks, [](int rank) { return std::to_string(rank); })}});
  };
  auto const place = [](rank_place const& p) {
    return object({{"rank", std::to_string(p.rank)},
                   {"host", json_text(p.host)},
                   {"hardware_threads", ids(p.threads)},
                   {"cores", p.cores.empty() ? "null" : ids(p.cores)}});
  };
  auto const found = [](finding const& f) {
    return object({{"wrong", f.is_wrong ? "true" : "false"}, {"text", json_text(f.text)}});
  };
  auto const knobs = is_of_run ? array(all->knobs, traced, line) : array(c.knobs, own, line);
  auto const now = std::chrono::system_clock::now().time_since_epoch();
  std::string const whole = "{\"report\": 1,\n \"written\": " +
                            std::to_string(std::chrono::duration_cast<std::chrono::microseconds>(now).count()) +
                            ", \"of_keel\": " + std::to_string(KEEL_VERSION) + ",\n \"node\": " + node(n) +
                            ",\n \"map\": " +
                            array(
                                ranks.planned, [](auto const& p) { return placement(p); }, line) +
                            ",\n \"places\": " + array(ranks.places, place, line) +
                            ",\n \"places_are_drawn\": " + (ranks.are_drawn ? "true" : "false") +
                            ",\n \"devices\": " + array(c.devices, [](auto const& d) { return keel_device(d); }) +
                            ",\n \"knobs_of_run\": " + (is_of_run ? "true" : "false") + ",\n \"knobs\": " + knobs +
                            ",\n \"findings\": " + array(findings, found, line) +
                            ",\n \"trace\": " + (all != nullptr ? report_trace(*all) : "null") + "}\n";
  std::string safe; // no text ends the element that holds it
  safe.reserve(whole.size());
  for (char const c0 : whole) (c0 == '<' ? safe += "\\u003c" : safe += c0);
  return safe;
}

} // namespace keel::info::json
