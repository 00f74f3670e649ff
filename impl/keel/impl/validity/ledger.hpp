// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How a ledger records: variables, rotations, the calls of a driver, refusals.

#include <keel/policy/error.hpp>
#include <keel/validity/ledger.hpp>

#include <algorithm>
#include <exception>
#include <utility>

namespace keel::residency {

template <Provider P, Observer O>
ledger<P, O>::ledger(P& provider, int memories, int components)
    : provider_(provider), memories_(memories), components_(components) {
  if (memories < 1 || memories > max_memories)
    throw error("residency::ledger", std::to_string(memories) + " memories are refused",
                "the host's counts, and there are at most " + std::to_string(max_memories),
                "Give 1 to " + std::to_string(max_memories));
  if (components < 1)
    throw error("residency::ledger", std::to_string(components) + " components are refused",
                "a variable has at least one", "Give 1 or more");
}

template <Provider P, Observer O>
ledger<P, O>::~ledger() = default;

// Regions that have no bytes on any rank.
template <Provider P, Observer O>
validity ledger<P, O>::empty_of(region_bytes const& bytes, region elsewhere) {
  validity empty = 0;
  for (region one : single_regions)
    if (bytes[std::size_t(index_of(one))] == 0) {
      if (overlap(one, elsewhere)) has_gaps_ = true;
      else empty |= bits_of(one);
    }
  return empty;
}

template <Provider P, Observer O>
void ledger<P, O>::renew(int variable, region_bytes const& bytes, region elsewhere, int layers) {
  tracked_variable& v = variables_[std::size_t(variable)];
  v.bytes = bytes, v.by_component.clear();
  places_[std::size_t(variable)].empty = empty_of(bytes, elsewhere);
  set_layers(variable, layers);
  if constexpr (CountsComponents<O>)
    for (int c = 0; c < components_; ++c) observer().resize(variable, c, bytes);
}

template <Provider P, Observer O>
void ledger<P, O>::set_kept(int variable, region what, bool are_made) {
  place& p = places_[std::size_t(variable)];
  p.kept = what, p.made = are_made ? what : region::none;
  for (int n = 0; n < levels(variable) * components_; ++n) states_[p.first + std::size_t(n)] &= ~bits_of(p.made, host);
}

template <Provider P, Observer O>
class ledger<P, O>::numbering {
  friend class ledger;
  int components = 0;
  std::vector<place> places;
  std::vector<validity> states;
  std::vector<copies_in_flight> in_flight;
};

template <Provider P, Observer O>
auto ledger<P, O>::renumbered(int components, auto const& kept) const -> numbering {
  numbering made;
  made.components = components, made.places = places_;
  for (int v = 0; v < variables(); ++v) {
    made.places[std::size_t(v)].first = std::uint32_t(made.states.size());
    for (int l = 0; l < levels(v); ++l)
      for (int c = 0; c < components; ++c) {
        int const from = kept(v, c);
        made.states.push_back(from < 0 ? valid_nowhere & ~bits_of(places_[std::size_t(v)].made, host)
                                       : at(v, l, from) & ~places_[std::size_t(v)].empty);
      }
  }
  made.in_flight.resize(made.states.size());
  return made;
}

template <Provider P, Observer O>
void ledger<P, O>::swap(numbering& other) {
  std::swap(components_, other.components);
  places_.swap(other.places), states_.swap(other.states), in_flight_.swap(other.in_flight);
  size_ = states_.size();
}

template <Provider P, Observer O>
int ledger<P, O>::add(std::string_view name, int levels, region_bytes const& bytes, std::string_view group,
                      region elsewhere) {
  int const number = int(variables_.size());
  auto const at = place_of(name);
  if (at != by_name_.end() && this->name(*at) == name)
    throw error("residency::ledger", "there are two variables " + std::string(name), "they are found by name",
                "Rename one");
  validity const empty = empty_of(bytes, elsewhere);
  variables_.push_back({levels, bytes, std::string(group), {}});
  places_.push_back({std::uint32_t(size_), empty});
  flying_variables_.reserve(variables_.capacity());
  size_ += std::size_t(levels * components_);
  states_.resize(size_, valid_nowhere);
  in_flight_.resize(size_);
  traffic_.add_variable(std::string(name));
  by_name_.insert(at, number);
  observer().add(name, levels, components_, bytes);
  std::uint32_t const were_open = std::exchange(open_, 0); // the next call opens those after one that fails
  for (int m = 0; m < memories_; ++m)
    if ((were_open >> m & 1U) != 0) open(memory(m));
  return number;
}

template <Provider P, Observer O>
void ledger<P, O>::keep(int first) {
  std::erase_if(by_name_, [first](int variable) { return variable >= first; });
  traffic_.keep(std::size_t(first));
  if constexpr (requires { observer().keep(first); }) observer().keep(first);
  for (int& created : created_) created = std::min(created, first);
  if (std::size_t(first) < places_.size()) size_ = places_[std::size_t(first)].first;
  auto const cut = [first](auto& all) { all.resize(std::min(all.size(), std::size_t(first))); };
  cut(places_), cut(variables_);
  states_.resize(size_), in_flight_.resize(size_);
}

// A region that is empty in only one component is tracked like others.
template <Provider P, Observer O>
void ledger<P, O>::resize(int variable, int component, region_bytes const& bytes) {
  tracked_variable& v = variables_[std::size_t(variable)];
  v.by_component.resize(std::size_t(components_), v.bytes);
  v.by_component[std::size_t(component)] = bytes;
  for (region one : single_regions)
    if (bytes[std::size_t(index_of(one))] != 0) places_[std::size_t(variable)].empty &= ~bits_of(one);
    else has_gaps_ = true;
  if constexpr (CountsComponents<O>) observer().resize(variable, component, bytes);
}

template <Provider P, Observer O>
int ledger<P, O>::find(std::string_view name) const {
  auto const at = place_of(name);
  if (at == by_name_.end() || this->name(*at) != name)
    throw error("residency::ledger", "there is no variable " + std::string(name), "it was never added", "Add it first");
  return *at;
}

template <Provider P, Observer O>
std::vector<int> ledger<P, O>::find_all(std::string_view text, std::string_view written_to) const {
  std::vector<names> known;
  for (std::size_t v = 0; v < variables_.size(); ++v) known.push_back({name(int(v)), variables_[v].group});
  std::vector<bool> const is_chosen = chosen_by(text, known, written_to);
  std::vector<int> numbers;
  for (std::size_t v = 0; v < is_chosen.size(); ++v)
    if (is_chosen[v]) numbers.push_back(int(v));
  return numbers;
}

template <Provider P, Observer O>
void ledger<P, O>::open(memory m, std::string_view routine) {
  if (is_open(m)) return;
  for (int& v = created_[std::size_t(m)]; v < variables(); ++v) {
    try {
      provider_.create(v, m);
    } catch (std::exception const& e) {
      throw error("residency",
                  describe(m) + " has no room for " + std::string(name(v)) + ", for routine " + std::string(routine),
                  reason_of(e), "Take smaller arrays, or more ranks");
    }
    observer().create(v, m);
  }
  open_ |= 1U << int(m);
}

template <Provider P, Observer O>
void ledger<P, O>::rotate(int variable, rotation how) {
  tracked_variable const& v = variables_[std::size_t(variable)];
  if (v.levels == 1) return;
  rotate_buffers(variable, how);
  rotate_states(states_.data() + index(variable, 0, 0), v.levels, how, components_,
                places_[std::size_t(variable)].empty, bits_of(places_[std::size_t(variable)].kept));
  observer().rotate(variable, how);
}

// A provider only cycles. The inverse of one cycle is as many as bring the levels round. If one of these fails
// after another, no level is where it was, so all are lost.
template <Provider P, Observer O>
void ledger<P, O>::rotate_buffers(int variable, rotation how) {
  tracked_variable const& v = variables_[std::size_t(variable)];
  if (v.levels == 1) return;
  int const cycles = how == rotation::rewind ? v.levels - 1 : 1;
  int done = 0;
  ask(
      [&] {
        for (; done < cycles; ++done) (void)provider_.copy_cycle(variable);
      },
      [&] {
        if (done > 0)
          std::fill_n(states_.begin() + std::ptrdiff_t(index(variable, 0, 0)), v.levels * components_, valid_nowhere);
        return "the levels of " + std::string(name(variable)) + ' ' + std::string(words_of(how).not_done);
      });
  rotate_levels(in_flight_.data() + index(variable, 0, 0), v.levels, how, components_);
}

template <Provider P, Observer O>
void ledger<P, O>::copy_from_past(int variable) {
  if (levels(variable) < 2)
    throw error("residency::ledger",
                "the current level of " + std::string(name(variable)) + " cannot be copied from the past",
                "it has one level alone", "Add it with two levels or more");
  validity const empty = places_[std::size_t(variable)].empty;
  for (int c = 0; c < components(); ++c) {
    std::size_t const current = index(variable, 0, c), past = index(variable, 1, c);
    if (in_flight_[current] != 0 || arriving_regions(in_flight_[past]) != region::none)
      wait_for_copies("copy_from_past");
    states_[current] = after_loss(states_[current], region::everywhere) & ~empty; // until all is done
    for (int m = 0; m < memories_; ++m) {
      bool something = false;
      for (region one : single_regions)
        something =
            something || ((bits_of(one) & ~empty) != 0 && residency::is_valid(states_[past], one, memory(m), 0));
      if (something && created_[std::size_t(m)] > variable)
        ask([&] { (void)provider_.copy_from_past(variable, c, memory(m)); },
            [&] { return "a copy of " + std::string(name(variable)) + " from level 1 to level 0 failed"; });
    }
    states_[current] = states_[past];
  }
}

template <Provider P, Observer O>
void ledger<P, O>::pre_sync(std::span<request const> list, component_range range) {
  open(host);
  if (!is_ready(list, host, range)) acquire_here<verb::pre_sync>(looked_up{*this, list, range}, "exchange");
}

template <Provider P, Observer O>
void ledger<P, O>::post_sync(std::span<request const> list, component_range range) {
  looked_up const asked{*this, list, range};
  asked.for_each([&](detail::asked const& r) {
    states_[r.at] = after_write( // the exchange does not fill walls
        states_[r.at], masks_of_write(without(r.writes, region::walls), host, r.left_out));
  });
  if (is_observed()) tell_write(asked, host, "exchange");
}

template <Provider P, Observer O>
void ledger<P, O>::pre_call(std::span<request const> list, memory m, std::string_view routine, component_range range) {
  open(m, routine);
  if (!is_ready(list, m, range)) acquire(list, m, routine, range);
}

template <Provider P, Observer O>
prepared ledger<P, O>::prepare(std::span<request const> list, memory m, std::string_view routine,
                               component_range range) {
  open(m);
  prepared made;
  made.routine = routine, made.where = m;
  std::size_t const most = list.size() * std::size_t(components_); // at once, so that each is read in one go
  made.reads.reserve(most), made.writes.reserve(most), made.all.reserve(most);
  looked_up{*this, list, range}.for_each([&](detail::asked const& r) {
    made.all.push_back(r);
    validity const looked_at = (r.reads << unsigned(m) | r.layers) & ~places_[std::size_t(r.variable)].empty;
    if (looked_at != 0) made.reads.push_back({r.at, looked_at});
    if (r.writes != region::none) made.writes.push_back({r.at, masks_of_write(r.writes, m, r.left_out)});
  });
  return made;
}

template <Provider P, Observer O>
bool ledger<P, O>::is_ready(prepared const& call) const {
  // A loop that can end early is not vectorised, which would not pay for lists as short as these.
  for (auto const& r : call.reads)
    if ((states_[r.at] & r.bits) != 0) [[unlikely]]
      return false;
  if (call.where == host && flying_devices_ != 0)
    for (auto const& w : call.writes)
      if (in_flight_[w.at] != 0) [[unlikely]]
        return false;
  return true;
}

template <Provider P, Observer O>
void ledger<P, O>::acquire(prepared const& call) {
  if (call.where == host) acquire_here(call, call.routine);
  else acquire_there(call, call.where, call.routine);
}

template <Provider P, Observer O>
void ledger<P, O>::post_call(prepared const& call) {
  for (auto const& w : call.writes) states_[w.at] = after_write(states_[w.at], w.masks);
  if (is_observed()) tell_write(call, call.where, call.routine);
}

template <Provider P, Observer O>
void ledger<P, O>::post_call(std::span<request const> list, memory m, component_range range, std::string_view routine) {
  for (request const& r : list)
    if (r.writes != region::none) {
      write_masks const masks = masks_of_write(r.writes, m, left_out_by(r));
      (void)all_components(states_.data(), r, range, [&](validity& c) { return c = after_write(c, masks), true; });
    }
  if (is_observed()) tell_write(looked_up{*this, list, range}, m, routine);
}

template <Provider P, Observer O>
bool ledger<P, O>::is_ready(std::span<request const> list, memory m, component_range range) const {
  for (request const& r : list) {
    validity const needed = bits_of(r.reads, host) << unsigned(m) | layers_read(r.reads, r.read_layers);
    if (!all_components(states(), r, range, [&](validity c) { return (c & needed) == 0; })) return false;
    if (m == host && r.writes != region::none &&
        !all_components(in_flight(), r, range, [](copies_in_flight f) { return f == 0; }))
      return false;
  }
  return true;
}

template <Provider P, Observer O>
void ledger<P, O>::poison(std::span<request const> list, memory m, component_range range) {
  looked_up{*this, list, range}.for_each([&](detail::asked const& r) {
    for (int k = 0; k < memories_; ++k) {
      if (!is_open(memory(k))) continue;
      region where = region::none;
      for (region one : single_regions) {
        bool const is_read = memory(k) == m && (r.reads & bits_of(one, host)) != 0,
                   is_written = memory(k) == m && overlap(one, r.writes);
        bool const becomes_stale =
            overlap(one, invalidated_by(r.writes)) && residency::is_valid(states_[r.at], one, memory(k));
        if (!is_read && (is_written || becomes_stale)) where = where | one;
      }
      where = without(where, region_of(places_[std::size_t(r.variable)].empty));
      if (where == region::none) continue;
      if (k == 0 && in_flight_[r.at] != 0) wait_for_copies();
      provider_.poison(r.variable, r.level, r.component, where, memory(k));
    }
  });
}

template <Provider P, Observer O>
void ledger<P, O>::lose(std::span<request const> list, component_range range, std::string_view routine) {
  looked_up{*this, list, range}.for_each([&](detail::asked const& r) {
    states_[r.at] = after_loss(states_[r.at], r.writes);
    observer().lose({r.variable, r.level, region_of(r.reads), r.writes}, r.component, routine);
  });
}

template <Provider P, Observer O>
void ledger<P, O>::drop_failed(std::string_view routine) {
  if constexpr (ReportsFailures<P>)
    for (int m = 1; m < memories_; ++m)
      if (provider_.take_failure(memory(m)))
        for (int v = 0; v < variables(); ++v)
          for (int l = 0; l < levels(v); ++l)
            for (int c = 0; c < components_; ++c) {
              validity& now = states_[index(v, l, c)];
              validity const before = std::exchange(now, after_failure(now, memory(m)));
              request lost{v, l, region::none, region::none};
              for (region one : single_regions)
                if (source_of(before, one) != memory::none && source_of(now, one) == memory::none)
                  lost.writes = lost.writes | one;
              if (lost.writes != region::none) observer().lose(lost, c, routine);
            }
}

template <Provider P, Observer O>
template <class Asked>
void ledger<P, O>::tell_write(Asked const& asked, memory m, std::string_view routine) {
  asked.for_each([&](detail::asked const& r) {
    observer().write({r.variable, r.level, region_of(r.reads), r.writes}, r.component, m, routine);
  });
}

template <Provider P, Observer O>
std::string ledger<P, O>::describe(int variable, int level, region where, int component) const {
  std::string text =
      std::string(name(variable)) + ", level " + std::to_string(level) + ", " + std::string(name_of(where));
  if (components() > 1) text += ", component " + std::to_string(component);
  return text;
}

template <Provider P, Observer O>
std::string ledger<P, O>::describe(memory m) const {
  if (std::size_t(m) >= memory_names_.size()) return "memory " + std::to_string(int(m));
  return m == host ? "the host" : "the device " + memory_names_[std::size_t(m)];
}

// A call of the provider; if it throws, the error says what was going on.
template <Provider P, Observer O>
template <class Call, class Tell>
void ledger<P, O>::ask(Call&& call, Tell&& tell) {
  try {
    call();
  } catch (std::exception const& e) {
    std::string const what = tell();
    drop_failed();
    throw error("residency", what, reason_of(e));
  }
}

} // namespace keel::residency
