// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What a process prints before it ends because a kernel failed on a card: Kokkos prints the vendor's words, and
/// aborts.

#include <keel/policy/tags.hpp>
#include <keel/space/devices.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <unistd.h>

namespace keel::residency::detail {

/// As in <csignal>, whose `raise` and `signal` would stand beside routines of that name.
using signal_handler = void (*)(int);
extern "C" signal_handler signal(int, signal_handler) noexcept;
inline constexpr int abort_signal = 6;

/// Kernels run after their launch, so that what failed is the routine that got the card's space last, or one before it.
struct faults {
  static inline std::string_view routine{};
  static inline std::string place{};
  static inline bool (*has_failed)() = nullptr;

  /// Until the end of the process; a handler of SIGABRT that was there, as MPI libraries have one, is
  /// called after it.
  static void watch(std::string text, bool (*asks)()) {
    place = std::move(text), has_failed = asks;
    if (auto* const other = detail::signal(abort_signal, &report); other != &report) before = other;
  }
  template <class Tag>
  static void watch_cards([[maybe_unused]] int rank) {
    if constexpr (requires { device_traits<Tag>::has_failed(); }) {
      if (!available<Tag>()) return;
      int const instance = device_traits<Tag>::device_instance();
      std::string const id = device_traits<Tag>::pci_id(instance);
      watch("keel::residency: a kernel failed on rank " + std::to_string(rank) + ", on card " +
                (id.empty() ? std::to_string(instance) : id) + " of " + std::string(Tag::name) +
                ". The routine launched last is ",
            &device_traits<Tag>::has_failed);
    }
  }

private:
  static inline signal_handler before = nullptr;
  static void report(int number) {
    bool is_told = has_failed != nullptr && has_failed();
    for (std::string_view const text : {std::string_view(place), routine, std::string_view(".\n")})
      is_told = is_told && ::write(STDERR_FILENO, text.data(), text.size()) >= 0;
    if (reinterpret_cast<std::uintptr_t>(before) > 1) before(number); // neither the default nor ignored
  }
};

} // namespace keel::residency::detail
