// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How checked tracking finds two threads in one `fields`.

#include <keel/policy/error.hpp>

#include <atomic>
#include <string>
#include <string_view>
#include <thread>

namespace keel::residency::detail {

/// Looks at nothing.
template <bool Checks>
struct occupancy {
  struct visit {
    ~visit() {} // written, so that a visit that does nothing is no unused variable
  };
  [[nodiscard]] visit enter(std::string_view) { return {}; }
};

/// Holds the thread that is inside. The same thread may enter again, as a routine that calls its fields does.
template <>
struct occupancy<true> {
  class visit {
  public:
    explicit visit(std::atomic<std::thread::id>* left) : left_(left) {}
    ~visit() {
      if (left_ != nullptr) left_->store({});
    }
    visit(visit const&) = delete;
    visit& operator=(visit const&) = delete;

  private:
    std::atomic<std::thread::id>* left_;
  };
  [[nodiscard]] visit enter(std::string_view call) {
    std::thread::id found{};
    if (inside_.compare_exchange_strong(found, std::this_thread::get_id())) return visit(&inside_);
    if (found != std::this_thread::get_id())
      throw error("residency::checked", std::string(call) + " is called while another thread is in the same fields",
                  "fields are for one thread at a time", "Let the threads take turns, or give each fields of its own");
    return visit(nullptr);
  }

private:
  std::atomic<std::thread::id> inside_{};
};

} // namespace keel::residency::detail
