// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What Kokkos' tools see of keel: regions with names, and copies.

#include <keel/policy/macros.hpp>
#include <keel/residency/observer.hpp>
#include <keel/space/kokkos.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace keel::residency::detail {

/// A region called `keel: <what> <name>`, open as long as this lives, where a tool listens.
class profiling_region {
public:
  profiling_region(bool listens, char const* what, std::string_view name) : is_open_(listens) {
    if (is_open_) [[unlikely]] Kokkos::Profiling::pushRegion("keel: " + std::string(what) + std::string(name));
  }
  ~profiling_region() {
    if (is_open_) [[unlikely]] Kokkos::Profiling::popRegion();
  }
  profiling_region(profiling_region const&) = delete;
  profiling_region& operator=(profiling_region const&) = delete;

private:
  bool is_open_;
};

/// A copy of bytes, which Kokkos' tools hear begin and end.
class shown_copy {
public:
  shown_copy(char const* to_space, void const* to, char const* from_space, void const* from, std::size_t bytes)
      : is_shown_(Kokkos::Tools::profileLibraryLoaded()) {
    if (is_shown_) [[unlikely]]
      Kokkos::Tools::beginDeepCopy(Kokkos::Tools::make_space_handle(to_space), {}, to,
                                   Kokkos::Tools::make_space_handle(from_space), {}, from, bytes);
  }
  ~shown_copy() {
    if (is_shown_) [[unlikely]] Kokkos::Tools::endDeepCopy();
  }
  shown_copy(shown_copy const&) = delete;
  shown_copy& operator=(shown_copy const&) = delete;

private:
  bool is_shown_;
};

/// Calls `f`, and tells an observer that times routines when it began and that it ended.
template <Observer O, class F>
KEEL_FORCE_INLINE void timed([[maybe_unused]] O& observer, [[maybe_unused]] std::string_view routine,
                             [[maybe_unused]] memory m, F const& f) {
  if constexpr (TimesRoutines<O>) {
    auto const begun = observer.begin_routine();
    f();
    observer.end_routine(begun, routine, m);
  } else {
    f();
  }
}

/// A tool that hears of regions.
struct region_listener {
  void (*begin)(std::string const& name);
  void (*end)();
};

/// An observer that also opens a region around each copy, where a tool listens: *keel: copy eta[0] core, u[1] core host
/// to cuda*. Nothing is asked where nothing is copied.
template <Observer O>
class profiled_observer : public O {
public:
  [[nodiscard]] bool listens() const { return tool_ != nullptr; }
  void listen_to(region_listener const& tool) { tool_ = &tool; }
  void name_memories(std::vector<std::string> names) {
    if constexpr (requires(O& o) { o.name_memories(names); }) O::name_memories(names);
    memories_ = std::move(names);
  }

  void add(std::string_view name, int levels, int components, region_bytes const& bytes) {
    variables_.emplace_back(name);
    O::add(name, levels, components, bytes);
  }
  void before(std::span<transfer const> batch, std::string_view routine) {
    if (listens()) tool_->begin(name_of_copy(batch));
    O::before(batch, routine);
  }
  void after(std::span<transfer const> batch, std::string_view routine, bool done) {
    if (listens()) tool_->end();
    O::after(batch, routine, done);
  }

private:
  [[nodiscard]] std::string name_of_copy(std::span<transfer const> batch) const {
    std::string name = "keel: copy";
    for (transfer const& t : batch)
      name += (&t == batch.data() ? " " : ", ") + variables_[std::size_t(t.variable)] + '[' + std::to_string(t.level) +
              "] " + std::string(residency::name_of(t.where));
    return name + ' ' + memories_[std::size_t(batch[0].from)] + " to " + memories_[std::size_t(batch[0].to)];
  }

  region_listener const* tool_ = nullptr;
  std::vector<std::string> variables_, memories_;
};

/// Kokkos' tools, as a `profiled_observer` calls them.
inline constexpr region_listener kokkos_tools{[](std::string const& name) { Kokkos::Profiling::pushRegion(name); },
                                              [] { Kokkos::Profiling::popRegion(); }};

} // namespace keel::residency::detail
