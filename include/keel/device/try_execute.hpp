// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Running a piece of work on the first device that can.

#include <keel/device/tracker.hpp>
#include <keel/policy/choose.hpp>
#include <keel/policy/error.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>

namespace keel::device {

/// Whether an exception of Kokkos says that a device has no memory left, or is lost. Kokkos has no type for
/// it: it throws `std::runtime_error` for all that goes wrong, with the vendors' names of errors.
[[nodiscard]] inline bool is_failure_of_device(std::exception const& of_kokkos) {
  std::string_view const text = of_kokkos.what();
  constexpr std::array<std::string_view, 9> signs{"failed to allocate", "out of memory",    "llocation failed",
                                                  "llocation of size",  "MemoryAllocation", "cudaError",
                                                  "hipError",           "device lost",      "DEVICE_LOST"};
  return std::any_of(signs.begin(), signs.end(), [&](auto sign) { return text.find(sign) != text.npos; });
}

/// Calls `f(tag)` for the devices that the tracker allows until one succeeds, with Kokkos running, in the order of
/// `--keel-device`, then of the list; false if none did, and `run.summary()` says why. `f` succeeds unless it
/// returns false. A device that has no memory left, or is lost, is disabled, and the next one is tried; any other
/// exception leaves.
template <class Run, class F>
bool try_execute(Run& run, F&& f) {
  using devices = typename Run::devices;
  tracker<Run> here{run};
  auto const attempt = [&]<class Tag>(Tag tag) {
    if (!here.template can_run<Tag>()) return false;
    auto const fail = [&](std::string_view why) {
      here.report_failure(tag, std::string{why.substr(0, why.find('\n'))});
      return false;
    };
    try {
      run.start_devices();
      if constexpr (std::convertible_to<decltype(f(tag)), bool>) {
        if (!f(tag)) return false;
      } else {
        f(tag);
      }
    } catch (out_of_memory_error const& e) {
      return fail(e.brief());
    } catch (std::bad_alloc const& e) {
      return fail(e.what());
    } catch (error const&) {
      throw;
    } catch (std::runtime_error const& e) {
      if (!is_failure_of_device(e)) throw;
      return fail(e.what());
    }
    here.report_success(tag);
    return true;
  };
  bool is_done = false;
  auto const once = [&](std::string_view name) {
    with_device<devices>(name, [&]<class Tag>(Tag tag) { is_done = attempt(tag); });
  };
  auto const chain = run.device_chain();
  for (auto const name : chain)
    if (!is_done) once(name);
  for_each_device<devices>([&]<class Tag>(Tag) { // those that only the program allows
    bool const was_tried = std::find(chain.begin(), chain.end(), Tag::name) != chain.end();
    if (!is_done && !was_tried) once(Tag::name);
  });
  return is_done;
}

} // namespace keel::device
