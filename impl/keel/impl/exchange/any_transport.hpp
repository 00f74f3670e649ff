// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A transport of any type.

#include <keel/exchange/transport.hpp>
#include <keel/policy/list.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace keel::residency::detail {

class any_transport;
using any_transports = std::vector<std::unique_ptr<any_transport>>;

/// A number that no other state has.
[[nodiscard]] inline std::uint32_t new_state() {
  static std::atomic<std::uint32_t> last = 0;
  return ++last;
}

/// Exchanges whose work a queue records and runs again.
class repeatable {
public:
  virtual ~repeatable() = default;
  /// Appends what has to be as it was when work is run again.
  virtual void add_state(std::vector<std::uint32_t>& all) const = 0;
  /// That is as the first ones say, which are left out then: work has been run again, or was not run.
  virtual void take_state(std::span<std::uint32_t const>& all) = 0;
};

/// See `Transport`.
class any_transport {
public:
  virtual ~any_transport() = default;
  /// Moves the messages of another exchange.
  [[nodiscard]] virtual std::unique_ptr<any_transport> another() const = 0;
  virtual std::vector<std::string> connect(queue const& by, std::span<int const> ranks) = 0;
  virtual void place(queue const& by, std::span<message> sends, std::span<message> receives) = 0;
  virtual void begin(queue const& by, std::span<message const> sends, std::span<message const> receives) = 0;
  virtual void finish(queue const& by) = 0;
  /// Null if its exchanges cannot be.
  [[nodiscard]] virtual repeatable* repeats() = 0;
  /// These messages, whose data are not set, take no memory then, if the transport can.
  virtual void reserve(queue const& by, std::span<message const> sends, std::span<message const> receives) = 0;

  std::string_view name;
  bool reaches_device_memory = false, is_ordered_by_queue = false, has_to_connect = false, has_places = false;
};

template <Transport T>
class transport_of final : public any_transport {
public:
  explicit transport_of(auto const& from) : it_(from) {
    name = T::name;
    reaches_device_memory = T::reaches_device_memory, is_ordered_by_queue = T::is_ordered_by_queue;
    has_to_connect = connects, has_places = places;
  }
  [[nodiscard]] std::unique_ptr<any_transport> another() const override { return std::make_unique<transport_of>(it_); }
  std::vector<std::string> connect([[maybe_unused]] queue const& by,
                                   [[maybe_unused]] std::span<int const> ranks) override {
    if constexpr (connects) return it_.connect(by, ranks);
    else return {};
  }
  void place([[maybe_unused]] queue const& by, [[maybe_unused]] std::span<message> sends,
             [[maybe_unused]] std::span<message> receives) override {
    if constexpr (places) it_.place(by, sends, receives);
  }
  void begin(queue const& by, std::span<message const> sends, std::span<message const> receives) override {
    it_.begin(by, sends, receives);
  }
  void finish(queue const& by) override { it_.finish(by); }
  [[nodiscard]] repeatable* repeats() override {
    if constexpr (requires { it_.repeats(); }) return &it_.repeats();
    else return nullptr;
  }
  void reserve(queue const& by, std::span<message const> sends, std::span<message const> receives) override {
    if constexpr (requires { it_.reserve(by, sends, receives); }) it_.reserve(by, sends, receives);
    else if constexpr (requires(std::size_t count) { it_.reserve(count); }) {
      std::size_t count = 0;
      for (auto const all : {sends, receives})
        for (message const& m : all) count += 1 + (m.bytes >> 30);
      it_.reserve(count);
    }
  }

private:
  static constexpr bool connects = requires(T& t, queue const& by, std::span<int const> r) { t.connect(by, r); };
  static constexpr bool places = requires(T& t, queue const& by, std::span<message> m) { t.place(by, m, m); };
  T it_;
};

template <class... Ts>
[[nodiscard]] any_transports transports_of(keel::list<Ts...>, messenger const& ranks) {
  any_transports all;
  (all.push_back(std::make_unique<transport_of<Ts>>(ranks)), ...);
  return all;
}
/// Those of keel's, compiled once.
[[nodiscard]] any_transports transports_of(all_transports, messenger const& ranks);

/// The transports of an application's policy.
template <class List>
struct transports_from {
  static void make(messenger const& ranks, any_transports& all) { all = transports_of(List{}, ranks); }
};

} // namespace keel::residency::detail
