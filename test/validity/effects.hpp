// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What the oracle says that an operation does to one region of one level.

#include <support/oracle.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace test {

inline constexpr int most_memories = 5;

/// What a routine does to one region where it runs, and whom it finds there.
struct effect {
  bool can, comes_to_host, goes_to_device;
  std::uint8_t held; ///< afterwards
};
/// Effects as the oracle has them, for every set of memories that can hold the region. It never sees two regions at
/// once.
class effects {
public:
  enum : unsigned { needed = 1, changed = 2, neighbours_changed = 4 };

  effects() {
    for (int region = 0; region < 3; ++region)
      for (int where = 0; where < most_memories; ++where)
        for (unsigned held = 0; held < 32; ++held)
          for (unsigned how = 0; how < 8; ++how) table_[at(region, where, held, how)] = ask(region, where, held, how);
  }
  [[nodiscard]] effect const& of(int region, int where, unsigned held, unsigned how) const {
    return table_[at(region, where, held, how)];
  }

private:
  static std::size_t at(int region, int where, unsigned held, unsigned how) {
    return ((std::size_t(region) * most_memories + std::size_t(where)) * 32 + held) * 8 + how;
  }
  static effect ask(int region, int where, unsigned held, unsigned how) {
    oracle::program p(std::vector<oracle::variable>{{1, {1, 1, 1}}});
    p.place(0, 0, region, held);
    unsigned const bit = 1U << region;
    std::vector<oracle::access> const list{
        {0, 0, (how & needed) != 0 ? bit : 0,
         ((how & changed) != 0 ? bit : 0) | ((how & neighbours_changed) != 0 ? unsigned{oracle::owned} : 0U)}};
    if (region != 2 && (how & neighbours_changed) != 0) return {};
    if (!p.can(list)) return {false, false, false, std::uint8_t(held)};
    p.run(where, list);
    return {true, p.make_bill().host_bytes() != 0, p.make_bill().device_bytes() != 0,
            std::uint8_t(p.held(0, 0, region))};
  }
  std::array<effect, std::size_t{3} * most_memories * 32 * 8> table_;
};

} // namespace test
