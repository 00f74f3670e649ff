// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The observer of the ledger of `fields`: one of any type, without its type, so that the ledger is compiled once; and
/// a tool of Kokkos.

#include <keel/impl/validity/profiling.hpp>
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

/// What an observer does, for one of some type. Those at the end may be null.
struct observer_calls {
  void (*add)(void*, std::string_view, int, int, region_bytes const&);
  void (*create)(void*, int, memory);
  void (*before)(void*, std::span<transfer const>, std::string_view);
  void (*after)(void*, std::span<transfer const>, std::string_view, bool);
  void (*before_exchange)(void*);
  void (*before_wait)(void*);
  void (*after_wait)(void*);
  void (*after_exchange)(void*, std::span<sent const>, bool);
  void (*rotate)(void*, int, rotation);
  void (*write)(void*, request const&, int, memory, std::string_view);
  void (*lose)(void*, request const&, int, std::string_view);
  std::string (*why)(void*, int, int, int, region);
  void (*name_memories)(void*, std::vector<std::string>);
  void (*begin_step)(void*, std::int64_t);
  void (*resize)(void*, int, int, region_bytes const&);
  void (*renumber)(void*, int, std::span<int const>);
  void (*knob)(void*, std::string_view option, std::string_view on_device, std::string_view value,
               std::string_view source);
  void (*time_reduction)(void*, std::string_view, thunk);
  void (*time_routine)(void*, std::string_view, memory, thunk, std::shared_ptr<device_span>& ran);

  template <class O>
  static O& as(void* o) {
    return *static_cast<O*>(o);
  }
  template <class O>
  static constexpr observer_calls of() {
    observer_calls c{
        [](void* o, std::string_view name, int levels, int components, region_bytes const& b) {
          as<O>(o).add(name, levels, components, b);
        },
        [](void* o, int variable, memory m) { as<O>(o).create(variable, m); },
        [](void* o, std::span<transfer const> batch, std::string_view routine) { as<O>(o).before(batch, routine); },
        [](void* o, std::span<transfer const> batch, std::string_view routine, bool done) {
          as<O>(o).after(batch, routine, done);
        },
        [](void* o) { as<O>(o).before_exchange(); },
        [](void* o) { as<O>(o).before_wait(); },
        [](void* o) { as<O>(o).after_wait(); },
        [](void* o, std::span<sent const> all, bool done) { as<O>(o).after_exchange(all, done); },
        [](void* o, int variable, rotation how) { as<O>(o).rotate(variable, how); },
        [](void* o, request const& r, int component, memory m, std::string_view routine) {
          as<O>(o).write(r, component, m, routine);
        },
        [](void* o, request const& r, int component, std::string_view routine) {
          as<O>(o).lose(r, component, routine);
        },
        [](void* o, int variable, int level, int component, region one) {
          return as<O>(o).why(variable, level, component, one);
        },
        nullptr,
        nullptr,
        nullptr,
        nullptr,
        nullptr,
        nullptr,
        nullptr};
    if constexpr (requires(O& o, std::string_view text) { o.knob(text, text, text, text); })
      c.knob = [](void* o, std::string_view option, std::string_view on_device, std::string_view value,
                  std::string_view source) { as<O>(o).knob(option, on_device, value, source); };
    if constexpr (requires(O& o) { o.name_memories(std::vector<std::string>{}); })
      c.name_memories = [](void* o, std::vector<std::string> names) { as<O>(o).name_memories(std::move(names)); };
    if constexpr (CountsSteps<O>) c.begin_step = [](void* o, std::int64_t n) { as<O>(o).begin_step(n); };
    if constexpr (CountsComponents<O>)
      c.resize = [](void* o, int variable, int component, region_bytes const& b) {
        as<O>(o).resize(variable, component, b);
      };
    if constexpr (NumbersComponents<O>)
      c.renumber = [](void* o, int variable, std::span<int const> kept) { as<O>(o).renumber(variable, kept); };
    if constexpr (TimesRoutines<O>)
      c.time_routine = [](void* o, std::string_view routine, memory m, thunk run, std::shared_ptr<device_span>& ran) {
        auto const begun = as<O>(o).begin_routine();
        run();
        if constexpr (requires { as<O>(o).end_routine(begun, routine, m, std::move(ran)); })
          as<O>(o).end_routine(begun, routine, m, std::move(ran));
        else as<O>(o).end_routine(begun, routine, m);
      };
    if constexpr (requires(O& o, std::string_view name) { o.end_reduction(o.begin_routine(), name); })
      c.time_reduction = [](void* o, std::string_view name, thunk wait) {
        auto const begun = as<O>(o).begin_routine();
        wait();
        as<O>(o).end_reduction(begun, name);
      };
    return c;
  }
};
template <class O>
inline constexpr observer_calls calls_of_observer = observer_calls::of<O>();

/// Observes nothing until it holds an observer. If a tool listens, it opens a region around each copy: *keel: copy
/// eta[0] core, u[1] core host to cuda*.
class any_observer {
public:
  static constexpr bool is_told = true;
  [[nodiscard]] bool is_active() const { return calls_ != nullptr; }
  /// The observer that it holds, made when there is none yet.
  template <class O>
  O& hold() {
    if (!held_) held_ = {new O, [](void* it) { delete static_cast<O*>(it); }};
    calls_ = &calls_of_observer<O>;
    return *static_cast<O*>(held_.get());
  }
  /// The observer that it holds if that is of this type; else null.
  template <class O>
  [[nodiscard]] O* get() {
    return calls_ == &calls_of_observer<O> ? static_cast<O*>(held_.get()) : nullptr;
  }
  [[nodiscard]] region_listener const* tool() const { return tool_; }
  void listen_to(region_listener const& tool) { tool_ = &tool; }
  void name_memories(std::vector<std::string> names) {
    if (calls_ != nullptr && calls_->name_memories != nullptr) calls_->name_memories(held_.get(), names);
    memories_ = std::move(names);
  }
  void begin_step(std::int64_t n) {
    if (calls_ != nullptr && calls_->begin_step != nullptr) calls_->begin_step(held_.get(), n);
  }
  void knob(std::string_view option, std::string_view value, std::string_view source) {
    if (calls_ != nullptr && calls_->knob != nullptr) calls_->knob(held_.get(), option, "", value, source);
  }
  [[nodiscard]] bool times_routines() const { return calls_ != nullptr && calls_->time_routine != nullptr; }
  /// Runs a routine, timed if the observer wants that; `ran` is when its device runs what `body` gave to it.
  void run(std::string_view routine, memory m, thunk body, std::shared_ptr<device_span>& ran) {
    if (times_routines()) calls_->time_routine(held_.get(), routine, m, body, ran);
    else body();
  }

  /// Waits for the ranks, timed if the observer wants that.
  void reduce(std::string_view name, thunk wait) {
    if (calls_ != nullptr && calls_->time_reduction != nullptr) calls_->time_reduction(held_.get(), name, wait);
    else wait();
  }

  void add(std::string_view name, int levels, int components, region_bytes const& bytes) {
    variables_.emplace_back(name);
    if (calls_ != nullptr) calls_->add(held_.get(), name, levels, components, bytes);
  }
  void resize(int variable, int component, region_bytes const& bytes) {
    if (calls_ != nullptr && calls_->resize != nullptr) calls_->resize(held_.get(), variable, component, bytes);
  }
  void renumber(int variable, std::span<int const> kept) {
    if (calls_ != nullptr && calls_->renumber != nullptr) calls_->renumber(held_.get(), variable, kept);
  }
  void create(int variable, memory m) {
    if (calls_ != nullptr) calls_->create(held_.get(), variable, m);
  }
  void before(std::span<transfer const> batch, std::string_view routine) {
    if (tool_ != nullptr) tool_->begin(name_of_copy(batch));
    if (calls_ != nullptr) calls_->before(held_.get(), batch, routine);
  }
  void after(std::span<transfer const> batch, std::string_view routine, bool done) {
    if (tool_ != nullptr) tool_->end();
    if (calls_ != nullptr) calls_->after(held_.get(), batch, routine, done);
  }
  void before_exchange() {
    if (calls_ != nullptr) calls_->before_exchange(held_.get());
  }
  void before_wait() {
    if (calls_ != nullptr) calls_->before_wait(held_.get());
  }
  void after_wait() {
    if (calls_ != nullptr) calls_->after_wait(held_.get());
  }
  void after_exchange(std::span<sent const> all, bool done) {
    if (calls_ != nullptr) calls_->after_exchange(held_.get(), all, done);
  }
  void rotate(int variable, rotation how) {
    if (calls_ != nullptr) calls_->rotate(held_.get(), variable, how);
  }
  void write(request const& r, int component, memory m, std::string_view routine) {
    if (calls_ != nullptr) calls_->write(held_.get(), r, component, m, routine);
  }
  void lose(request const& r, int component, std::string_view routine) {
    if (calls_ != nullptr) calls_->lose(held_.get(), r, component, routine);
  }
  [[nodiscard]] std::string why(int variable, int level, int component, region one) const {
    return calls_ != nullptr ? calls_->why(held_.get(), variable, level, component, one) : std::string{};
  }

private:
  [[nodiscard]] std::string name_of_copy(std::span<transfer const> batch) const;

  std::unique_ptr<void, void (*)(void*)> held_{nullptr, [](void*) {}};
  observer_calls const* calls_ = nullptr;
  region_listener const* tool_ = nullptr;
  std::vector<std::string> variables_, memories_;
};

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/validity/observers.ipp>
#endif
