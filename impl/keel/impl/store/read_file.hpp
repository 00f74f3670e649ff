// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What a file of HDF5 holds, read as data.

#include <keel/impl/store/stored_file.hpp>

#include <span>
#include <string>
#include <string_view>

namespace keel::residency::detail {

/// What a file holds: attributes of texts and numbers, groups that have some, datasets with their offsets, and the
/// content of small ones that are named. Links other than hard ones, and attributes of other types, are left out.
/// Throws `keel::error` if it is not a file of HDF5, is cut short or damaged, or has a dataset that is not in one piece
/// or not of a `stored_type`.
[[nodiscard]] stored_file read_file(std::string const& path, std::span<std::string_view const> with_content = {});

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/store/read_file.ipp>
#endif
