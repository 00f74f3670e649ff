// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// An inventory as bytes and back, for the machine that wrote it. What comes back is checked as hostile input is.

#include <keel/impl/topology/discover.hpp>
#include <keel/topology/objects.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace keel::topology::detail {

template <class T, class Of>
concept maybe_const = std::same_as<std::remove_const_t<T>, Of>;

/// What is kept of each, in one place for both directions; ids and the table of cores follow from the rest.
void parts(auto& a, maybe_const<memory> auto& m) {
  a(m.type, m.name, m.os_index, m.bytes, m.cache_bytes, m.base_address, m.relative_speed);
}
void parts(auto& a, maybe_const<core> auto& c) {
  a(c.type, c.name, c.os_index, c.hardware_threads, c.relative_speed, c.page_sizes);
}
void parts(auto& a, maybe_const<device> auto& d) {
  a(d.type, d.name, d.pci_id, d.model, d.uuid, d.contexts, d.relative_speed);
}
void parts(auto& a, maybe_const<localities::locality> auto& l) {
  a(l.parent, l.end, l.first_core, l.end_core, l.level);
}
void parts(auto& a, maybe_const<localities> auto& tree) { a(tree.all()); }
void parts(auto& a, maybe_const<numbers_to_memories> auto& numbers) { std::apply(a, numbers.parts()); }
void parts(auto& a, maybe_const<memory_ways> auto& ways) { a(ways.unit, ways.latencies, ways.bandwidths); }
void parts(auto& a, maybe_const<inventory> auto& all) {
  a(all.memories, all.cores, all.devices, all.memory_places, all.core_places, all.device_places, all.caches, all.tree,
    all.ways, all.withheld_threads, all.withheld_memories);
}

class byte_writer {
public:
  void operator()(auto const&... values) { (put(values), ...); }
  [[nodiscard]] std::string const& bytes() const noexcept { return bytes_; }

private:
  template <class T>
  void put(T const& value) {
    if constexpr (std::integral<T> || std::is_enum_v<T>) number(std::uint64_t(value));
    else parts(*this, value);
  }
  void put(std::string const& text) {
    number(text.size());
    bytes_ += text;
  }
  void put(std::optional<std::uint64_t> const& value) { (*this)(value.has_value(), value.value_or(0)); }
  template <class T>
  void put(std::vector<T> const& values) {
    number(values.size());
    for (auto const& value : values) put(value);
  }
  void put(std::array<int, 4> const& values) { (*this)(values[0], values[1], values[2], values[3]); }
  void put(id_set const& ids) { put(std::vector<int>(ids.begin(), ids.end())); }
  void number(std::uint64_t value) { bytes_.append(reinterpret_cast<char const*>(&value), sizeof value); }

  std::string bytes_;
};

/// Reads what the writer wrote; from the first thing on that cannot be it, nothing more, and is not `whole`.
class byte_reader {
public:
  explicit byte_reader(std::string_view bytes) : rest_(bytes) {}
  void operator()(auto&... values) { (get(values), ...); }
  [[nodiscard]] bool whole() const noexcept { return good_ && rest_.empty(); }

private:
  template <class T>
  void get(T& value) {
    if constexpr (std::is_enum_v<T>) value = static_cast<T>(number<std::underlying_type_t<T>>());
    else if constexpr (std::integral<T>) value = number<T>();
    else parts(*this, value);
  }
  void get(std::string& text) {
    auto const size = many(1);
    text = rest_.substr(0, size);
    rest_.remove_prefix(size);
  }
  void get(std::optional<std::uint64_t>& value) {
    bool const there = number<bool>();
    auto const read = number<std::uint64_t>();
    value = there ? std::optional{read} : std::nullopt;
  }
  template <class T>
  void get(std::vector<T>& values) {
    values.resize(many(sizeof(std::uint64_t)));
    for (auto& value : values) get(value);
  }
  void get(std::array<int, 4>& values) { (*this)(values[0], values[1], values[2], values[3]); }
  void get(id_set& ids) {
    std::vector<int> read;
    get(read);
    for (int const id : read)
      if (id >= 0 && id < xml_index_max) ids.insert(id);
      else good_ = false;
  }

  /// A count of things of so many bytes at least, no more than can follow.
  std::size_t many(std::size_t bytes) {
    auto const count = number<std::uint64_t>();
    if (count > rest_.size() / bytes) good_ = false;
    return good_ ? std::size_t(count) : 0;
  }
  template <class T>
  T number() {
    std::uint64_t value = 0;
    if (good_ = good_ && rest_.size() >= sizeof value; !good_) return T{};
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
    good_ = std::uint64_t(static_cast<T>(value)) == value;
    return static_cast<T>(value);
  }

  std::string_view rest_;
  bool good_ = true;
};

/// Whether every question that a node answers stays inside of what is there.
inline bool is_sound(inventory const& all) {
  int const places = all.tree.size(), cores = int(all.cores.size());
  if (cores == 0 || !all.tree.is_sound() || all.tree[0].first_core != 0 || all.tree[0].end_core != cores) return false;
  auto const place_for_each = [&](auto const& objects, std::vector<int> const& of, int types, int least = 0) {
    bool good = objects.size() == of.size();
    for (auto const& object : objects) good = good && int(object.type) > 0 && int(object.type) < types;
    for (int const place : of) good = good && place >= least && place < places;
    return good;
  };
  if (!place_for_each(all.memories, all.memory_places, int(memory_type::cache_side) + 1, localities::nowhere) ||
      !place_for_each(all.cores, all.core_places, int(core_type::efficiency) + 1) ||
      !place_for_each(all.devices, all.device_places, int(device_type::other) + 1) ||
      all.caches.size() != all.cores.size())
    return false;
  auto const memories = all.memories.size();
  if (int(all.ways.unit) < 0 || int(all.ways.unit) > int(latency_unit::relative)) return false;
  if (!all.ways.latencies.is_sound(all.cores.size(), memories) ||
      !all.ways.bandwidths.is_sound(all.cores.size(), memories))
    return false;
  for (int c = 0; c < cores; ++c) {
    auto const& own = all.tree[all.core_places[std::size_t(c)]];
    if (own.level != 0 || c < own.first_core || c >= own.end_core) return false;
    if (all.cores[std::size_t(c)].hardware_threads.empty()) return false;
    for (int const holder : all.caches[std::size_t(c)])
      if (holder < -1 || holder >= places) return false;
  }
  return true;
}

[[nodiscard]] inline std::string to_bytes(inventory const& all) {
  byte_writer to;
  to(all);
  return to.bytes();
}

/// Empty if the bytes are not what `to_bytes` makes.
[[nodiscard]] inline std::optional<inventory> from_bytes(std::string_view bytes) {
  inventory all;
  byte_reader from{bytes};
  from(all);
  if (!from.whole() || !is_sound(all)) return std::nullopt;
  auto const number = [](auto& objects) {
    for (auto& object : objects) object.id = int(&object - objects.data());
  };
  number(all.memories);
  number(all.cores);
  number(all.devices);
  all.make_tables();
  return all;
}

} // namespace keel::topology::detail
