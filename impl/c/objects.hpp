// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What the handles of keel.h stand for.

#include <keel/device/runtime.hpp>
#include <keel/impl/exchange/array_exchanges.hpp>
#include <keel/impl/schedule/memories.hpp>
#include <keel/keel.h>
#include <keel/layout/partition.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace keel::c {

namespace kr = keel::residency;

/// The application that programs in C and Fortran are.
struct c_app : keel::defaults {
  using tracking = keel::list<kr::automatic, kr::checked>;
};
using runtime = keel::runtime<c_app>;
using environment = runtime::environment_type;

/// The one that runs; throws if none does.
[[nodiscard]] runtime& run();

/// A mistake with a code of its own.
struct coded : keel::error {
  coded(int c, std::string_view wrong, std::string_view why, std::string_view hint)
      : error("c", wrong, why, hint), code_of_c(c) {}
  int code_of_c;
};
/// Calls `f`, and makes what it throws a code and the message.
int caught(std::exception_ptr const& what) noexcept;
template <class F>
int guarded(F const& f) noexcept {
  try {
    f();
    return KEEL_SUCCESS;
  } catch (...) {
    return caught(std::current_exception());
  }
}

struct ranks_object {
  static constexpr std::string_view kind = "an environment";
  std::shared_ptr<environment const> it;
};
struct partition_object {
  static constexpr std::string_view kind = "a partition";
  std::string_view mesh;
  std::shared_ptr<kr::detail::elements const> it;
};
struct grid_object {
  static constexpr std::string_view kind = "a grid";
  kr::grid it;
};
struct exchanger_object {
  static constexpr std::string_view kind = "an exchanger";
  std::shared_ptr<environment const> ranks;
  std::shared_ptr<kr::detail::array_exchanges> it;
  machine::agreement with;
};
struct plan_object {
  static constexpr std::string_view kind = "a plan";
  std::shared_ptr<exchanger_object> by;
  std::shared_ptr<kr::detail::array_plan> it;
  std::vector<kr::detail::array_ref> planned, given; ///< `given`: those of the call, whose memory stays
};
struct open_object {
  static constexpr std::string_view kind = "an exchange that has begun";
  std::shared_ptr<plan_object> by;
  std::unique_ptr<kr::detail::begun_exchange> it;
  ~open_object() {
    if (it) (void)guarded([&] { by->it->finish(*it); });
  }
};
struct memory_object {
  static constexpr std::string_view kind = "memory";
  kr::detail::copy_queue queue;
  std::shared_ptr<std::byte> it;
};

/// All objects. A handle is a place and, above 16 bits, how often the place was taken, from 1 on.
struct slot {
  std::string_view const* kind = nullptr;
  std::shared_ptr<void> it;
  int taken = 0;
};
[[nodiscard]] std::vector<slot>& slots();
[[nodiscard]] int add(std::string_view const* kind, std::shared_ptr<void> it);
template <class T>
[[nodiscard]] int add(std::shared_ptr<T> it) {
  return add(&T::kind, std::move(it));
}
[[noreturn]] void refuse(int handle, std::string_view wanted);
template <class T>
[[nodiscard]] T& get(int handle) {
  auto const at = std::size_t(handle & 0xffff);
  auto& all = slots();
  if (handle <= 0 || at >= all.size() || all[at].taken != handle >> 16 || all[at].kind != &T::kind) [[unlikely]]
    refuse(handle, T::kind);
  return *static_cast<T*>(all[at].it.get());
}
template <class T>
[[nodiscard]] std::shared_ptr<T> share(int handle) {
  (void)get<T>(handle);
  return std::static_pointer_cast<T>(slots()[std::size_t(handle & 0xffff)].it);
}
/// Refuses a null pointer.
void require(void const* pointer, std::string_view what);
/// Refuses a negative number.
void require_length(std::int64_t count, std::string_view what);
/// So many of a list; refuses a negative number, and some of no list.
template <class T>
[[nodiscard]] std::span<T const> listed(std::int64_t count, T const* list, std::string_view what) {
  require_length(count, what);
  if (count != 0) require(list, what);
  return {list, std::size_t(count)};
}

/// The text, which stays as long as the program.
[[nodiscard]] std::string_view kept(std::string_view name);
/// The memory of the chosen device, which starts it.
[[nodiscard]] kr::detail::array_memory const* device_memory();
/// An address for each type of element.
[[nodiscard]] void const* type_of(int type);
/// What keel knows of an array; throws if a number of it is wrong.
[[nodiscard]] kr::detail::array_ref ref_of(keel_array const& a);
/// A grid, if there is one, and meshes, on which `made` is made. Collective: throws on every rank.
struct places {
  kr::grid const* whole = nullptr;
  std::vector<kr::detail::array_exchanges::place> meshes;
};
[[nodiscard]] places places_of(environment const& ranks, int grid, int count, int const* partitions, int const* made);

/// How a call names and counts arrays.
enum class arrays_call { exchange, accumulate, begin };
/// The arrays are in `plan.given`.
void run(std::shared_ptr<plan_object> const& plan, arrays_call what, int* open = nullptr);
/// The exact sum of what the ranks have.
[[nodiscard]] double sum_of(environment const& ranks, kr::detail::array_ref const& a, int type);

} // namespace keel::c
