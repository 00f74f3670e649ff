// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Errors that all ranks of an environment throw if one of them does.

#include <keel/machine/alone.hpp>
#include <keel/machine/end.hpp>
#include <keel/machine/mpi.hpp>
#include <keel/machine/reductions.hpp>
#include <keel/policy/error.hpp>
#include <keel/policy/macros.hpp>

#include <cstdint>
#include <span>
#include <string_view>

namespace keel::machine {

/// What the error says that all ranks throw together: *keel::place: who is not done (the reason of a rank). hint.*
struct failing_call {
  std::string_view place, who, is_not_done, hint;
};

/// The ranks of an environment, which has to live on, without its type. Copies are of the same ranks.
class agreement {
public:
  agreement() = default; ///< of no ranks: tests false
  template <CommunicatingRanks R>
  explicit agreement(basic_environment<R> const& of);
  explicit operator bool() const { return environment_ != nullptr; }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }

  /// The least of each, on every rank; the same number of them on each. Collective, as all that follows.
  void min(std::span<std::int64_t> values) const { calls_->min(environment_, values); }
  [[nodiscard]] std::int64_t min(std::int64_t value) const {
    min({&value, 1});
    return value;
  }
  /// The sums of each, modulo 2^64, on every rank; the same number of them on each. So a list with a place for each
  /// rank gathers what each puts into its own.
  void sum(std::span<std::uint64_t> values) const { calls_->sum(environment_, values); }
  void broadcast(std::span<char> text, int root) const { calls_->broadcast(environment_, text, root); }

  /// Calls `f` on every rank, and throws on all of them if it threw on one: the error has the place, who is not done,
  /// the rank, why, and the hint. What `f` communicates, its errors may not leave half done, because the others wait
  /// for it. Costs one reduction. `joined` travels along: of each the least of all ranks; the last one is a place that
  /// the call needs itself.
  ///
  /// If a call of MPI failed in it on one rank, ranks cannot agree on anything: the job ends with its message.
  template <class F>
  void all_or_none(failing_call const& call, F const& f, std::span<std::int64_t> joined = {}) const {
    run(call, {&f, &call_it<F>}, joined, false);
  }
  /// Calls `f` on every rank, for what ranks mostly refuse alike: if `f` threw on all, each throws its own
  /// exception, else all throw the error of the first rank that has one, as it is, and its rank.
  template <class F>
  void all_alike(failing_call const& call, F const& f) const {
    run(call, {&f, &call_it<F>}, {}, true);
  }

  struct calls {
    void (*min)(void const*, std::span<std::int64_t>);
    void (*sum)(void const*, std::span<std::uint64_t>);
    void (*broadcast)(void const*, std::span<char>, int);
    void (*abort)(void const*, std::string_view);
  };
  template <class R>
  struct calls_of;

private:
  struct step {
    void const* f;
    void (*run)(void const* f);
  };
  template <class F>
  static void call_it(void const* f) {
    (*static_cast<F const*>(f))();
  }
  void run(failing_call const& call, step const& f, std::span<std::int64_t> joined, bool keeps_own) const;

  void const* environment_ = nullptr;
  calls const* calls_ = nullptr;
  int rank_ = 0, size_ = 0;
};

// The bodies stand outside the class: those inside would be compiled with every source.
template <class R>
struct agreement::calls_of {
  static void min(void const* of, std::span<std::int64_t> values);
  static void sum(void const* of, std::span<std::uint64_t> values);
  static void broadcast(void const* of, std::span<char> text, int root);
  static void abort(void const* of, std::string_view message);
  static constexpr calls all{&min, &sum, &broadcast, &abort};
};

template <class R>
void agreement::calls_of<R>::min(void const* of, std::span<std::int64_t> values) {
  machine::min(*static_cast<basic_environment<R> const*>(of), values);
}
namespace detail {
struct wrapping_sum {
  std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const { return a + b; }
};
} // namespace detail
template <class R>
void agreement::calls_of<R>::sum(void const* of, std::span<std::uint64_t> values) {
  machine::all_reduce(*static_cast<basic_environment<R> const*>(of), values, detail::wrapping_sum{});
}
template <class R>
void agreement::calls_of<R>::broadcast(void const* of, std::span<char> text, int root) {
  machine::broadcast(*static_cast<basic_environment<R> const*>(of), text, root);
}
template <class R>
void agreement::calls_of<R>::abort(void const* of, std::string_view message) {
  machine::abort(*static_cast<basic_environment<R> const*>(of), message, detail::exit_code);
}

template <CommunicatingRanks R>
agreement::agreement(basic_environment<R> const& of)
    : environment_(&of), calls_(&calls_of<R>::all), rank_(of.rank()), size_(of.size()) {}

#if KEEL_COMPILED
extern template struct agreement::calls_of<alone>;
#if KEEL_WITH_MPI
extern template struct agreement::calls_of<mpi>;
#endif
#endif

} // namespace keel::machine

#if !KEEL_COMPILED
#include <keel/impl/machine/agreement.ipp>
#endif
