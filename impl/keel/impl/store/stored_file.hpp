// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What a file of HDF5 holds, as data, and how one is made. Users' sources include no HDF5 here.

#include <keel/policy/macros.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace keel::residency::detail {

/// Numbers as this machine has them; `opaque` is bytes.
enum class stored_type : std::uint8_t { floating, integer, natural, opaque };

/// A text, which is of fixed length in a file, as VTK wants it; or a list, also of a single number. No `std::variant`:
/// where memory for a copy of one lacks, code of g++ 12 frees what was never made.
class stored_value {
  using types = std::tuple<std::string, std::vector<std::int64_t>, std::vector<double>, std::vector<std::string>>;
  template <class T>
  static constexpr int number_of = std::is_same_v<T, std::tuple_element_t<0, types>>   ? 0
                                   : std::is_same_v<T, std::tuple_element_t<1, types>> ? 1
                                   : std::is_same_v<T, std::tuple_element_t<2, types>> ? 2
                                                                                       : 3;

public:
  template <class T>
    requires requires(types& all) { std::get<T>(all); }
  stored_value(T value) : number_(number_of<T>) {
    std::get<T>(all_) = std::move(value);
  }
  template <class T>
  [[nodiscard]] T const* get_if() const {
    return number_ == number_of<T> ? &std::get<T>(all_) : nullptr;
  }
  /// What it was made of.
  template <class T>
  [[nodiscard]] T& get() {
    return std::get<T>(all_);
  }
  friend bool operator==(stored_value const&, stored_value const&) = default;

private:
  types all_;
  int number_;
};

struct stored_attribute {
  std::string name;
  stored_value value;
};

/// An array of a file, in one piece.
struct stored_dataset {
  std::string path = {}; ///< "/eta/0"; its groups are made
  stored_type type = stored_type::floating;
  int element_bytes = 8;                  ///< floating: 4, 8; integer and natural: 1, 2, 4, 8; opaque: any
  std::vector<std::int64_t> extents = {}; ///< slowest first; none: a single element. 0 may be among them
  std::vector<stored_attribute> attributes = {};
  std::int64_t offset = -1; ///< bytes from the beginning of the file, by `make_file` and `read_file`; -1: no bytes
  std::vector<std::byte> content =
      {}; ///< of small ones: what `make_file` writes; empty: nothing, so the bytes may be any

  [[nodiscard]] std::int64_t bytes() const {
    std::int64_t all = element_bytes;
    for (std::int64_t const n : extents) all *= n;
    return all;
  }
};

struct stored_file {
  std::vector<stored_attribute> attributes; ///< of the root
  std::vector<stored_dataset> datasets;     ///< read: by path
  /// Paths of groups below the root, with their attributes; read: of those that have some.
  std::vector<std::pair<std::string, std::vector<stored_attribute>>> groups;

  [[nodiscard]] stored_dataset const* dataset(std::string_view path) const {
    for (auto const& each : datasets)
      if (each.path == path) return &each;
    return nullptr;
  }
};

/// The attribute of this name with a value of type `Value`, else null.
template <class Value>
[[nodiscard]] Value const* attribute_of(std::vector<stored_attribute> const& attributes, std::string_view name) {
  for (auto const& each : attributes)
    if (each.name == name) return each.value.template get_if<Value>();
  return nullptr;
}

/// Whether keel was built with HDF5. If not, `make_file` and `read_file` throw, and say what is missing.
[[nodiscard]] bool has_hdf5();
/// Throws without it.
void require_hdf5(std::string const& path);

/// Bytes from which on a dataset is not small.
inline constexpr std::int64_t small_dataset = 1 << 16;

/// Makes the file, or makes it anew, with room for all datasets, and fills in their offsets. Nothing but `content` is
/// written into datasets. The format is that of HDF5 1.8, whose metadata have checksums. The file is closed, and not
/// flushed to the disk. Throws `keel::error`, and leaves no file then.
void make_file(std::string const& path, stored_file& what);

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/store/stored_file.ipp>
#endif
