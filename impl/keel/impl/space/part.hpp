// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How items are cut evenly. Depends only on the standard library.

#include <algorithm>
#include <cstdint>
#include <utility>

namespace keel::space::detail {

/// Chunk `c` of `count` out of `n` items; sizes differ by at most one.
constexpr std::pair<std::int64_t, std::int64_t> part(std::int64_t n, std::int64_t count, std::int64_t c) {
  std::int64_t const size = n / count;
  std::int64_t const rest = n % count;
  std::int64_t const begin = c * size + std::min(c, rest);
  return {begin, begin + size + (c < rest ? 1 : 0)};
}

/// A call `f(i)` without the type of `f`, which lives longer: what is compiled once for all kernels takes it.
class numbered_call {
public:
  template <class F>
  explicit numbered_call(F const& f)
      : f_(&f), call_([](void const* of, std::int64_t i) { (*static_cast<F const*>(of))(i); }) {}
  void operator()(std::int64_t i) const { call_(f_, i); }

private:
  void const* f_;
  void (*call_)(void const*, std::int64_t);
};

} // namespace keel::space::detail
