// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The observer of the ledger of `fields`: one of any type, without its type, so that the ledger is compiled once; and
/// a tool of Kokkos.

#include <keel/policy/macros.hpp>
#include <keel/validity/observer.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace keel::residency::detail {

/// A tool that is notified of regions.
struct region_listener {
  void (*begin)(std::string const& name);
  void (*end)();
};

/// A region called `keel: <what><name>`, open as long as this lives, if there is a tool.
class profiling_region {
public:
  profiling_region(region_listener const* tool, char const* what, std::string_view name) : tool_(tool) {
    if (tool_ != nullptr) [[unlikely]]
      tool_->begin("keel: " + std::string(what) + std::string(name));
  }
  ~profiling_region() {
    if (tool_ != nullptr) [[unlikely]]
      tool_->end();
  }
  profiling_region(profiling_region const&) = delete;
  profiling_region& operator=(profiling_region const&) = delete;

private:
  region_listener const* tool_;
};

/// A function with some state, as two pointers.
struct thunk {
  void (*call)(void const*);
  void const* state;
  void operator()() const { call(state); }
  template <class F>
  static thunk of(F const& f) {
    return {[](void const* it) { (*static_cast<F const*>(it))(); }, &f};
  }
};

struct device_span;

/// What fields notify: an observer of any type, and a tool. This one, of none, observes nothing. If a tool listens, it
/// opens a region around each copy: *keel: copy eta[0] core, u[1] core host to cuda*.
class any_observer {
public:
  static constexpr bool is_told = true;
  any_observer() = default;
  virtual ~any_observer() = default;
  any_observer(any_observer const&) = delete;
  any_observer& operator=(any_observer const&) = delete;
  /// Whether there is one.
  [[nodiscard]] bool is_active() const { return it_ != nullptr; }
  [[nodiscard]] virtual bool times_routines() const { return false; }
  /// Its address if it is an `O`; else null.
  template <class O>
  [[nodiscard]] O* get() {
    return type_ == &type_of<O> ? static_cast<O*>(it_) : nullptr;
  }
  [[nodiscard]] region_listener const* tool() const { return tool_; }
  void listen_to(region_listener const* tool) { tool_ = tool; }

  virtual void name_memories(std::vector<std::string> names) { memories_ = std::move(names); }
  virtual void add(std::string_view name, int, int, region_bytes const&) { variables_.emplace_back(name); }
  virtual void keep(int variables) { variables_.resize(std::min(variables_.size(), std::size_t(variables))); }
  virtual void before(std::span<transfer const> batch, std::string_view) {
    if (tool_ != nullptr) tool_->begin(name_of_copy(batch));
  }
  virtual void after(std::span<transfer const>, std::string_view, bool) {
    if (tool_ != nullptr) tool_->end();
  }
  virtual void begin_step(std::int64_t) {}
  virtual void knob(std::string_view, std::string_view, std::string_view) {}
  virtual void resize(int, int, region_bytes const&) {}
  virtual void renumber(int, std::span<int const>) {}
  virtual void create(int, memory) {}
  virtual void before_exchange() {}
  virtual void before_wait() {}
  virtual void after_wait() {}
  virtual void after_exchange(std::span<sent const>, bool) {}
  virtual void rotate(int, rotation) {}
  virtual void write(request const&, int, memory, std::string_view) {}
  virtual void lose(request const&, int, std::string_view) {}
  [[nodiscard]] virtual std::string why(int, int, int, region) const { return {}; }
  /// Runs a routine, timed if the observer wants that; the pointer is when its device runs what it gave to it.
  virtual void run(std::string_view, memory, thunk body, std::shared_ptr<device_span>&) { body(); }
  /// Waits for the ranks, timed if the observer wants that.
  virtual void reduce(std::string_view, thunk wait) { wait(); }

protected:
  template <class O>
  static constexpr char type_of = 0;
  [[nodiscard]] std::string name_of_copy(std::span<transfer const> batch) const;

  void* it_ = nullptr;
  char const* type_ = nullptr; ///< an address for each
private:
  region_listener const* tool_ = nullptr;
  std::vector<std::string> variables_, memories_;
};

template <class O>
class observer_of final : public any_observer {
public:
  observer_of() { it_ = &of_, type_ = &type_of<O>; }
  [[nodiscard]] bool times_routines() const override { return TimesRoutines<O>; }

  void name_memories(std::vector<std::string> names) override {
    if constexpr (requires(O& o) { o.name_memories(names); }) of_.name_memories(names);
    any_observer::name_memories(std::move(names));
  }
  void add(std::string_view name, int levels, int components, region_bytes const& bytes) override {
    any_observer::add(name, levels, components, bytes);
    of_.add(name, levels, components, bytes);
  }
  void keep(int variables) override {
    any_observer::keep(variables);
    if constexpr (requires { of_.keep(variables); }) of_.keep(variables);
  }
  void before(std::span<transfer const> batch, std::string_view routine) override {
    any_observer::before(batch, routine);
    of_.before(batch, routine);
  }
  void after(std::span<transfer const> batch, std::string_view routine, bool done) override {
    any_observer::after(batch, routine, done);
    of_.after(batch, routine, done);
  }
  void begin_step([[maybe_unused]] std::int64_t n) override {
    if constexpr (CountsSteps<O>) of_.begin_step(n);
  }
  void knob([[maybe_unused]] std::string_view option, [[maybe_unused]] std::string_view value,
            [[maybe_unused]] std::string_view source) override {
    if constexpr (requires(O& o) { o.knob(option, option, value, source); }) of_.knob(option, "", value, source);
  }
  void resize([[maybe_unused]] int v, [[maybe_unused]] int c, [[maybe_unused]] region_bytes const& b) override {
    if constexpr (CountsComponents<O>) of_.resize(v, c, b);
  }
  void renumber([[maybe_unused]] int v, [[maybe_unused]] std::span<int const> kept) override {
    if constexpr (NumbersComponents<O>) of_.renumber(v, kept);
  }
  void create(int variable, memory m) override { of_.create(variable, m); }
  void before_exchange() override { of_.before_exchange(); }
  void before_wait() override { of_.before_wait(); }
  void after_wait() override { of_.after_wait(); }
  void after_exchange(std::span<sent const> all, bool done) override { of_.after_exchange(all, done); }
  void rotate(int variable, rotation how) override { of_.rotate(variable, how); }
  void write(request const& r, int c, memory m, std::string_view routine) override { of_.write(r, c, m, routine); }
  void lose(request const& r, int c, std::string_view routine) override { of_.lose(r, c, routine); }
  [[nodiscard]] std::string why(int v, int l, int c, region one) const override { return of_.why(v, l, c, one); }
  void run(std::string_view routine, memory m, thunk body, std::shared_ptr<device_span>& ran) override {
    if constexpr (TimesRoutines<O>) {
      auto const begun = of_.begin_routine();
      body();
      if constexpr (requires { of_.end_routine(begun, routine, m, std::move(ran)); })
        of_.end_routine(begun, routine, m, std::move(ran));
      else of_.end_routine(begun, routine, m);
    } else body();
  }
  void reduce(std::string_view name, thunk wait) override {
    if constexpr (requires { of_.end_reduction(of_.begin_routine(), name); }) {
      auto const begun = of_.begin_routine();
      wait();
      of_.end_reduction(begun, name);
    } else wait();
  }

private:
  O of_;
};

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/validity/observers.ipp>
#endif
