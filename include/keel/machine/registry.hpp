// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The default environment, and environments found by name.

#include <keel/machine/environment.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace keel::machine {

namespace detail {
template <Ranks R>
inline basic_environment<R>* default_of = nullptr;
} // namespace detail

/// The environment that the runtime made. Throws `keel::error` if none runs.
template <Ranks R = mpi>
[[nodiscard]] basic_environment<R>& default_environment() {
  if (detail::default_of<R> != nullptr) return *detail::default_of<R>;
  throw error("machine", "there is no default environment", "no runtime of these ranks is running",
              "Make a keel::runtime first");
}

/// Lends an environment as the default one while it lives; then the one lent last of those that live is
/// default again. The owner of the environment holds one, as `keel::runtime` does.
template <Ranks R>
class as_default {
public:
  explicit as_default(basic_environment<R>& env) noexcept : env_(&env), before_(std::exchange(latest_, this)) {
    detail::default_of<R> = env_;
  }
  ~as_default() { // others that were made later may live on
    as_default** at = &latest_;
    while (*at != this) at = &(*at)->before_;
    *at = before_;
    detail::default_of<R> = latest_ != nullptr ? latest_->env_ : nullptr;
  }
  as_default(as_default const&) = delete;
  as_default& operator=(as_default const&) = delete;

private:
  static inline as_default* latest_ = nullptr;
  basic_environment<R>* env_;
  as_default* before_;
};

/// Owns environments by name. References stay good until `remove`, `clear`, or the
/// end of the outermost `session`, which frees all in reverse order. Creating and removing are collective
/// over the members, and so in one order on all of them. Not for several threads at once.
template <Ranks R>
class registry {
public:
  /// Makes an environment from the arguments of its constructor. Throws `keel::error` if the name is taken.
  template <class... Arguments>
    requires std::constructible_from<basic_environment<R>, Arguments...>
  basic_environment<R>& create(std::string name, Arguments&&... arguments) {
    if (find(name) != entries_.end())
      throw error("machine::environments", "there is an environment '" + name + "' already", known(),
                  "Remove it first, or take another name");
    auto made = std::make_unique<basic_environment<R>>(std::forward<Arguments>(arguments)...);
    return *entries_.emplace_back(std::move(name), std::move(made)).second;
  }

  basic_environment<R>& get(std::string_view name) { return *existing(name)->second; }
  void remove(std::string_view name) { entries_.erase(existing(name)); }
  [[nodiscard]] bool contains(std::string_view name) const { return find(name) != entries_.end(); }

  void clear() noexcept {
    while (!entries_.empty()) entries_.pop_back();
  }

private:
  using entry = std::pair<std::string, std::unique_ptr<basic_environment<R>>>;

  [[nodiscard]] auto find(std::string_view name) const {
    return std::find_if(entries_.begin(), entries_.end(), [&](entry const& e) { return e.first == name; });
  }
  [[nodiscard]] auto existing(std::string_view name) {
    auto const at = find(name);
    if (at == entries_.end())
      throw error("machine::environments", "there is no environment '" + std::string{name} + "'", known(),
                  "Create it first");
    return entries_.begin() + (at - entries_.cbegin());
  }
  [[nodiscard]] std::string known() const {
    std::string names;
    for (auto const& e : entries_) names.append(names.empty() ? "there is " : ", ").append(e.first);
    return names.empty() ? "there is none" : names;
  }

  std::vector<entry> entries_;
};

#if KEEL_COMPILED && KEEL_WITH_MPI
extern template class registry<mpi>;
#endif

/// The registry of the program, one for each model of ranks.
template <Ranks R = mpi>
[[nodiscard]] registry<R>& environments() {
  static registry<R> all;
  return all;
}

} // namespace keel::machine
