// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// An observer that writes a line of JSON for each copy; `keel-info trace` reads them.

#include <keel/residency/observer.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace keel::residency {

/// The file of one rank: a header, then lines in the order of time, each a flat object.
///
/// | `what` | besides `time` and `rank` |
/// |---|---|
/// | `copy` | `variable level component region from to bytes routine took` |
/// | `exchange` | `variable level component bytes took`: what this rank sent |
/// | `create` | `variable memory` |
///
/// `time` counts microseconds from `begin` of the header, microseconds since 1970. `took` is how long the
/// program's thread was held up: a copy to a device, or one to the host that began early, goes on behind it. What
/// travels together shares the time by bytes; of an exchange, the first variable has it. Nothing is written before
/// `open`, and nothing where nothing is copied.
class trace {
public:
  static constexpr bool is_told = true;

  /// `name.rank.jsonl`; the second one of a process is `name.rank.2.jsonl`.
  [[nodiscard]] static std::string path_of(std::string const& name, int rank);
  /// Begins the file. Throws `keel::error` where it cannot be written.
  void open(std::string const& path, int rank, std::vector<std::string> memories);
  /// Ends it; also the destructor does. Throws where not all could be written.
  void close();

  void add(std::string_view name, int, int, region_bytes const& bytes) {
    variables_.push_back({std::string(name), {bytes}});
  }
  void resize(int variable, int component, region_bytes const& bytes) {
    auto& all = variables_[std::size_t(variable)].bytes;
    if (all.size() <= std::size_t(component)) all.resize(std::size_t(component) + 1, all[0]);
    all[std::size_t(component)] = bytes;
  }
  void create(int variable, memory m);
  void before(std::span<transfer const>, std::string_view) { begun_ = clock::now(); }
  void after(std::span<transfer const> batch, std::string_view routine, bool done);
  void before_exchange() { begun_ = clock::now(); }
  void exchange(int variable, int level, int component, std::uint64_t bytes);
  void cycle(int) {}
  void write(request const&, int, memory, std::string_view) {}
  void lose(request const&, int, std::string_view) {}
  [[nodiscard]] std::string why(int, int, int, region) const { return {}; }

private:
  using clock = std::chrono::steady_clock;
  struct record {
    std::string name;
    std::vector<region_bytes> bytes; // by component; those behind the last are like the first
  };
  struct closer {
    void operator()(std::FILE* f) const { std::fclose(f); }
  };

  [[nodiscard]] static double microseconds(clock::duration d) { return std::chrono::duration<double, std::micro>(d).count(); }
  // `what`, `time`, `rank` and `variable` of a line that begins now; the caller adds the rest and calls `put`.
  [[nodiscard]] std::string line(char const* what, clock::time_point when, int variable) const;
  void put(std::string const& text);

  std::unique_ptr<std::FILE, closer> file_;
  std::string path_;
  int rank_ = 0;
  clock::time_point origin_, begun_;
  std::vector<std::string> memories_;
  std::vector<record> variables_;
};

} // namespace keel::residency

#include <keel/impl/residency/trace.hpp>
