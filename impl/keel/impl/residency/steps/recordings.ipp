// SPDX-License-Identifier: MIT
#include <keel/impl/residency/steps/recordings.hpp>
#include <keel/policy/error.hpp>
#include <keel/policy/log.hpp>

#include <exception>
#include <string>
#include <utility>

namespace keel::residency::detail {

/// The level that becomes level `l` of so many; -1 if that is void.
constexpr int level_before(int l, int levels, rotation how) {
  if (levels == 1) return l;
  if (how == rotation::rewind) return l + 1 == levels ? -1 : l + 1;
  return l > 0 ? l - 1 : how == rotation::in_place ? levels - 1 : -1;
}

KEEL_INLINE recordings::recordings(arrays& of, book& in, exchanger* by, memory where, schedule_nodes const& table,
                                   std::size_t begin, std::size_t end, bool is_parallel)
    : arrays_(of), book_(in), exchanger_(by), where_(where), is_parallel_(is_parallel) {
  for (std::size_t i = begin; i < end; ++i) {
    if (!has_place(table.nodes[i].what())) continue;
    if (name_.empty()) name_ = table.nodes[i].about->name;
    for (request const& r : table.asked(i)) {
      request first{r.variable, r.level, table.is_scratch(r) ? region::none : r.reads, region::none, r.read_layers};
      for (std::size_t n = i; n-- > begin && first.level >= 0;)
        for (request const& before : table.asked(n)) {
          if (before.variable != r.variable) continue;
          if (rotates(table.nodes[n].what()))
            first.level = level_before(first.level, in.ledger().levels(r.variable), rotation_of(table.nodes[n].what()));
          else if (before.level == first.level) first.reads = without(first.reads, before.writes);
        }
      if (first.level >= 0 && first.reads != region::none) first_reads_.push_back({table.nodes[i].about->name, first});
    }
  }
}

inline auto recordings::find(auto keeps, void const* arguments) -> recording* {
  for (std::size_t n = 0; n < all_.size(); ++n) {
    std::size_t const at = (next_ + n) % all_.size();
    recording& one = all_[at];
    if (!book_.ledger().is_as(one.before) || arrays_.provider().slots() != one.slots || one.links != links_ ||
        !keeps(one.arguments, arguments))
      continue;
    next_ = at + 1;
    return &one;
  }
  return nullptr;
}

KEEL_INLINE void recordings::tell(std::string_view what, std::string_view advice) {
  if (std::exchange(is_told_, true) || !book_.prints()) return;
  policy::log(policy::log_level::warning,
              "residency::graph: " + std::string(what) + ". Its entries run one by one. " + std::string(advice) + '.');
}

KEEL_INLINE void recordings::tell_of_memories(book const& of) {
  static bool is_told = false;
  if (std::exchange(is_told, true) || !of.prints()) return;
  policy::log(
      policy::log_level::warning,
      "residency::graph: an exchange in it packs messages on the host, so its entries run one by one. Say `using "
      "exchange = kr::on_device;` in the policy.");
}

KEEL_INLINE void recordings::run(bool (*keeps)(std::shared_ptr<void const>&, void const*), void const* arguments,
                                 thunk body, thunk rotate) {
  for (first_read const& one : first_reads_)
    if (!book_.ledger().is_ready({&one.what, 1}, where_, every_component))
      book_.acquire({&one.what, 1}, where_, one.reader, every_component);
  links_.clear();
  if (exchanger_ != nullptr) exchanger_->add_state(links_);
  recording* const known = find(keeps, arguments);
  if (known == nullptr) {
    recording made{book_.ledger().now(), arrays_.provider().slots(), links_, nullptr};
    (void)keeps(made.arguments, arguments);
    std::uint64_t const copies = book_.traffic().copies();
    body();
    made.stays_open = made.stays_open || book_.traffic().copies() != copies;
    if (++misses_ == most_misses)
      tell("nothing was launched again in " + std::to_string(most_misses) + " turns",
           "Let kernels read what step passes and changes each time as an argument<...>");
    if (all_.size() == most) all_.erase(all_.begin());
    all_.push_back(std::move(made));
    return;
  }
  misses_ = 0;
  if (known->stays_open) return body();
  if (known->work == nullptr) return record(*known, body);
  if (!book_.settings().graphs && !is_launched_at_once()) return body();
  if (exchanger_ != nullptr) exchanger_->take_state(known->links_after), book_.traffic().add(known->sent);
  arrays_.provider().queue_of(where_).replay(known->work.get());
  rotate();
  book_.ledger().take(known->after);
}

KEEL_INLINE bool recordings::is_launched_at_once() {
  constexpr int turns = comparison::turns, all = turns * comparison::windows;
  auto& [turn, begun, least] = measured_;
  if (turn <= all && turn % turns == 0) {
    arrays_.provider().wait(where_);
    auto const now = std::chrono::steady_clock::now();
    double& last = least[std::size_t(turn / turns + 1) % 2];
    if (turn > 0) last = std::min(last, std::chrono::duration<double, std::micro>(now - begun).count());
    begun = now;
    auto const text = [](double us) { return std::to_string(std::int64_t(us + 0.5)) + " us"; };
    if (turn == all && book_.prints())
      policy::log(policy::log_level::information, "residency::graph: " + std::to_string(turns) + " turns from " +
                                                      std::string(name_) + " on took " + text(least[0]) +
                                                      " launched at once, " + text(least[1]) + " one by one");
  }
  if (turn >= all) return turn = all + 1, least[0] <= least[1];
  return turn++ / turns % 2 == 0;
}

inline bool recordings::entry_work::is_before(entry_work const& other) const {
  if (is_apart || other.is_apart) return true;
  for (accessed const& a : all)
    for (accessed const& b : other.all)
      if ((a.is_written || b.is_written) && a.begin < b.end && b.begin < a.end) return true;
  return false;
}
KEEL_INLINE void recordings::end_entry(std::span<request const> asked, bool sends) {
  if (is_parallel_ && is_recording_) end_part(asked, sends);
}
KEEL_INLINE void recordings::end_part(std::span<request const> asked, bool sends) {
  copy_queue const& queue = arrays_.provider().queue_of(where_);
  entry_work made{{}, sends};
  auto part = queue.recorded();
  queue.record();
  if (part == nullptr) return;
  for (request const& r : asked)
    for (int c = 0; c < arrays_.components(); ++c) {
      shape const& lies = arrays_.provider().shape_of(r.variable, c);
      auto const* const begin = static_cast<std::byte const*>(arrays_.provider().array(r.variable, r.level, c, where_));
      made.all.push_back({begin, begin + lies.elements * lies.element_bytes, r.writes != region::none});
    }
  entries_.push_back(std::move(made));
  parts_.push_back(std::move(part));
}
inline std::vector<std::vector<std::size_t>> recordings::dependencies() const {
  std::size_t const count = entries_.size();
  std::vector<std::vector<std::size_t>> made(count);
  std::vector<std::vector<bool>> reached(count, std::vector<bool>(count));
  for (std::size_t n = 0; n < count; ++n)
    for (std::size_t k = n; k-- > 0;) {
      if (reached[n][k] || !entries_[k].is_before(entries_[n])) continue;
      made[n].push_back(k), reached[n][k] = true;
      for (std::size_t i = 0; i < k; ++i) reached[n][i] = reached[n][i] || reached[k][i];
    }
  return made;
}

// Nothing of it has run when that fails: then the fields are as they were.
KEEL_INLINE void recordings::record(recording& one, thunk body) {
  copy_queue const& queue = arrays_.provider().queue_of(where_);
  traffic const before = book_.traffic();
  try {
    book::recording_scope const unpoisoned(book_);
    queue.record();
    entries_.clear(), parts_.clear(), is_recording_ = true;
    try {
      body();
      end_part({}, true);
    } catch (...) {
      is_recording_ = false;
      try {
        (void)queue.recorded();
      } catch (...) { // the first one tells more
      }
      throw;
    }
    is_recording_ = false;
    (void)queue.recorded(); // nothing
    one.work = queue.joined(parts_, dependencies());
    if (exchanger_ != nullptr) exchanger_->add_state(one.links_after);
    one.after = book_.ledger().now(), one.sent = book_.traffic(), one.sent.add(before, true);
    queue.replay(one.work.get());
  } catch (std::exception const& e) {
    (void)queue.take_failure();
    if (exchanger_ != nullptr) exchanger_->take_state(one.links);
    book_.traffic() = before;
    book_.ledger().take(one.before);
    arrays_.provider().set_slots(one.slots);
    one.stays_open = true;
    tell(std::string("what is launched cannot be recorded: ") + e.what(), "See graphs.md");
    return body();
  }
}

} // namespace keel::residency::detail
