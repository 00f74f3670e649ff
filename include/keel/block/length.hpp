// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How many elements travel together through the innermost loop, at compile time.
/// Depends only on the standard library.

#include <keel/policy/macros.hpp>
#include <keel/policy/tags.hpp>

#include <cstddef>

namespace keel::block {

namespace detail {

/// The length that the compile line gives: `KEEL_VECTOR_SIZE`, else `OMEGA_VECTOR_SIZE` or `OMEGA_VECTOR_LENGTH`, as
/// Omega calls it today, else 0 for none.
#if defined(KEEL_VECTOR_SIZE)
inline constexpr std::size_t length_of_build = KEEL_VECTOR_SIZE;
static_assert(KEEL_VECTOR_SIZE > 0, "keel::block: KEEL_VECTOR_SIZE is not positive (a block holds at "
                                    "least one element). Leave it undefined for the default.");
#elif defined(OMEGA_VECTOR_SIZE)
inline constexpr std::size_t length_of_build = OMEGA_VECTOR_SIZE;
static_assert(OMEGA_VECTOR_SIZE > 0, "keel::block: OMEGA_VECTOR_SIZE is not positive (a block holds at "
                                     "least one element). Leave it undefined for the default.");
#elif defined(OMEGA_VECTOR_LENGTH)
inline constexpr std::size_t length_of_build = OMEGA_VECTOR_LENGTH;
static_assert(OMEGA_VECTOR_LENGTH > 0, "keel::block: OMEGA_VECTOR_LENGTH is not positive (a block holds at "
                                       "least one element). Leave it undefined for the default.");
#else
inline constexpr std::size_t length_of_build = 0;
#endif

/// Bytes of one vector register of the processor that is compiled for.
inline constexpr std::size_t register_bytes =
#if defined(__AVX512F__)
    64;
#elif defined(__AVX__)
    32;
#else
    16;
#endif

/// Registers that one block fills if no length is given: enough to hide the
/// latency of a multiply-add, few enough to stay in registers.
inline constexpr std::size_t registers_per_block = 8;

/// What the policy gives for this device, else for processors, else 0.
template <class Policy, class Device>
consteval std::size_t length_of_policy() {
  std::size_t given = 0;
  if constexpr (requires { Policy::template vector_length_on<Device>; })
    given = Policy::template vector_length_on<Device>;
  if constexpr (requires { Policy::vector_length; } && !keel::policy::is_accelerator<Device>)
    if (given == 0) given = Policy::vector_length;
  return given;
}

/// The lengths that the compile lines of this program's translation units gave; `other` is 0 while they agree. Each
/// unit adds its own before `main`.
struct lengths_of_units {
  bool any = false;
  std::size_t first = 0;
  bool differ = false;
  std::size_t other = 0;
};
inline constinit lengths_of_units noted_lengths{};

namespace {
[[maybe_unused]] bool const length_noted = [] {
  if (!noted_lengths.any) noted_lengths = {true, length_of_build, false, 0};
  else if (noted_lengths.first != length_of_build && !noted_lengths.differ)
    noted_lengths.differ = true, noted_lengths.other = length_of_build;
  return true;
}();
} // namespace

} // namespace detail

/// Number of `T` in one block of a loop on `Device`; never less than one, and any number, not only powers of two.
///
/// The first that gives a number other than 0 wins:
///
/// | source | on |
/// |---|---|
/// | `template <class Device> static constexpr std::size_t vector_length_on` of the policy | that device |
/// | `static constexpr std::size_t vector_length` of the policy | processors |
/// | `KEEL_VECTOR_SIZE`, `OMEGA_VECTOR_SIZE`, `OMEGA_VECTOR_LENGTH` on the compile line | processors |
/// | eight vector registers | processors |
/// | 1, because each element has a thread of its own | accelerators |
template <class T, class Device, class Policy = void>
inline constexpr std::size_t length = [] {
  if constexpr (detail::length_of_policy<Policy, Device>() != 0) return detail::length_of_policy<Policy, Device>();
  else if constexpr (keel::policy::is_accelerator<Device>) return std::size_t{1};
  else if constexpr (detail::length_of_build != 0) return detail::length_of_build;
  else
    return sizeof(T) < detail::registers_per_block * detail::register_bytes
               ? detail::registers_per_block * detail::register_bytes / sizeof(T)
               : std::size_t{1};
}();

} // namespace keel::block
