// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How many elements travel together through the innermost loop, at compile time.
/// Rests on the standard library alone.

#include <keel/policy/macros.hpp>
#include <keel/policy/tags.hpp>

#include <cstddef>

namespace keel::block {

/// The length that the compile line asked for: `KEEL_VECTOR_SIZE`, else
/// `OMEGA_VECTOR_SIZE` or `OMEGA_VECTOR_LENGTH`, as Omega calls it today, else 0 for none.
#if defined(KEEL_VECTOR_SIZE)
inline constexpr std::size_t requested_length = KEEL_VECTOR_SIZE;
static_assert(KEEL_VECTOR_SIZE > 0, "keel::block: KEEL_VECTOR_SIZE is not positive (a block holds at "
                                    "least one element). Leave it undefined for the default?");
#elif defined(OMEGA_VECTOR_SIZE)
inline constexpr std::size_t requested_length = OMEGA_VECTOR_SIZE;
static_assert(OMEGA_VECTOR_SIZE > 0, "keel::block: OMEGA_VECTOR_SIZE is not positive (a block holds at "
                                     "least one element). Leave it undefined for the default?");
#elif defined(OMEGA_VECTOR_LENGTH)
inline constexpr std::size_t requested_length = OMEGA_VECTOR_LENGTH;
static_assert(OMEGA_VECTOR_LENGTH > 0, "keel::block: OMEGA_VECTOR_LENGTH is not positive (a block holds at "
                                       "least one element). Leave it undefined for the default?");
#else
inline constexpr std::size_t requested_length = 0;
#endif

/// Whether that was `KEEL_VECTOR_SIZE`, which is for every device; Omega's are for hosts alone.
#if defined(KEEL_VECTOR_SIZE)
inline constexpr bool requested_for_accelerators = true;
#else
inline constexpr bool requested_for_accelerators = false;
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

/// Registers that one block fills where nobody chose a length: enough to hide the
/// latency of a multiply-add, few enough to stay in registers.
inline constexpr std::size_t registers_per_block = 8;

namespace detail {

template <class Policy>
inline constexpr std::size_t chosen_by = 0;
template <class Policy>
  requires requires { Policy::vector_length; }
inline constexpr std::size_t chosen_by<Policy> = Policy::vector_length;

} // namespace detail

/// Number of `T` in one block of a loop on `Device`; never less than one.
///
/// The first that says a number wins: `Policy::vector_length` where it is not 0, `KEEL_VECTOR_SIZE`, and on a host
/// `OMEGA_VECTOR_SIZE`, `OMEGA_VECTOR_LENGTH`. Without any, 1 on an accelerator, where every element has a thread of
/// its own, and `registers_per_block` registers on a host.
template <class T, class Device, class Policy = void>
inline constexpr std::size_t length = [] {
  if constexpr (detail::chosen_by<Policy> != 0)
    return detail::chosen_by<Policy>;
  else if constexpr (requested_length != 0 && (requested_for_accelerators || !keel::policy::is_accelerator<Device>))
    return requested_length;
  else if constexpr (keel::policy::is_accelerator<Device>)
    return std::size_t{1};
  else
    return sizeof(T) < registers_per_block * register_bytes ? registers_per_block * register_bytes / sizeof(T)
                                                            : std::size_t{1};
}();

} // namespace keel::block
