// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Reading the traces of a run: line by line, each checked, and whether the files are those of one run.

#include "trace_line.hpp"

#include <keel/policy/error.hpp>
#include <keel/policy/whole_file.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace keel::info {

inline constexpr std::size_t trace_line_max = std::size_t{1} << 20; ///< bytes, a thousand times what keel writes
inline constexpr std::chrono::seconds trace_writer_wait_max{3};     ///< for a process that writes to a pipe
inline constexpr std::uint64_t trace_ranks_max = std::uint64_t{1} << 24;

/// One copy, or what one rank sent of a variable in an exchange. Times in microseconds.
struct trace_event {
  std::string variable, region, from, to, routine;
  int rank, level, component;
  std::uint64_t bytes;
  double time, took;
};

/// What the header of a file says.
struct trace_header {
  std::string file, run;
  int part, rank, ranks; ///< `ranks` is 0 where the writer did not know
  double begin;
};

/// Events of all files, with times from the beginning of the earliest.
struct trace_data {
  std::vector<trace_header> headers;
  std::vector<trace_event> events;
  [[nodiscard]] std::set<int> ranks() const {
    std::set<int> all;
    for (auto const& h : headers) all.insert(h.rank);
    return all;
  }
};

namespace detail {

/// The lines of a file, which may be a pipe.
class trace_text {
public:
  explicit trace_text(std::string const& path)
      : path_(path), file_(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)) {
    struct stat about {};
    if (file_.number < 0 || ::fstat(file_.number, &about) != 0) refuse(errno);
    if (S_ISDIR(about.st_mode)) refuse(EISDIR);
    if (S_ISFIFO(about.st_mode)) await_writer();
    ::fcntl(file_.number, F_SETFL, 0);
  }

  /// False at the end. Throws where a line has no end.
  [[nodiscard]] bool next(std::string& line) {
    line.clear();
    for (;;) {
      auto const end = std::find(block_.begin() + std::ptrdiff_t(at_), block_.end(), '\n');
      line.append(block_.begin() + std::ptrdiff_t(at_), end);
      if (line.size() > trace_line_max)
        throw error("info", "it is longer than " + std::to_string(trace_line_max >> 20) + " MiB");
      bool const is_whole = end != block_.end();
      at_ = std::size_t(end - block_.begin()) + (is_whole ? 1 : 0);
      if (is_whole) return true;
      if (!fill()) return !line.empty();
    }
  }

private:
  [[noreturn]] void refuse(int code) {
    throw error("info", shown(path_) + " is not read", std::strerror(code), "Is this the name", code);
  }
  bool fill() {
    block_.resize(std::size_t{1} << 16);
    ssize_t got = 0;
    while ((got = ::read(file_.number, block_.data(), block_.size())) < 0)
      if (errno != EINTR) refuse(errno);
    block_.resize(std::size_t(got));
    at_ = 0;
    return got > 0;
  }
  // Without a writer a read answers at once that this is the end; with one that is slow, EAGAIN.
  void await_writer() {
    auto const until = std::chrono::steady_clock::now() + trace_writer_wait_max;
    char first = 0;
    ssize_t got = 0;
    while ((got = ::read(file_.number, &first, 1)) == 0) {
      if (std::chrono::steady_clock::now() > until)
        throw error("info", shown(path_) + " is not read", "no process writes to this pipe", "Start its writer first",
                    EPIPE);
      std::this_thread::sleep_for(std::chrono::milliseconds{10});
    }
    if (got == 1) block_ = first;
  }

  std::string path_, block_;
  std::size_t at_ = 0;
  policy::detail::open_file file_;
};

inline trace_event read_event(trace_line const& line, int rank) {
  bool const is_copy = line.text("what") == "copy";
  if (line.count("rank", trace_ranks_max) != std::uint64_t(rank)) throw error("info", "rank is not that of the header");
  return {line.text("variable"),
          is_copy ? line.text("region") : "ghosts",
          is_copy ? line.text("from") : "this rank",
          is_copy ? line.text("to") : "neighbours",
          is_copy ? line.text("routine") : "exchange",
          rank,
          static_cast<int>(line.count("level", INT_MAX)),
          static_cast<int>(line.count("component", INT_MAX)),
          line.count("bytes", std::uint64_t{1} << 53), // what a program that draws them counts exactly
          line.time("time"),
          line.time("took")};
}

inline trace_header read_header(trace_line const& line, std::string const& file) {
  if (!line.has("keel") || line.text("keel") != "trace") throw error("info", "it is not the header of a trace");
  if (auto const version = line.count("version", INT_MAX); version != 2)
    throw error("info", "it is of version " + std::to_string(version) + ", and this program reads version 2");
  trace_header made{file, line.text("run"), static_cast<int>(line.count("part", INT_MAX)),
                    static_cast<int>(line.count("rank", trace_ranks_max)),
                    static_cast<int>(line.count("ranks", trace_ranks_max)),
                    double(line.count("begin", std::uint64_t{1} << 53))};
  if (made.ranks != 0 && made.rank >= made.ranks) throw error("info", "rank is not below ranks");
  return made;
}

/// The lines of one file. Throws with file and line.
inline void read_trace(std::string const& file, trace_data& all) {
  trace_text in{file};
  std::string text;
  bool has_header = false;
  for (int number = 1;; ++number) {
    try {
      if (!in.next(text)) break;
      auto const line = trace_line::parse(text);
      if (!has_header) {
        all.headers.push_back(read_header(line, file));
        has_header = true;
      } else if (auto const& what = line.text("what"); what == "copy" || what == "exchange") {
        all.events.push_back(read_event(line, all.headers.back().rank));
      } else if (what != "create") {
        throw error("info", "what is '" + shown(what) + "', which no trace has");
      }
    } catch (error const& e) {
      if (e.code() != 0) throw;
      std::string const why = std::string(e.what()).substr(std::strlen("keel::info: "));
      throw error("info", "line " + std::to_string(number) + " of " + shown(file) + " is not understood",
                  why.substr(0, why.size() - 1),
                  has_header ? "Did the program die there? Delete the line" : "Give a file that a traced program wrote");
    }
  }
  if (has_header) return;
  throw error("info", shown(file) + " is empty", {}, "Give a file that a traced program wrote");
}

/// Refuses files of several runs, a file given twice, and missing ranks.
inline void require_one_run(std::vector<trace_header> const& all) {
  std::map<std::tuple<int, int>, std::string> files; // by part and rank
  std::map<int, std::pair<trace_header const*, std::set<int>>> parts; // first header, and which ranks are here
  for (auto const& h : all) {
    if (h.run != all.front().run)
      throw error("info", shown(h.file) + " is of another run than " + shown(all.front().file),
                  "run " + shown(h.run) + " and run " + shown(all.front().run), "Leave it out, or add them up with --force");
    auto const [first, is_new] = files.try_emplace({h.part, h.rank}, h.file);
    if (!is_new)
      throw error("info", shown(h.file) + " and " + shown(first->second) + " are one trace",
                  "both are of rank " + std::to_string(h.rank), "Leave one out, or add them up with --force");
    auto& part = parts.try_emplace(h.part, &h, std::set<int>{}).first->second;
    part.second.insert(h.rank);
    if (h.ranks != part.first->ranks)
      throw error("info",
                  shown(h.file) + " and " + shown(part.first->file) + " do not agree on the number of ranks",
                  std::to_string(h.ranks) + " and " + std::to_string(part.first->ranks), "Add them up with --force");
  }
  for (auto const& [number, part] : parts) {
    auto const& [header, present] = part;
    std::string missing;
    int count = 0;
    for (int r = 0; r < header->ranks; ++r)
      if (!present.contains(r) && ++count <= 10) missing += (missing.empty() ? "" : ", ") + std::to_string(r);
    if (count > 10) missing += " and " + std::to_string(count - 10) + " more";
    if (count > 0)
      throw error("info",
                  count == 1 ? "the trace of rank " + missing + " is missing" : "the traces of ranks " + missing + " are missing",
                  "the run of " + shown(header->file) + " had " + std::to_string(header->ranks),
                  "Name their files, or add up what is here with --force");
  }
}

} // namespace detail

enum class runs { one, any };

/// All files, as one. Throws `keel::error` that names file and line where one is not a trace, and unless `allowed`
/// is `any`, where they are not all the traces of one run.
inline trace_data read_traces(std::vector<std::string> const& files, runs allowed) {
  trace_data all;
  std::vector<std::size_t> ends; // events up to the end of each file
  for (auto const& file : files) {
    detail::read_trace(file, all);
    ends.push_back(all.events.size());
  }
  if (allowed == runs::one) detail::require_one_run(all.headers);
  double origin = all.headers.front().begin;
  for (auto const& h : all.headers) origin = std::min(origin, h.begin);
  std::size_t at = 0;
  for (std::size_t n = 0; n < ends.size(); ++n)
    for (; at < ends[n]; ++at) all.events[at].time += all.headers[n].begin - origin;
  std::stable_sort(all.events.begin(), all.events.end(), [](auto const& a, auto const& b) { return a.time < b.time; });
  return all;
}

} // namespace keel::info
