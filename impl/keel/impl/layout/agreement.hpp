// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What the ranks of an environment agree on and send each other while elements move, without its type.

#include <keel/machine/agreement.hpp>
#include <keel/machine/alone.hpp>
#include <keel/machine/sparse.hpp>
#include <keel/policy/macros.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace keel::residency::detail {

struct elements;
/// What a search for the owners of ids is for, which its errors say. With `some_owners`, ids may have none.
enum class search_for { owners, images, some_owners, rows };

/// The ranks of an environment, which has to live on, with what moves elements between them.
class agreement : public machine::agreement {
public:
  agreement() = default; ///< of no ranks: tests false
  template <class R>
  explicit agreement(machine::basic_environment<R> const& of);
  /// The environment may move, but not end. Of no ranks on a non-member.
  template <class R>
  [[nodiscard]] static agreement of_ranks_in(machine::basic_environment<R> const& of);

  using ids = std::vector<machine::parcel<std::int64_t>>;

  /// The elements that have `wanted` as ghosts.
  [[nodiscard]] std::shared_ptr<elements> search(std::string_view mesh, std::span<std::int64_t const> owned,
                                                 std::span<std::int64_t const> wanted, search_for what) const {
    return calls_->find(environment_, mesh, owned, wanted, what);
  }
  /// Messages to ranks that do not expect them. `talk` is what `make_talk`, which is not collective, has made.
  [[nodiscard]] std::shared_ptr<void> make_talk() const { return calls_->make_talk(); }
  [[nodiscard]] ids exchange(void* talk, ids out) const { return calls_->exchange(environment_, talk, std::move(out)); }

  struct calls {
    std::shared_ptr<elements> (*find)(void const*, std::string_view, std::span<std::int64_t const>,
                                      std::span<std::int64_t const>, search_for);
    std::shared_ptr<void> (*make_talk)();
    ids (*exchange)(void const*, void* talk, ids);
  };
  template <class R>
  struct calls_of;

private:
  void const* environment_ = nullptr;
  calls const* calls_ = nullptr;
  std::shared_ptr<void const> kept_;
};

// The bodies stand outside the class: those inside would be compiled with every source.
template <class R>
struct agreement::calls_of {
  using environment = machine::basic_environment<R>;
  using messages = std::optional<machine::sparse_messages<R>>;
  static std::shared_ptr<elements> find(void const* of, std::string_view mesh, std::span<std::int64_t const> owned,
                                        std::span<std::int64_t const> wanted, search_for what);
  static std::shared_ptr<void> make_talk();
  static ids exchange(void const* of, void* talk, ids out);
  static constexpr calls all{&find, &make_talk, &exchange};
};

template <class R>
std::shared_ptr<elements> agreement::calls_of<R>::find(void const* of, std::string_view mesh,
                                                       std::span<std::int64_t const> owned,
                                                       std::span<std::int64_t const> wanted, search_for what) {
  return find_owners(*static_cast<environment const*>(of), mesh, owned, wanted, what);
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

template <class R>
agreement agreement::of_ranks_in(machine::basic_environment<R> const& of) {
  if (!of.is_member()) return {};
  auto kept = std::make_shared<machine::basic_environment<R> const>(machine::borrow, of.comm());
  agreement made(*kept);
  made.kept_ = std::move(kept);
  return made;
}

#if KEEL_COMPILED
extern template struct agreement::calls_of<machine::alone>;
#if KEEL_WITH_MPI
extern template struct agreement::calls_of<machine::mpi>;
#endif
#endif

} // namespace keel::residency::detail
