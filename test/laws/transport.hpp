// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What every transport must keep, on any number of ranks, with messages in the memory of a
/// queue. Each rank sends to each, itself included.

#include <keel/exchange/queue.hpp>
#include <keel/exchange/transport.hpp>
#include <keel/policy/error.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace laws {

namespace kr = keel::residency;

/// Where messages lie: there, or on the host if a transport does not reach that memory.
struct letters {
  letters(kr::queue const& q, bool is_there) : by(is_there ? q : kr::queue{}) {}

  std::shared_ptr<std::byte> make(std::size_t bytes) const { return by.allocate("messages", bytes); }
  void write(void* to, std::vector<std::byte> const& from) const {
    by.to_device(to, from.data(), from.size()), by.fence();
  }
  std::vector<std::byte> read(void const* from, std::size_t bytes) const {
    std::vector<std::byte> came(bytes);
    by.to_host(came.data(), from, bytes), by.fence();
    return came;
  }

  kr::queue by;
};

/// One exchange of a transport, in two halves.
template <class T>
struct round_of {
  round_of(T& t, kr::messenger const& r, letters const& l, int n, auto const& size)
      : by(t), ranks(r), all(l), number(n) {
    for (int rank = 0; rank < ranks.size(); ++rank) {
      sends.push_back({rank, nullptr, size(ranks.rank(), rank)});
      receives.push_back({rank, nullptr, size(rank, ranks.rank())});
    }
    if constexpr (requires(std::span<kr::message> m) { by.place(all.by, m, m); }) by.place(all.by, sends, receives);
    else
      for (auto* list : {&sends, &receives})
        for (kr::message& m : *list) m.data = held.emplace_back(all.make(m.bytes)).get();
    for (kr::message const& m : sends) all.write(m.data, text(ranks.rank(), m.rank, m.bytes));
    by.begin(all.by, sends, receives);
  }
  void finish() {
    by.finish(all.by);
    for (kr::message const& m : receives) CHECK(all.read(m.data, m.bytes) == text(m.rank, ranks.rank(), m.bytes));
  }
  std::vector<std::byte> text(int from, int to, std::size_t bytes) const {
    std::vector<std::byte> made(bytes);
    for (std::size_t i = 0; i < bytes; ++i) made[i] = std::byte(i % 251 + std::size_t(31 * number + 7 * from + to));
    return made;
  }

  T& by;
  kr::messenger const& ranks;
  letters const& all;
  int number;
  std::vector<kr::message> sends, receives;
  std::vector<std::shared_ptr<std::byte>> held;
};

template <kr::Transport T>
void transport_is_sound(kr::messenger const& ranks, kr::queue const& by) {
  letters const all(by, T::reaches_device_memory);
  std::vector<int> others;
  for (int r = 0; r < ranks.size(); ++r) others.push_back(r);
  T first(ranks);
  if constexpr (requires { first.connect(all.by, others); })
    for (std::string const& why : first.connect(all.by, others)) CHECK(why == "");
  auto const sized = [](std::size_t bytes) {
    return [bytes](int from, int to) { return bytes * std::size_t(1 + (from + 2 * to) % 3); };
  };
  int number = 0;
  // Messages keep their order, whatever their lengths; a longer one after short ones, too.
  for (std::size_t const bytes : {0, 1, 8, 8, 1000, 3, 70000, 70000, 70000, 0, 1 << 20, 8})
    round_of<T>(first, ranks, all, ++number, sized(bytes)).finish();
  // Several exchanges are under way, of copies that share the ranks.
  T second(first);
  for (std::size_t const bytes : {500, 100000, 64}) {
    round_of<T> one(first, ranks, all, ++number, sized(bytes)), other(second, ranks, all, ++number, sized(2 * bytes));
    one.finish();
    other.finish();
  }
  // Some ranks have nothing for others.
  round_of<T>(first, ranks, all, ++number, [](int from, int to) { return std::size_t(from < to ? 100 : 0); }).finish();
  // What cannot be reached is named, and no message left.
  std::string said;
  try {
    T third(ranks);
    std::vector<kr::message> lost{{ranks.size(), nullptr, 8}};
    auto const held = all.make(8);
    lost[0].data = held.get();
    if constexpr (requires(std::span<kr::message> m) { third.place(all.by, m, m); }) third.place(all.by, lost, lost);
    third.begin(all.by, lost, lost);
    third.finish(all.by);
  } catch (keel::error const& e) {
    said = e.what();
  }
  CHECK(said.find("rank " + std::to_string(ranks.size())) != std::string::npos);
}

/// More bytes than an int counts, between two ranks.
template <kr::Transport T>
void transport_takes_long_messages(kr::messenger const& ranks, kr::queue const& by) {
  letters const all(by, T::reaches_device_memory);
  T sent(ranks);
  round_of<T>(sent, ranks, all, 1, [](int from, int to) {
    return from == 0 && to == 1 ? (std::size_t{1} << 31) + 8 : 0;
  }).finish();
}

} // namespace laws
