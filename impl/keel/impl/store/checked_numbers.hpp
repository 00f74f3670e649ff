// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The numbers of an attribute, each of which has a range: the only way from a file to an index.

#include <keel/impl/store/stored_file.hpp>
#include <keel/policy/macros.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace keel::residency::detail {

/// They are taken one after the other. Throws `keel::error`, which names the file, the attribute and the number, where
/// there is none or it is out of its range.
class checked_numbers {
public:
  /// Those of an object of the file, which is `whose` in messages.
  checked_numbers(std::string file, std::string_view whose, std::vector<stored_attribute> const& in,
                  std::string_view name);

  template <class T = std::int64_t>
  [[nodiscard]] T next(std::int64_t least, std::int64_t most = std::numeric_limits<T>::max()) {
    return static_cast<T>(take(least, most));
  }
  /// The next one is among these.
  template <class T = std::int64_t>
  [[nodiscard]] T next(std::initializer_list<std::int64_t> possible) {
    return static_cast<T>(take(possible));
  }
  [[nodiscard]] bool has_more() const { return at_ < all_.size(); }

private:
  [[nodiscard]] std::int64_t take(std::int64_t least, std::int64_t most);
  [[nodiscard]] std::int64_t take(std::initializer_list<std::int64_t> possible);
  [[noreturn]] void refuse(std::string const& possible) const;

  std::string file_, what_;
  std::vector<std::int64_t> all_;
  std::size_t at_ = 0;
};

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/store/checked_numbers.ipp>
#endif
