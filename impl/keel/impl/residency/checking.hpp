// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What checked tracking does in the program itself: finds two threads in one `fields`, and closes the simulated
/// device's memory.

#include <keel/policy/error.hpp>
#include <keel/space/simulated_memory.hpp>

#include <pthread.h>

#include <atomic>
#include <string>
#include <string_view>

namespace keel::residency::detail {

/// Holds the thread that is inside, if it `Checks`. The same thread may enter again, as a routine that calls its
/// fields does.
template <bool Checks>
class occupancy {
public:
  class visit {
  public:
    explicit visit(std::atomic<pthread_t>* left) : left_(left) {}
    ~visit() {
      if (Checks && left_ != nullptr) left_->store({});
    }
    visit(visit const&) = delete;
    visit& operator=(visit const&) = delete;

  private:
    std::atomic<pthread_t>* left_;
  };
  [[nodiscard]] visit enter(std::string_view call) {
    pthread_t found{};
    if (!Checks || inside_.compare_exchange_strong(found, ::pthread_self())) return visit(Checks ? &inside_ : nullptr);
    if (found != ::pthread_self())
      throw error("residency::checked", std::string(call) + " is called while another thread is in the same fields",
                  "fields are for one thread at a time", "Let the threads take turns, or give each fields of its own");
    return visit(nullptr);
  }

private:
  std::atomic<pthread_t> inside_{};
};

/// Closes what is allocated of the simulated device's memory from `close_if` to its end, to all but kernels and copies,
/// if the fields are checked.
template <bool MayClose>
struct closed_memory {
  void close_if(bool) {}
};
template <>
struct closed_memory<true> {
  closed_memory() = default;
  void close_if(bool closes) {
    if (closes) space::set_guard(space::guard::pages);
  }
  ~closed_memory() { space::set_guard(guard_before); }
  closed_memory(closed_memory const&) = delete;
  closed_memory& operator=(closed_memory const&) = delete;
  space::guard guard_before = space::chosen_guard();
};

} // namespace keel::residency::detail
