// SPDX-License-Identifier: MIT
#include <keel/impl/space/turns.hpp>
#include <keel/policy/error.hpp>

#include <algorithm>
#include <mutex>
#include <vector>

namespace keel::space::detail {

/// A kernel that waits for a turn. It is listed as long as it lives.
class listed_wait {
public:
  /// Throws if the turn cannot end before that of `inside`, or of a kernel that it was launched from.
  listed_wait(turns const& wanted, running_kernel const* inside) : wanted_(&wanted), inside_(inside) {
    std::lock_guard const lock(mutex());
    if (leads_back(wanted_))
      throw error("space", "a kernel waits for an instance whose kernel waits for the first one's instance",
                  "two host threads launch on each other's instance from kernels",
                  "Launch from one thread, or on one instance");
    all().push_back(this);
  }
  ~listed_wait() {
    std::lock_guard const lock(mutex());
    std::erase(all(), this);
  }
  listed_wait(listed_wait const&) = delete;
  listed_wait& operator=(listed_wait const&) = delete;

private:
  /// Whether a kernel within the turn `of` waits, through others perhaps, for a turn that is held here. The list has no
  /// such circle, because this throws before it is closed.
  [[nodiscard]] bool leads_back(turns const* of) const {
    return std::ranges::any_of(all(), [&](listed_wait const* w) {
      return of->is_part_of(w->inside_) && (w->wanted_->is_part_of(inside_) || leads_back(w->wanted_));
    });
  }

  static std::mutex& mutex() {
    static std::mutex one;
    return one;
  }
  static std::vector<listed_wait*>& all() {
    static std::vector<listed_wait*> waits;
    return waits;
  }

  turns const* wanted_;
  running_kernel const* inside_;
};

KEEL_INLINE void turns::wait_for_turn(running_kernel const* inside) {
  auto const wait = [&] {
    while (state_.exchange(awaited, std::memory_order_acquire) != free) state_.wait(awaited);
  };
  if (inside == nullptr) return wait(); // it holds no turn
  listed_wait const listed(*this, inside);
  wait();
}

} // namespace keel::space::detail
