// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Where each region of each variable is valid, for variables known at run time, and the calls by which a driver keeps
/// that up to date. The state is a row of numbers (`transitions.hpp`); it works as valid bits do in a cache coherence
/// protocol such as MESI. `fields` has a ledger, and tests its states with constants.

#include <keel/validity/concepts.hpp>
#include <keel/validity/observer.hpp>
#include <keel/validity/settings.hpp>
#include <keel/validity/traffic.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace keel::residency {

namespace detail {
/// A request for one component, and where its state lies.
struct asked {
  int variable, level, component;
  std::uint32_t at;
  validity reads; ///< their bits in the host's memory
  region writes;
  validity layers, left_out; ///< of the halo: what has to be clear, and what a write leaves out
};
} // namespace detail

/// A list of requests whose states were looked up, for a routine that is called again and again.
/// Made by `ledger::prepare`, for that ledger only.
class prepared {
  template <Provider, Observer>
  friend class ledger;
  struct look {
    std::uint32_t at;
    validity bits;
  };
  template <class F>
  [[gnu::always_inline]] void for_each(F&& f) const {
    for (detail::asked const& a : all) f(a);
  }

  std::vector<look> reads;
  std::vector<mark> writes;
  std::vector<detail::asked> all;
  std::string routine;
  memory where = host;

public:
  /// Goes on with what a routine in the same memory does after this: what it reads is needed before, as far as this
  /// does not make it valid, and what both write becomes one write of each state. Returns false if it reads what this
  /// leaves stale. For observers nothing of it is kept.
  bool append(prepared const& next) {
    bool finds_all = true;
    for (look const& r : next.reads) {
      auto const made = std::find_if(writes.begin(), writes.end(), [&](mark const& w) { return w.at == r.at; });
      write_masks const before = made != writes.end() ? made->masks : write_masks{};
      finds_all = finds_all && (before.stale & r.bits) == 0;
      validity const needed = r.bits & ~before.settled;
      auto const known = std::find_if(reads.begin(), reads.end(), [&](look const& one) { return one.at == r.at; });
      if (known != reads.end()) known->bits |= needed;
      else if (needed != 0) reads.push_back({r.at, needed});
    }
    for (mark const& w : next.writes) {
      auto const known = std::find_if(writes.begin(), writes.end(), [&](mark const& one) { return one.at == w.at; });
      if (known == writes.end()) writes.push_back(w);
      else known->masks = {known->masks.settled | w.masks.settled, after_write(known->masks.stale, w.masks)};
    }
    return finds_all;
  }
};

/// State for each variable, level and component: three bytes. One thread at a time.
///
/// The provider must outlive it. Allocates only when variables are added. Notifies its observer of
/// all that its calls do; code that writes to `states()` directly must notify the observer.
template <Provider P, Observer O = unobserved>
class ledger {
public:
  /// `memories` counts the host's; every variable has as many components.
  explicit ledger(P& provider, int memories = 2, int components = 1);
  ~ledger();
  ledger(ledger const&) = delete;
  ledger& operator=(ledger const&) = delete;

  /// Adds a variable, valid nowhere, and returns its number. A region of no bytes is valid everywhere, unless it is
  /// among `elsewhere`, which have bytes on other ranks: so that all ranks refuse the same reads. Throws if the name
  /// is taken. If a memory that is open has no room, the variable is added all the same, and the next call
  /// tries again.
  int add(std::string_view name, int levels, region_bytes const& bytes = {1, 1, 1}, std::string_view group = {},
          region elsewhere = region::none);
  /// Forgets all variables but the first ones, as if they had not been added. No copy of one is under way.
  void keep(int first);
  /// A variable has other arrays, with so many bytes and layers of ghosts. Its states stay. No copy of it is under way.
  void renew(int variable, region_bytes const& bytes, region elsewhere, int layers);
  /// The bytes of one component, if not all are alike.
  void resize(int variable, int component, region_bytes const& bytes);
  /// The states of all components.
  class numbering;
  /// Those of so many components, of which number `c` of a variable has the states that `kept(variable, c)` has now, or
  /// is valid nowhere if that is negative. No copy is under way.
  [[nodiscard]] numbering renumbered(int components, auto const& kept) const;
  /// Takes them, and gives what it had. The bytes of components are to be set anew. Does not throw.
  void swap(numbering& other);
  /// All states, and copies that may be under way: to be compared with later ones, and to be taken again.
  struct snapshot {
    std::vector<validity> states;
    std::vector<copies_in_flight> in_flight;
  };
  [[nodiscard]] snapshot now() const { return {states_, in_flight_}; }
  [[nodiscard]] bool is_as(snapshot const& other) const {
    return states_ == other.states && in_flight_ == other.in_flight;
  }
  void take(snapshot const& other) { states_ = other.states, in_flight_ = other.in_flight; }
  /// Regions that stay valid where they are when levels rotate; arrays that are made have them on the host from the
  /// beginning.
  void set_kept(int variable, region what, bool are_made);
  /// How many layers of ghosts a variable has: requests of so many, or more, are about all.
  void set_layers(int variable, int layers) { places_[std::size_t(variable)].layers = layers; }
  /// What messages call the memories, the host's first: `{"host", "cuda"}`. Else they go by number.
  void name_memories(std::vector<std::string> names) { memory_names_ = std::move(names); }
  /// The number of a variable. Throws `keel::error` with the name if there is none.
  [[nodiscard]] int find(std::string_view name) const;
  /// The variables that a text means; see `chosen_by`.
  [[nodiscard]] std::vector<int> find_all(std::string_view text, std::string_view written_to = "copy-back-vars") const;
  /// Lets the provider create all variables in `m`; each once. If one fails, the others stay, and the next
  /// call goes on with it.
  void open(memory m, std::string_view routine = "the caller");
  [[nodiscard]] bool is_open(memory m) const { return (open_ >> int(m) & 1) != 0; }

  /// The calls of a driver; those that name a routine do so for messages. A list names a level once. An exchange has
  /// one list for both of its calls: the rims that it reads, and the ghosts that it writes, whose copies from the host
  /// end first.
  void cycle(int variable) { rotate(variable, rotation::cycle); }
  /// The inverse of `cycle`: the current level becomes the oldest, valid nowhere.
  void rewind(int variable) { rotate(variable, rotation::rewind); }
  /// As `cycle`, and the oldest level becomes the current one with its data, valid where it was.
  void cycle_in_place(int variable) { rotate(variable, rotation::in_place); }
  void rotate(int variable, rotation how);
  /// From now on it is valid nowhere.
  void forget(int variable) {
    std::fill_n(states_.begin() + std::ptrdiff_t(index(variable, 0, 0)), levels(variable) * components_, valid_nowhere);
  }
  void copy_from_past(int variable); ///< throws if there is only one level
  void pre_sync(std::span<request const> list, component_range range = {});
  void post_sync(std::span<request const> list, component_range range = {});
  void pre_call(std::span<request const> list, memory m, std::string_view routine, component_range range = {});
  void post_call(std::span<request const> list, memory m, component_range range = {},
                 std::string_view routine = "the caller");
  /// Looks a list up, for calls again and again: then a test and a mask for each request.
  [[nodiscard]] prepared prepare(std::span<request const> list, memory m, std::string_view routine,
                                 component_range range = {});
  void pre_call(prepared const& call) {
    if (!is_ready(call)) [[unlikely]]
      acquire(call);
  }
  void post_call(prepared const& call);
  [[nodiscard]] bool is_ready(prepared const& call) const;
  void acquire(prepared const& call);
  void notify_data_modified(int variable, int level, region where, memory m, component_range range = {}) {
    post_call(std::array{request{variable, level, region::none, where}}, m, range);
  }
  void require_invalid_data(int variable, int level, region where, memory m, component_range range = {}) {
    pre_call(std::array{request{variable, level, region::none, where}}, m, "the caller", range);
  }
  void require_valid_data(int variable, int level, region where, memory m, std::string_view routine = "the caller",
                          component_range range = {}) {
    pre_call(std::array{request{variable, level, where, region::none}}, m, routine, range);
  }

  /// Makes valid in `m` all that `list` reads, and lets copies from the host end whose source
  /// `list` writes. Finds out first whether it can: throws `keel::error`, naming variable, level,
  /// region and routine, before anything moves.
  void acquire(std::span<request const> list, memory m, std::string_view routine, component_range range);
  /// Brings to the host what is valid anywhere of these variables, for output that declares nothing: of their
  /// current level or of all. Allocates.
  void copy_back(std::span<int const> variables, bool all_levels, std::string_view output, component_range range = {});
  /// Brings to the host what is valid anywhere of the regions that each of `list` reads.
  void copy_back(std::span<request const> list, std::string_view output, component_range range = {});
  /// Begins to bring to the host what `list` reads and lacks there, if the provider can and nothing is in the way.
  /// It counts as valid there only once a reader has waited for it, and not if it was written on the device
  /// meanwhile. Does not block.
  void begin_to_host(std::span<request const> list, std::string_view routine, component_range range);
  /// Returns when no copy is leaving from the host any more, nor arriving there.
  void wait_for_copies(std::string_view routine = "the caller");
  /// Whether there is nothing to do for that.
  [[nodiscard]] bool is_ready(std::span<request const> list, memory m, component_range range) const;
  /// Poisons what `list` is about to overwrite in `m`, and what that makes stale elsewhere.
  void poison(std::span<request const> list, memory m, component_range range);
  /// To be called after a call threw in which the queue of a device may have failed. What such a device has is stale
  /// from now on: data that no other memory has are valid nowhere.
  void drop_failed(std::string_view routine = "the caller");
  /// What a failed writer leaves is valid nowhere.
  void lose(std::span<request const> list, component_range range, std::string_view routine = "the caller");
  /// Other memories than `m` have to get that region of what is asked for again. It is valid in `m`.
  void outdate_elsewhere(request const& of, region what, memory m, component_range range) {
    validity const others =
        bits_of(what) & ~(bits_of(what, host) << unsigned(m) | places_[std::size_t(of.variable)].empty);
    (void)all_components(states_.data(), of, range, [&](validity& c) { return c |= others, true; });
  }

  /// Whether elements of it are new and got no values, which is why it was lost; for messages.
  void set_lacks_values(int variable, bool lacks) { variables_[std::size_t(variable)].lacks_values = lacks; }

  /// The state: the levels of the first variable, of the second, and so on, of each level all
  /// components. Moves when variables are added.
  [[nodiscard]] validity* states() { return states_.data(); }
  [[nodiscard]] validity const* states() const { return states_.data(); }
  /// The copies that may be under way, in the same order.
  [[nodiscard]] copies_in_flight const* in_flight() const { return in_flight_.data(); }
  [[nodiscard]] validity at(int variable, int level, int component = 0) const {
    return states_[index(variable, level, component)];
  }
  [[nodiscard]] bool is_valid(int variable, int level, region where, memory m, int component = 0,
                              int layers = all_layers) const {
    return residency::is_valid(at(variable, level, component) & ~places_[std::size_t(variable)].empty, where, m,
                               layers);
  }
  [[nodiscard]] int components() const { return components_; }
  [[nodiscard]] int memories() const { return memories_; }
  [[nodiscard]] int variables() const { return int(variables_.size()); }
  [[nodiscard]] std::string_view name(int variable) const { return traffic_.variables()[std::size_t(variable)].name; }
  [[nodiscard]] int levels(int variable) const { return variables_[std::size_t(variable)].levels; }
  /// What messages say: *eta, level 0, core*, and the component if there are several.
  [[nodiscard]] std::string describe(int variable, int level, region where, int component) const;
  /// What messages say of a memory: *the device cuda*.
  [[nodiscard]] std::string describe(memory m) const;

  [[nodiscard]] O& observer() { return observed(*this); }
  [[nodiscard]] O const& observer() const { return observed(*this); }
  /// Another observer, before the first variable, if their type has virtual functions.
  void observe_by(std::unique_ptr<O> other)
    requires std::is_polymorphic_v<O>
  {
    observer_ = std::move(other);
  }
  [[nodiscard]] residency::traffic& traffic() { return traffic_; }
  [[nodiscard]] residency::traffic const& traffic() const { return traffic_; }

private:
  struct tracked_variable {
    int levels;
    region_bytes bytes;
    std::string group;
    std::vector<region_bytes> by_component; // empty if they are alike
    bool lacks_values = false;
    [[nodiscard]] region_bytes const& bytes_of(int component) const {
      return by_component.empty() ? bytes : by_component[std::size_t(component)];
    }
  };
  // Where a variable's states begin, apart from the rest, so that many fit into a cache.
  struct place {
    std::uint32_t first;
    validity empty; // regions that have no bytes on any rank
    int layers = all_layers;
    region kept = region::none, made = region::none; // see `keep`
    bool is_flying = false;                          // it is in flying_variables_
  };
  // What goes one way in one call of the provider, with the place of each state.
  struct transfer_batch {
    static constexpr std::size_t most = 64;
    transfer list[most];
    std::uint32_t at[most];
    std::size_t size = 0;
    region where = region::none; // all that is sent of anything
    transfer_batch() {}
    void clear() { size = 0, where = region::none; }
    void add(transfer const& t, std::uint32_t cell_at) {
      std::size_t const n = size++;
      if (n < most) list[n] = t, at[n] = cell_at;
      where = where | t.where;
    }
    void add(detail::asked const& r, region what, memory from, memory to) {
      add({r.variable, r.level, r.component, what, from, to}, r.at);
    }
  };
  enum class verb { to_host, to_device, pre_sync, begin_to_host };

  [[nodiscard]] std::size_t index(int variable, int level, int component) const {
    return places_[std::size_t(variable)].first + std::size_t(level * components_ + component);
  }
  [[nodiscard]] validity left_out_by(request const& r) const {
    return layers_left_out(r.writes, r.written_layers, places_[std::size_t(r.variable)].layers);
  }
  // What `prepared` has, looked up on the way.
  struct looked_up {
    ledger const& all;
    std::span<request const> list;
    component_range range;
    template <class F>
    [[gnu::always_inline]] void for_each(F&& f) const {
      int const end = range.of(all.components_).end;
      for (request const& r : list) {
        std::size_t at = all.index(r.variable, r.level, range.begin);
        for (int c = range.begin; c < end; ++c, ++at)
          f(detail::asked{r.variable, r.level, c, std::uint32_t(at), bits_of(r.reads, host), r.writes,
                          layers_read(r.reads, r.read_layers), all.left_out_by(r)});
      }
    }
  };
  // Whether `f` holds for what `row` has of each component; mostly there is one. Runs at every call, so it does nothing
  // else.
  template <class T, class F>
  [[gnu::always_inline]] bool all_components(T* row, request const& r, component_range range, F&& f) const {
    T* const first = row + places_[std::size_t(r.variable)].first + r.level * components_;
    T* const end = first + range.of(components_).end;
    for (T* at = first + range.begin; at < end; ++at)
      if (!f(*at)) return false;
    return true;
  }

  // Where in `by_name_` a name stands, or would stand.
  [[nodiscard]] std::vector<int>::const_iterator place_of(std::string_view called) const {
    return std::lower_bound(by_name_.begin(), by_name_.end(), called,
                            [&](int variable, std::string_view other) { return name(variable) < other; });
  }
  void rotate_buffers(int variable, rotation how);
  [[nodiscard]] validity empty_of(region_bytes const& bytes, region elsewhere);
  // Whether anything happens when the observer is notified.
  [[nodiscard]] bool is_observed() const {
    if constexpr (requires(O const& o) { o.is_active(); }) return observer().is_active();
    else return O::is_told;
  }
  [[noreturn]] void refuse(detail::asked const& r, region lost, std::string_view routine) const;
  template <class Call, class Tell>
  void ask(Call&& call, Tell&& tell);
  template <verb How = verb::to_host, class Asked>
  void acquire_here(Asked const& asked, std::string_view routine);
  template <class Asked>
  void acquire_there(Asked const& asked, memory m, std::string_view routine);
  template <verb How, class Asked>
  void bring_all(Asked const& asked, unsigned sources, memory m, std::string_view routine);
  template <verb How, class Asked>
  void bring(Asked const& asked, memory from, memory to, memory reader, std::string_view routine);
  template <verb How>
  void send(transfer_batch const& all, std::string_view routine);
  [[nodiscard]] transfer without_gaps(transfer t) const;
  template <class Asked>
  void tell_write(Asked const& asked, memory m, std::string_view routine);

  P& provider_;
  int memories_, components_;
  std::uint32_t open_ = 0;
  std::array<int, max_memories> created_{}; // variables that are there, by memory
  bool has_gaps_ = false;                   // a region has bytes only on other ranks
  std::vector<std::string> memory_names_;
  std::size_t size_ = 0; // states in use
  std::vector<tracked_variable> variables_;
  std::vector<place> places_;
  std::vector<int> by_name_; // numbers of the variables, in the order of their names
  std::vector<validity> states_;
  std::vector<copies_in_flight> in_flight_;
  std::vector<int> flying_variables_;   // variables of which copies may be under way
  copies_in_flight flying_devices_ = 0; // all their copies_in_flight
  residency::traffic traffic_;
  static constexpr bool is_held = std::is_polymorphic_v<O>;
  static auto make_observer() {
    if constexpr (is_held) return std::make_unique<O>();
    else return O();
  }
  static auto& observed(auto& self) {
    if constexpr (is_held) return *self.observer_;
    else return self.observer_;
  }
  [[no_unique_address]] std::conditional_t<is_held, std::unique_ptr<O>, O> observer_ = make_observer();
};

} // namespace keel::residency

#include <keel/impl/validity/ledger.hpp>
#include <keel/impl/validity/ledger_copies.hpp>
