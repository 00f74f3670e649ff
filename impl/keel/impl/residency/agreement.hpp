// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What the ranks of an environment agree on while sizes change, without its type.

#include <keel/impl/layout/owner_search.hpp>
#include <keel/layout/partition.hpp>
#include <keel/machine/agreement.hpp>
#include <keel/machine/alone.hpp>
#include <keel/machine/sparse.hpp>
#include <keel/policy/macros.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace keel::residency::detail {

/// The ranks of an environment, which has to live on, with what moves elements between them.
class agreement : public machine::agreement {
public:
  agreement() = default; ///< of no ranks: tests false
  template <class R>
  explicit agreement(machine::basic_environment<R> const& of);

  using ids = std::vector<machine::parcel<std::int64_t>>;

  /// Some of `wanted` may have no owner.
  [[nodiscard]] std::shared_ptr<elements> find_owners(std::string_view mesh, std::span<std::int64_t const> owned,
                                                      std::span<std::int64_t const> wanted) const {
    return calls_->find_owners(environment_, mesh, owned, wanted);
  }
  /// Messages to ranks that do not expect them. `talk` is what `make_talk`, which is not collective, has made.
  [[nodiscard]] std::shared_ptr<void> make_talk() const { return calls_->make_talk(); }
  [[nodiscard]] ids exchange(void* talk, ids out) const { return calls_->exchange(environment_, talk, std::move(out)); }

  struct calls {
    std::shared_ptr<elements> (*find_owners)(void const*, std::string_view, std::span<std::int64_t const>,
                                             std::span<std::int64_t const>);
    std::shared_ptr<void> (*make_talk)();
    ids (*exchange)(void const*, void* talk, ids);
  };
  template <class R>
  struct calls_of;

private:
  void const* environment_ = nullptr;
  calls const* calls_ = nullptr;
};

// The bodies stand outside the class: those inside would be compiled with every source.
template <class R>
struct agreement::calls_of {
  using environment = machine::basic_environment<R>;
  using messages = std::optional<machine::sparse_messages<R>>;
  static std::shared_ptr<elements> find_owners(void const* of, std::string_view mesh,
                                               std::span<std::int64_t const> owned,
                                               std::span<std::int64_t const> wanted);
  static std::shared_ptr<void> make_talk();
  static ids exchange(void const* of, void* talk, ids out);
  static constexpr calls all{&find_owners, &make_talk, &exchange};
};

template <class R>
std::shared_ptr<elements> agreement::calls_of<R>::find_owners(void const* of, std::string_view mesh,
                                                              std::span<std::int64_t const> owned,
                                                              std::span<std::int64_t const> wanted) {
  return detail::find_owners(*static_cast<environment const*>(of), mesh, owned, wanted, true);
}
template <class R>
std::shared_ptr<void> agreement::calls_of<R>::make_talk() {
  return std::make_shared<messages>();
}
template <class R>
auto agreement::calls_of<R>::exchange(void const* of, void* talk, ids out) -> ids {
  messages& made = *static_cast<messages*>(talk);
  if (!made) made.emplace(*static_cast<environment const*>(of));
  return made->exchange(std::move(out));
}

template <class R>
agreement::agreement(machine::basic_environment<R> const& of)
    : machine::agreement(of), environment_(&of), calls_(&calls_of<R>::all) {}

#if KEEL_COMPILED
extern template struct agreement::calls_of<machine::alone>;
#if KEEL_WITH_MPI
extern template struct agreement::calls_of<machine::mpi>;
#endif
#endif

} // namespace keel::residency::detail
