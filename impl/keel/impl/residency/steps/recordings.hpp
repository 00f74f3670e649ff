// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What the entries of a graph give to a device's queue, recorded for each state of the fields in which they run.

#include <keel/impl/residency/arrays.hpp>
#include <keel/impl/residency/book.hpp>
#include <keel/impl/residency/exchanger.hpp>
#include <keel/impl/residency/records.hpp>
#include <keel/impl/residency/schedule_view.hpp>
#include <keel/policy/macros.hpp>
#include <keel/validity/traffic.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace keel::residency::detail {

/// Entries that follow on each other in a graph, and launch all they do on the device of one memory.
class recordings {
public:
  /// Exchanges are among them if `by` is there.
  recordings(arrays& of, book& in, exchanger* by, memory where, schedule_nodes const& table, std::size_t begin,
             std::size_t end, bool is_parallel);
  [[nodiscard]] bool exchange_by(exchanger const* by) const { return exchanger_ == by; }

  /// Brings what they read to the device. Runs them by `body`, the first time that the fields are as they are. The
  /// second time it records what `body` launches. From then on that is launched, and `rotate` rotates levels as `body`.
  void run(bool (*keeps)(std::shared_ptr<void const>&, void const*), void const* arguments, thunk body, thunk rotate);

  /// An entry has launched what it does, which declares these; or, if it `sends`, what all others wait for.
  void end_entry(std::span<request const> asked, bool sends);

  /// A graph does not run in one memory: the user is told, once.
  static void tell_of_memories(book const& of);

private:
  /// The fields before and after, and the arguments.
  struct recording {
    field_ledger::snapshot before;
    std::vector<std::vector<int>> slots;
    std::vector<std::uint32_t> links; ///< to other ranks
    std::shared_ptr<void const> arguments;
    bool stays_open = false; ///< it copies between memories, or cannot be recorded
    std::shared_ptr<void const> work = nullptr;
    field_ledger::snapshot after = {};
    std::vector<std::uint32_t> links_after = {};
    traffic sent = {};
  };
  /// What a node reads that none before it makes, by its level before all of them.
  struct first_read {
    std::string_view reader;
    request what;
  };
  /// What an entry launched while it was recorded, and the arrays that it reads or writes.
  struct accessed {
    std::byte const *begin, *end;
    bool is_written;
  };
  struct entry_work {
    std::vector<accessed> all;
    bool is_apart; ///< it follows all before it, and all others follow it
    [[nodiscard]] bool is_before(entry_work const& other) const;
  };
  /// What is launched at once, or by `body`, takes less time: found by windows of turns of each, between two waits for
  /// the device, of which the shortest counts.
  struct comparison {
    static constexpr int turns = 24, windows = 8; // of 1 to 4 levels in the same states
    int turn = 0;
    std::chrono::steady_clock::time_point begun = {};
    std::array<double, 2> least{1e300, 1e300}; ///< us a window: at once, one by one
  };
  static constexpr std::size_t most = 64; // the oldest goes
  static constexpr int most_misses = 200; // in a row: the user is told

  [[nodiscard]] recording* find(auto keeps, void const* arguments);
  /// Whether it is launched at once in this turn, though `measured` does not know yet; or knows.
  [[nodiscard]] bool is_launched_at_once();
  void record(recording& one, thunk body);
  void end_part(std::span<request const> asked, bool sends);
  /// The numbers of the entries that each has to follow.
  [[nodiscard]] std::vector<std::vector<std::size_t>> dependencies() const;
  void tell(std::string_view what, std::string_view advice);

  arrays& arrays_;
  book& book_;
  exchanger* exchanger_;
  memory where_;
  std::vector<first_read> first_reads_;
  std::vector<recording> all_;
  std::vector<std::uint32_t> links_; // now
  std::size_t next_ = 0;             // where to look first: levels come round in order
  int misses_ = 0;
  std::string_view name_; // of the first entry that runs on data
  comparison measured_;
  bool is_told_ = false, is_parallel_, is_recording_ = false;
  std::vector<entry_work> entries_;                // while it records; of a graph that is not parallel one
  std::vector<std::shared_ptr<void const>> parts_; // of each
};

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/residency/steps/recordings.ipp>
#endif
