// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How keel's own execution spaces run a pattern: the items of a policy are cut into chunks, the engine says
/// which thread runs a chunk, and what reductions and scans left of each is joined in order.

#include <keel/impl/space/items.hpp>
#include <keel/space/kokkos.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace keel::space::detail {

/// An execution space whose kernels keel runs.
///
/// `impl_launch(closure)` runs `closure.run()`, now or asynchronously (then a
/// copy of it); `impl_threads()` returns how many threads an instance has; `impl_for_chunks(count, f)`
/// calls f(0) … f(count - 1), at once if it can, and returns when all are done; `impl_run_together(count, f)`
/// does so at the same time for sure, for a count up to `impl_threads()` and an f that does not throw.
template <class S>
concept Engine = requires(S const& space) {
  { space.impl_threads() } -> std::same_as<int>;
};

/// Whether launches on a space return before the kernel is done.
template <Engine S>
inline constexpr bool is_asynchronous = requires { S::impl_is_asynchronous; };

/// Into how many chunks `n` items are cut: one a thread, and several if the schedule is dynamic.
template <class Policy>
std::int64_t chunks_of(Policy const& policy, std::int64_t n) {
  constexpr bool dynamic = std::is_same_v<typename Policy::schedule_type::type, Kokkos::Dynamic>;
  std::int64_t const threads = policy.space().impl_threads();
  return std::min(n, threads > 1 && dynamic ? 16 * threads : threads);
}

/// The items of a policy, cut into chunks; teams wider than one thread are cut otherwise, see team.hpp.
template <class Policy>
class cut {
public:
  template <class F>
  cut(Policy const& policy, F const&)
      : policy_(policy), items_(items<Policy>::count(policy)),
        count_(std::max<std::int64_t>(1, chunks_of(policy, items_))) {}

  [[nodiscard]] bool empty() const { return items_ == 0; }
  /// Never 0: a reduction of no item, too, has a result.
  [[nodiscard]] std::int64_t count() const { return count_; }
  /// Calls each(c) for every chunk.
  template <class Each>
  void for_all(Each const& each) const {
    policy_.space().impl_for_chunks(count_, each);
  }
  template <class F, class... Update>
  void run(std::int64_t c, F const& f, Update&&... update) const {
    auto const [begin, end] = part(items_, count_, c);
    items<Policy>::run(policy_, f, begin, end, update...);
  }

private:
  Policy const& policy_;
  std::int64_t items_;
  std::int64_t count_;
};

/// Room for one partial result per chunk, each on cache lines of its own.
class partial_results {
public:
  partial_results(std::int64_t count, std::size_t bytes)
      : stride_((bytes + 127) / 64 * 64),
        memory_(
            static_cast<std::byte*>(std::aligned_alloc(64, stride_ * std::size_t(std::max<std::int64_t>(count, 1)))),
            &std::free) {
    if (!memory_) throw std::bad_alloc();
  }
  [[nodiscard]] void* operator[](std::int64_t c) const { return memory_.get() + std::size_t(c) * stride_; }

private:
  std::size_t stride_;
  std::unique_ptr<std::byte, void (*)(void*)> memory_;
};

/// A reduction over the items of a policy; its first part stands in the result itself.
template <class Policy, class Reduction>
class reduce_closure {
public:
  template <class Result>
  reduce_closure(Policy const& policy, Reduction reduction, Result const& result)
      : policy_(policy), reduction_(std::move(reduction)), result_(result.data()),
        returns_to_host_(!Kokkos::Impl::MemorySpaceAccess<typename Policy::execution_space::memory_space,
                                                          typename Result::memory_space>::accessible) {}

  /// Returns before the result is there, unless it is wanted on the host.
  void execute() const {
    policy_.space().impl_launch(*this);
    if (returns_to_host_) policy_.space().fence("keel::space: the result of a reduction is wanted on the host");
  }

  void run() const {
    cut<Policy> const work(policy_, reduction_.functor());
    std::int64_t const chunks = work.count();
    partial_results const parts(chunks, reduction_.size());
    auto const place = [&](std::int64_t c) { return c == 0 && result_ != nullptr ? result_ : parts[c]; };
    work.for_all([&](std::int64_t c) {
      auto&& value = reduction_.init(place(c));
      beside(value, [&](auto& sum) { work.run(c, reduction_.functor(), sum); });
    });
    for (std::int64_t c = 1; c < chunks; ++c) reduction_.join(place(0), place(c));
    reduction_.final(place(0));
  }

private:
  Policy policy_;
  Reduction reduction_;
  void* result_;
  bool returns_to_host_;
};

/// A scan over a range in two rounds, with one chunk more than threads. The first round runs the first chunk for good
/// and sums the others but the last, whose sum is no prefix; the second runs all after the first for good. So no
/// thread is idle, and `threads` of them take 2 / (threads + 1) of the time of one.
template <class Policy, class Reduction>
class scan_closure {
public:
  scan_closure(Policy const& policy, Reduction reduction, void* total)
      : policy_(policy), reduction_(std::move(reduction)), total_(total) {}

  /// Returns before the scan is done, unless the total is wanted.
  void execute() const {
    policy_.space().impl_launch(*this);
    if (total_ != nullptr && is_asynchronous<typename Policy::execution_space>)
      policy_.space().fence("keel::space: the total of a scan is wanted on the host");
  }

  void run() const {
    auto const& space = policy_.space();
    std::int64_t const n = items<Policy>::count(policy_);
    std::int64_t const wanted = chunks_of(policy_, n);
    std::int64_t const chunks = wanted > 1 ? std::min(n, wanted + 1) : 1;
    partial_results const before(chunks, reduction_.size());
    for (std::int64_t c = 0; c < chunks; ++c) reduction_.init(before[c]);

    partial_results const sums(chunks, reduction_.size());
    auto const visit = [&](std::int64_t c, bool final) {
      auto&& value = reduction_.init(sums[c]);
      if (final) reduction_.join(sums[c], before[c]);
      auto const items_of = part(n, chunks, c);
      beside(value, [&](auto& sum) {
        items<Policy>::run(policy_, reduction_.functor(), items_of.first, items_of.second, sum, final);
      });
    };
    space.impl_for_chunks(std::max<std::int64_t>(1, chunks - 1), [&](std::int64_t c) { visit(c, c == 0); });
    for (std::int64_t c = 1; c < chunks; ++c) {
      reduction_.join(before[c], before[c - 1]);
      reduction_.join(before[c], sums[c - 1]);
    }
    if (chunks > 1) space.impl_for_chunks(chunks - 1, [&](std::int64_t c) { visit(c + 1, true); });
    if (total_ != nullptr) {
      reduction_.init(total_);
      reduction_.join(total_, sums[chunks - 1]);
    }
  }

private:
  Policy policy_;
  Reduction reduction_;
  void* total_;
};

/// A loop over the items of a policy.
template <class F, class Policy>
class for_closure {
public:
  for_closure(F const& functor, Policy const& policy) : functor_(functor), policy_(policy) {}

  void execute() const { policy_.space().impl_launch(*this); }
  void run() const {
    cut<Policy> const work(policy_, functor_);
    if (!work.empty()) work.for_all([&](std::int64_t c) { work.run(c, functor_); });
  }

private:
  F functor_;
  Policy policy_;
};

/// Work on bytes: each thread of the instance has its part, and touches those it will have in kernels.
template <Engine Space, class F>
class bytes_closure {
public:
  bytes_closure(Space const& space, std::size_t bytes, F const& f)
      : space_(space), bytes_(std::int64_t(bytes)), f_(f) {}

  void execute() const { space_.impl_launch(*this); }
  void run() const {
    std::int64_t const chunks = bytes_ < 64 * 1024 ? 1 : space_.impl_threads();
    space_.impl_for_chunks(chunks, [&](std::int64_t c) {
      auto const [begin, end] = part(bytes_, chunks, c);
      if (begin < end) f_(begin, std::size_t(end - begin));
    });
  }

private:
  Space space_;
  std::int64_t bytes_;
  F f_;
};

/// Fills with zeros, or copies, in the order of the instance.
template <Engine Space>
void fill_with_zeros(Space const& space, void* at, std::size_t bytes) {
  bytes_closure(space, bytes, [to = static_cast<std::byte*>(at)](std::int64_t from, std::size_t count) {
    std::memset(to + from, 0, count);
  }).execute();
}
template <Engine Space>
void copy_bytes(Space const& space, void* to, void const* from, std::size_t bytes) {
  bytes_closure(space, bytes,
                [to = static_cast<std::byte*>(to), from = static_cast<std::byte const*>(from)](
                    std::int64_t at, std::size_t count) { std::memcpy(to + at, from + at, count); })
      .execute();
}

/// Writes one value, which it holds.
template <class T>
struct value_closure {
  T* to;
  T value;
  void run() const { *to = value; }
};

} // namespace keel::space::detail
