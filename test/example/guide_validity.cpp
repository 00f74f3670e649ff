// SPDX-License-Identifier: MIT
#include <keel/validity.hpp>
#include <iostream>
#include <span>
#include <vector>

namespace kr = keel::residency;

/// The arrays of a driver, one for each memory and variable, and how it copies them.
struct arrays {
  std::vector<double> data[2][1];

  void create(int variable, kr::memory m) { data[int(m)][variable].resize(4); }
  kr::started to_device(std::span<kr::transfer const> batch) { return copy(batch), kr::started{}; }
  kr::finished to_host(std::span<kr::transfer const> batch) { return copy(batch), kr::finished{}; }
  kr::started post_sync(std::span<kr::transfer const> batch) { return to_device(batch); }
  kr::finished pre_sync(std::span<kr::transfer const> batch) { return to_host(batch); }
  void copy(std::span<kr::transfer const> batch) {
    for (kr::transfer const& t : batch) data[int(t.to)][t.variable] = data[int(t.from)][t.variable];
  }
  kr::started copy_cycle(int) { return {}; } // there is one time level
  kr::started copy_from_past(int, int, kr::memory) { return {}; }
  void wait(kr::memory) {}
  void poison(int, int, int, kr::region, kr::memory) {}
};

int main() try {
  arrays all;
  kr::ledger book{all};
  book.name_memories({"host", "card"});
  kr::memory const card{1};
  int const heat = book.add("heat", 1, {4 * sizeof(double), 0, 0, 0}); // all of it is core

  book.require_invalid_data(heat, 0, kr::core, kr::host); // about to be written there
  all.data[0][heat] = {1, 2, 3, 4};
  book.notify_data_modified(heat, 0, kr::core, kr::host);
  for (int step = 0; step < 3; ++step) {
    book.require_valid_data(heat, 0, kr::core, card, "warm"); // copies in the first step only
    for (double& h : all.data[1][heat]) h += 1;
    book.notify_data_modified(heat, 0, kr::core, card);
  }
  book.require_valid_data(heat, 0, kr::core, kr::host, "print");
  std::cout << all.data[0][heat][0] << " after " << book.traffic().copies() << " copies\n";
  book.forget(heat);
  book.require_valid_data(heat, 0, kr::core, card, "warm");
} catch (keel::error const& e) {
  std::cout << e.what() << '\n';
}
