// SPDX-License-Identifier: MIT
#include <keel/impl/residency/checked_call.hpp>
#include <keel/impl/residency/records.hpp>
#include <keel/policy/log.hpp>

#include <algorithm>

namespace keel::residency::detail {

KEEL_INLINE std::vector<checker::digested> checker::digest_undeclared(std::span<request const> asked, memory m,
                                                                      component_range range) {
  arrays_.settle_host();
  field_ledger& ledger = book_.ledger();
  for (int k = 1; k < ledger.memories(); ++k)
    if (ledger.is_open(memory(k))) arrays_.provider().wait(memory(k));
  std::vector<digested> all;
  for (int v = 0; v < ledger.variables(); ++v)
    for (int l = 0; l < ledger.levels(v); ++l)
      for (int c = 0; c < ledger.components(); ++c) {
        region spared = region::none;
        for (request const& r : asked)
          if (r.variable == v && r.level == l && c >= range.begin && c < range.end) spared = spared | r.writes;
        for (int k = 0; k < ledger.memories(); ++k)
          for (region one : single_regions)
            if (book_.has_array(v, memory(k), one, c) && !(memory(k) == m && overlap(one, spared)))
              all.push_back({{v, l, c, one, memory(k), memory(k)}, arrays_.provider().digest(v, l, c, one, memory(k))});
      }
  return all;
}

KEEL_INLINE void checker::refuse_undeclared(std::vector<digested> const& before, std::vector<digested> const& after,
                                            std::string_view routine) {
  std::string changed;
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (before[i].digest == after[i].digest) continue;
    transfer const& t = before[i].what;
    request const lost{t.variable, t.level, region::none, t.where};
    book_.ledger().lose({&lost, 1}, {t.component, t.component + 1}, routine);
    changed.append(changed.empty() ? "" : "; ")
        .append(book_.ledger().describe(t.variable, t.level, t.where, t.component) + ", on " +
                book_.ledger().describe(t.to));
  }
  if (!changed.empty())
    throw error("residency::checked",
                "routine " + std::string(routine) + " changed " + changed + ", which it does not declare",
                "by a raw pointer, a cast, or beyond its region", "Add it to its writes or updates");
}

KEEL_INLINE void checker::report_unwritten(std::span<request const> asked, memory m, component_range range,
                                           std::string_view routine) {
  for (request const& r : asked)
    for (int c = range.begin; c < range.of(arrays_.components()).end; ++c) {
      region promised = without(r.writes, r.reads);
      if (r.written_layers != all_layers) promised = without(promised, region::halo); // not all of it was promised
      std::uint64_t const left =
          promised == region::none ? 0 : arrays_.provider().count_poison(r.variable, r.level, c, promised, m);
      std::string const whom = std::string(routine) + ' ' + std::string(book_.ledger().name(r.variable));
      if (left == 0 || std::find(reported_.begin(), reported_.end(), whom) != reported_.end()) continue;
      reported_.push_back(whom);
      policy::log(policy::log_level::warning,
                  "residency::checked: routine " + std::string(routine) + " left " + std::to_string(left) +
                      " elements of " + book_.ledger().describe(r.variable, r.level, promised, c) + ", on " +
                      book_.ledger().describe(m) +
                      ", unwritten: they hold poison, a NaN (writes promises to overwrite the "
                      "whole region). Write all of it, or declare updates<" +
                      std::string(book_.ledger().name(r.variable)) + ">.");
    }
}

KEEL_INLINE void checker::refuse_reach(std::size_t first, std::string_view routine) const {
  for (std::size_t n = first; n < reaches_.size(); ++n) {
    reach const& r = reaches_[n];
    if (r.is_exceeded == 0) continue;
    std::string used, declared;
    for (int d = 0; d < r.rank; ++d) {
      used += (d == 0 ? "(" : ", ") + std::to_string(r.used[d]);
      declared += (d == 0 ? "" : ", ") + std::to_string(r.begin[d]) + " to " + std::to_string(r.end[d] - 1);
    }
    std::string const name(book_.ledger().name(r.asked.variable));
    throw error(
        "residency::checked",
        "routine " + std::string(routine) + " reaches element " + used + ") of " +
            book_.ledger().describe(r.asked.variable, r.asked.level, r.asked.reads | r.asked.writes, r.component),
        "what it declares has local indices " + declared + "; " + name + " has " +
            policy::counted(arrays_.layers(r.asked.variable), "layer") + " of ghosts",
        "Declare what the routine reads, and give the grid, the partition or the variable as many layers");
  }
}

KEEL_INLINE void checker::call(std::span<request const> asked, memory m, component_range range,
                               std::string_view routine, thunk run) {
  auto const before = digest_undeclared(asked, m, range);
  struct limits { // a routine may run others
    std::deque<reach>& all;
    std::size_t first = all.size();
    ~limits() { all.resize(first); }
  } const mine{reaches_};
  run();
  auto const after = digest_undeclared(asked, m, range); // waits for its kernels
  refuse_reach(mine.first, routine);
  refuse_undeclared(before, after, routine);
  report_unwritten(asked, m, range, routine);
}

// What is only read may be used as far as the clause says; of what is written, digests tell more.
KEEL_INLINE reach& checker::limit(request const& asked, int component) {
  variable_record const& v = arrays_.variables()[std::size_t(asked.variable)];
  auto const& dynamic = v.extents[v.extents.size() == 1 ? 0 : std::size_t(component)];
  reach& made = reaches_.emplace_back();
  made.asked = asked, made.component = component, made.rank = v.kind->rank;
  for (int d = 0; d < made.rank; ++d)
    made.end[d] = d < v.kind->dynamic ? std::int64_t(dynamic[std::size_t(d)]) : v.kind->fixed[d];
  shape const& lies = arrays_.provider().shape_of(asked.variable, component);
  if (lies.part == nullptr || asked.writes != region::none) return made;
  bool const has_ghosts = overlap(asked.reads, region::ghosts) && v.about->has_ghosts;
  bounds const box = lies.on->reach(*lies.part, asked, has_ghosts);
  for (int d = 0; d < lies.rank; ++d) made.begin[d] = box.begin[d], made.end[d] = box.end[d];
  return made;
}

} // namespace keel::residency::detail
