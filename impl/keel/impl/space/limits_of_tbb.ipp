// SPDX-License-Identifier: MIT
#include <keel/impl/space/limits_of_tbb.hpp>

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/version.h>

#include <cstddef>
#include <mutex>
#include <optional>

namespace keel::space::detail {

/// The limits that are set now.
struct limits_of_tbb {
  using control = ::tbb::global_control;
  std::mutex mutex;
  std::optional<control> threads;
  std::optional<control> stack;
  static limits_of_tbb& held() {
    static limits_of_tbb one;
    return one;
  }
};

KEEL_INLINE void thread_limit::raise(int threads) {
  using control = ::tbb::global_control;
  auto& held = limits_of_tbb::held();
  std::lock_guard const lock(held.mutex);
  auto const wanted = std::size_t(threads);
  if (wanted <= control::active_value(control::max_allowed_parallelism)) return;
  held.threads.reset(); // of two limits the lower one counts
  held.threads.emplace(control::max_allowed_parallelism, wanted);
}
KEEL_INLINE void thread_limit::set_stack(std::int64_t bytes) {
  auto& held = limits_of_tbb::held();
  std::lock_guard const lock(held.mutex);
  held.stack.reset();
  held.stack.emplace(::tbb::global_control::thread_stack_size, std::size_t(bytes));
}
KEEL_INLINE void thread_limit::drop() {
  auto& held = limits_of_tbb::held();
  std::lock_guard const lock(held.mutex);
  held.threads.reset();
  held.stack.reset();
}

KEEL_INLINE std::vector<int> numa_regions_of_tbb() {
  auto const all = ::tbb::info::numa_nodes();
  return {all.begin(), all.end()};
}
KEEL_INLINE std::string version_of_tbb() {
  return std::to_string(TBB_VERSION_MAJOR) + '.' + std::to_string(TBB_VERSION_MINOR);
}

} // namespace keel::space::detail
