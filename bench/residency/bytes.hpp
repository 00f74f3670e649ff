// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Bytes moved beside bytes necessary. What moves is counted where Kokkos copies, for keel and for DualView alike; what
/// is necessary comes from the test's oracle. keel's own counters have no part in it.

#include "report.hpp"
#include "schedules.hpp"

#include <support/oracle.hpp>

#include <Kokkos_DualView.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace bench {

/// Bytes that Kokkos' deep_copy carried between the host and the device.
class copied {
public:
  template <class Memory>
  static void begin() {
    bytes() = 0;
    device() = Memory::name();
    Kokkos::Tools::Experimental::set_begin_deep_copy_callback(
        [](auto to, char const*, void const*, auto from, char const*, void const*, std::uint64_t size) {
          bool const writes = to.name == device(), reads = from.name == device();
          if (writes != reads) bytes() += size;
        });
  }
  static std::uint64_t end() {
    Kokkos::Tools::Experimental::set_begin_deep_copy_callback(nullptr);
    return bytes();
  }

private:
  static std::uint64_t& bytes() {
    static std::uint64_t n;
    return n;
  }
  static std::string& device() {
    static std::string name;
    return name;
  }
};

/// Plays declarations to a sink: `run(where, accesses)`, `exchange(accesses)`, `cycle(variable)`, variables by component.
template <class Sink, class Variables>
class player;
template <class Sink, class... Vars>
class player<Sink, keel::list<Vars...>> {
public:
  /// `exchange_in`: the memory.
  player(Sink& sink, int components, int exchange_in)
      : sink_(sink), components_(components), exchange_in_(exchange_in) {}
  void step(auto s) {
    ++steps_;
    play(s.about, 0, components_);
  }
  void run(auto e) { play(e.about, 0, components_); }
  void run(auto e, kr::component which) { play(e.about, which.index, which.index + 1); }

private:
  static int number(kr::variable_info const& wanted) {
    int n = 0, found = -1;
    ((Vars::about == wanted ? void(found = n) : void(), ++n), ...);
    return found;
  }
  void play(kr::entry const& e, int begin, int end) {
    if (e.what == kr::entry_kind::every && steps_ % e.count != 0) return;
    std::vector<oracle::access> list;
    for (int c = begin; c < end; ++c)
      for (kr::declaration const& one : e.declared()) {
        int const variable = number(*one.variable) * components_ + c;
        if (e.what == kr::entry_kind::cycle) sink_.cycle(variable);
        else if (e.what == kr::entry_kind::routine)
          list.push_back({variable, one.level, unsigned(one.reads), unsigned(one.writes)});
        else list.push_back({variable, one.level, 0, 0});
      }
    if (e.what == kr::entry_kind::routine) sink_.run(e.where.what == kr::place::kind::at_host ? 0 : 1, list);
    if (e.what == kr::entry_kind::exchange) sink_.exchange(list, exchange_in_);
    for (std::size_t i = 0; i < e.child_count; ++i) play(*e.children[i], begin, end);
  }

  Sink& sink_;
  int components_, exchange_in_;
  long steps_ = 0;
};

/// DualViews by level, synchronised before and marked after each kernel, cleared where a kernel overwrites.
template <class Memory>
class dual_views {
public:
  dual_views(std::vector<int> const& levels, std::size_t elements) {
    for (int l : levels) {
      views_.emplace_back();
      for (int k = 0; k < l; ++k) views_.back().emplace_back("v", elements);
    }
  }
  void run(int where, std::vector<oracle::access> const& list) {
    for (auto const& one : list) {
      auto& view = views_[std::size_t(one.variable)][std::size_t(one.level)];
      if (one.needs != 0) where == 0 ? view.sync_host() : view.sync_device();
      if (one.changes == 0) continue;
      if ((one.changes & oracle::owned) == oracle::owned && one.needs == 0) view.clear_sync_state();
      where == 0 ? view.sync_host(), view.modify_host() : (view.sync_device(), view.modify_device());
    }
  }
  void exchange(std::vector<oracle::access> list, int where) {
    for (auto& one : list) one.needs = oracle::rim, one.changes = oracle::ghosts;
    run(where, list);
  }
  void cycle(int variable) {
    auto& levels = views_[std::size_t(variable)];
    std::rotate(levels.begin(), levels.end() - 1, levels.end());
  }

private:
  std::vector<std::vector<
      Kokkos::DualView<double*, Kokkos::LayoutRight, Kokkos::Device<typename Memory::execution_space, Memory>>>>
      views_;
};

template <class App, class Variables>
struct fields_of;
template <class App, class... Vars>
struct fields_of<App, keel::list<Vars...>> {
  using type = kr::fields<App, Vars...>;
  static std::vector<int> levels(int components) {
    std::vector<int> all;
    int const levels[] = {int(Vars::about.levels)...}; // apart from the loop, for nvcc
    for (int l : levels) all.insert(all.end(), std::size_t(components), l);
    return all;
  }
};

template <class App, class Program>
struct exchanging : App {};
template <class App, class Program>
  requires requires { typename Program::exchange; }
struct exchanging<App, Program> : App {
  using exchange = typename Program::exchange;
};

/// One row of the table.
template <class Program, class Tag>
void bytes(std::string const& name) {
  constexpr int n = 64, components = [] {
    if constexpr (requires { Program::components; }) return Program::components;
    else return 1;
  }();
  constexpr bool wraps = [] {
    if constexpr (requires { Program::wraps; }) return Program::wraps;
    else return true;
  }();
  using app = exchanging<application<keel::list<host, Tag>>, Program>;
  using memory = kr::detail::memory_space_of<Tag>;
  using made = fields_of<app, typename Program::variables>;
  std::uint64_t keel = 0, dual = 0;
  {
    run here{Tag::name};
    typename made::type f{here, kr::grid{{n, n}, kr::ghost_width{1}, kr::periodic{wraps}}, kr::components{components}};
    copied::begin<memory>();
    Program::drive(f);
    keel = copied::end();
  }
  std::vector<int> const levels = made::levels(components);
  std::vector<oracle::variable> variables;
  for (int l : levels)
    variables.push_back(wraps ? oracle::variable{l, {8 * (n - 2) * (n - 2), 8 * (4 * n - 4), 8 * (4 * n + 4), 0}}
                              : oracle::variable{l, {8 * n * n, 0, 0, 8 * (4 * n + 4)}}); // one rank has no neighbours
  int const exchange_in = kr::detail::exchanges_on_device<app> ? 1 : 0;
  oracle::program events(variables);
  player<oracle::program, typename Program::variables> ideal(events, components, exchange_in);
  Program::drive(ideal);
  oracle::bill const necessary = events.make_bill();
  {
    dual_views<memory> views(levels, (n + 2) * (n + 2));
    player<dual_views<memory>, typename Program::variables> expert(views, components, exchange_in);
    copied::begin<memory>();
    Program::drive(expert);
    dual = copied::end();
  }
  std::uint64_t const least = necessary.host_bytes() + necessary.device_bytes();
  print("bytes moved / necessary: " + name, text(double(keel) / double(least), 3) + " (" + std::to_string(keel) + " B)",
        "DualView " + text(double(dual) / double(least), 3) + " (" + std::to_string(dual) + " B), oracle " +
            std::to_string(least) + " B",
        "1.000", keel == least);
}

} // namespace bench
