// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A field in memory of its own, in either layout, with padding that says whether it was touched.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace keel::test {

/// Extents, `right`: the last index is contiguous; `pad` elements after each run of the contiguous index and `pad` in
/// front of all are not a number.
template <std::size_t Rank>
class field {
public:
  static constexpr std::size_t rank = Rank;

  field(std::array<std::size_t, Rank> extents, bool right, std::size_t pad) : extents_(extents), pad_(pad) {
    std::size_t step = 1;
    for (std::size_t n = 0; n < Rank; ++n) {
      std::size_t const d = right ? Rank - 1 - n : n;
      strides_[d] = step;
      step = n == 0 ? extents[d] + pad : step * extents[d];
    }
    memory_ = std::make_shared<std::vector<double>>(step + 2 * pad, padding());
    each([&](double& x) { x = 0; });
  }

  [[nodiscard]] double* data() const { return memory_->data() + pad_; }
  [[nodiscard]] std::size_t extent(std::size_t d) const { return extents_[d]; }
  [[nodiscard]] std::size_t stride(std::size_t d) const { return strides_[d]; }

  template <class... I>
  [[nodiscard]] double& operator()(I... i) const {
    std::size_t at = 0, d = 0;
    ((at += std::size_t(i) * strides_[d++]), ...);
    return data()[at];
  }

  /// Every element, in the order of its indices.
  template <class F>
  void each(F f) const {
    std::size_t count = 1;
    for (auto e : extents_) count *= e;
    for (std::size_t n = 0; n < count; ++n) {
      std::size_t rest = n, at = 0;
      for (std::size_t d = Rank; d-- > 0;) at += rest % extents_[d] * strides_[d], rest /= extents_[d];
      f(data()[at]);
    }
  }

  /// How many elements outside the field still have the bits they began with, and how many there are.
  [[nodiscard]] bool padding_untouched() const {
    std::size_t inside = 1, like_padding = 0, wrong = 0;
    for (auto e : extents_) inside *= e;
    for (double x : *memory_)
      like_padding += std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(padding());
    each([&](double x) { wrong += std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(padding()); });
    return wrong == 0 && like_padding == memory_->size() - inside;
  }

private:
  [[nodiscard]] static double padding() { return std::bit_cast<double>(std::uint64_t{0x7ff8dead0000beef}); }

  std::array<std::size_t, Rank> extents_, strides_{};
  std::size_t pad_;
  std::shared_ptr<std::vector<double>> memory_; // a copy is the same field, as of a view
};

} // namespace keel::test
