// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The part of `fields` that depends on no type of the application: arrays, ledger, settings, exchanges, and the
/// executor of schedules. It is compiled once. The bodies stand in lay_out.hpp, component_checks.hpp, upkeep.hpp,
/// execute.hpp, moving.hpp, scratch_memory.hpp, values.hpp and walls.hpp; that of make_arrays in setup.hpp.

#include <keel/exchange/kokkos_provider.hpp>
#include <keel/impl/exchange/packing.hpp>
#include <keel/impl/exchange/relocation.hpp>
#include <keel/impl/exchange/transports.hpp>
#include <keel/impl/residency/agreement.hpp>
#include <keel/impl/residency/program.hpp>
#include <keel/impl/residency/records.hpp>
#include <keel/impl/schedule/kept_value.hpp>
#include <keel/impl/schedule/scratch.hpp>
#include <keel/impl/validity/observers.hpp>
#include <keel/layout/grid.hpp>
#include <keel/policy/macros.hpp>
#include <keel/validity/ledger.hpp>
#include <keel/validity/settings.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#if KEEL_COMPILED
extern template class keel::residency::ledger<keel::residency::kokkos_provider, keel::residency::detail::any_observer>;
#endif

namespace keel::residency::detail {

inline constexpr machine::failing_call making_fields{"residency::fields", "the fields", "are not made",
                                                     "Take smaller arrays, or more ranks"};

class halo_exchange;
struct prefetch;
struct reach;
class bare_calls;

struct fields_state {
  /// For one of `ranks`; `memories` counts the host's.
  fields_state(grid const& whole, std::span<grid const> further, int ranks, int rank, int memories, int components,
               bool checks);
  ~fields_state();
  fields_state(fields_state const&) = delete;
  fields_state& operator=(fields_state const&) = delete;

  // lay_out.hpp
  /// A mesh on which variables may lie; before them.
  void add_mesh(std::string_view name, std::shared_ptr<elements const> part);
  /// What this rank has of it. Throws `keel::error` if the fields have no such mesh.
  [[nodiscard]] std::shared_ptr<mesh_share const> const& mesh(std::string_view name) const {
    return mesh_here(name).here;
  }
  /// The ranks that this one exchanges ghosts with; some may be there more than once.
  [[nodiscard]] std::vector<int> partners();
  /// Whether there is a way to each of them.
  [[nodiscard]] bool reaches_partners();
  /// Gets ready to exchange the ghosts of all components in memory `m`.
  void connect(std::vector<transport> transports, messenger const& ranks, memory m);
  /// Finds out how the arrays of the next variable lie on each share, and adds it to provider and ledger.
  void lay_out(variable_info const& about, array_kind const& kind, std::initializer_list<lengths_given> given,
               kokkos_provider::allocator make, void* owner);
  /// Makes the arrays of all levels and components of a variable in memory `m`, as views of type `View`, from views of
  /// type `Made`; `options(label)` is what Kokkos gets beside the lengths.
  template <class View, class Made, class Options>
  void make_arrays(int variable, memory m, Options const& options);
  /// The views of one variable in one memory, by component, then slot.
  [[nodiscard]] void const* arrays(int variable, memory m) const { return arrays_[place_of(variable, m)].get(); }
  /// Whether a region of a component has memory of its own at the moment. That of a scratch that is not valid has none.
  [[nodiscard]] bool has_array(int variable, memory m, region one, int component) const {
    return arrays(variable, m) != nullptr &&
           (!variables_[std::size_t(variable)].about->is_scratch || ledger_.is_valid(variable, 0, one, m, component));
  }
  /// Of the dynamic dimensions of the first array of a variable.
  [[nodiscard]] std::size_t const* extents_of(int variable) const {
    return variables_[std::size_t(variable)].extents.front().data();
  }
  /// This rank's share of the grid of a component.
  [[nodiscard]] share const& local(component which) const { return share_in(*shares_, which); }
  /// What this rank has of a component of a variable on the grid.
  [[nodiscard]] share const& local(component which, int variable) const {
    return share_in(*lattices_[std::size_t(variables_[std::size_t(variable)].lattice)].shares, which);
  }
  /// Layers of ghosts of a variable, also those that elements on the ends of cells add; and without these.
  [[nodiscard]] int layers(int variable) const;
  [[nodiscard]] int width(int variable) const;
  [[nodiscard]] bool is_on_mesh(int variable) const {
    return lattices_[std::size_t(variables_[std::size_t(variable)].lattice)].mesh != nullptr;
  }
  /// The sides where it has walls, as in `wall_condition`, on whatever rank.
  [[nodiscard]] unsigned wall_sides(int variable) const;
  /// Cells of the grid on each side that have elements in the rims of these variables.
  [[nodiscard]] indices rim_depth(std::span<request const> asked, component which) const;
  /// The owned elements of a variable that belong to these owned cells of the grid.
  [[nodiscard]] bounds owned_in(bounds const& cells, component which, int variable) const;
  /// How the grids are cut into `share::processes` or `blocks`: 2x2, and 1x4 after it for a second component that has a
  /// grid of its own.
  [[nodiscard]] std::string cut(indices share::* into) const;
  /// Prints it as a row of the table of knobs, which was printed before there was a grid.
  void print_cut() const;
  [[nodiscard]] int components() const { return ledger_.components(); }
  /// What a routine is called for: each block, one after the other, or all components.
  [[nodiscard]] component_range first_call(component_range range) const {
    return has_blocks_ ? component_range{range.begin, range.begin + 1} : range;
  }
  /// Goes on to the next, if there is one.
  [[nodiscard]] bool next_call(component_range& at, component_range range) const {
    if (!has_blocks_ || at.end >= range.of(components()).end) return false;
    at = {at.end, at.end + 1};
    return true;
  }

  // moving.hpp
  /// Whether all partitions were made on these ranks: the same error on each of them if not.
  void check_meshes(agreement const& ranks) const;
  /// `find_values` sets `values`, which new elements get.
  void repartition(std::span<cut_anew> meshes, std::span<new_values const> values, thunk find_values);
  void check_rows(new_values const& given, std::span<cut_anew const> meshes) const;
  void regrid(std::span<residency::patch const> patches);
  void resize(std::span<new_lengths const> all);
  void reserve(std::string_view mesh, std::int64_t size);
  /// Whose `destinations` are found first.
  void migrate(std::string_view mesh, std::span<int const> const& destinations, thunk find);

  // execute.hpp
  /// Runs a schedule, or one entry. `arguments`: those of `step` or `run`, as the actions take them.
  void execute(schedule_view const& what, component_range range, void const* arguments);
  /// The same as the next step of the fields.
  void step(schedule_view const& what, void const* arguments);
  /// Of a schedule of routines: their program if they can be called without a question now, because there is one
  /// memory, nothing watches, and all is valid that they read before they make it so. Else null.
  [[nodiscard]] program const* answered(schedule_view const& what);
  /// Records what these do.
  void record(program const& all);
  /// Records what they did if node `failed` threw.
  void record(program const& all, std::size_t failed);

  // scratch_memory.hpp
  /// The scratches of a schedule that begins get pools of memory; throws if another one that has some runs.
  void begin_scratch(program& p);
  void end_scratch(program const& p);
  /// The scratches that an entry writes in `m` have arrays afterwards, and what shares their memory is valid nowhere.
  void place_scratch(std::span<request const> asked, memory m);
  /// Poisons what others left in the scratches that an entry writes.
  void poison_scratch(std::span<request const> asked, memory m, component_range range);
  /// Bytes that scratches have in all memories.
  [[nodiscard]] std::size_t scratch_bytes() const;

  // values.hpp
  /// The ranks begin to combine the parts that a routine returned.
  void begin_reduction(value_info const& what);
  /// What is under way ends: the values that an entry reads; all, without one.
  void finish_reductions(entry const* reader);
  /// Null if there is none.
  [[nodiscard]] kept_value* find_value(value_info const& what) const;
  /// What holds the value. Throws if there is none.
  [[nodiscard]] void const* value_of(value_info const& what) const;

  // component_checks.hpp
  void require_idle(std::string_view who) const;
  void require_tracked(std::string_view who) const;
  /// Whether data are tracked; with several memories they have to be.
  void keep_ledger(bool tracks);
  /// How far a checked routine may reach in the views of a request that it gets for a component.
  [[nodiscard]] reach& limit(request const& asked, int component) const;
  void check(component which, component_range of, std::string_view routine) const;
  void require_one_call(component_range range, std::string_view routine) const;
  void require_all_blocks(component_range range, std::string_view entry) const;

  // upkeep.hpp
  void set(residency::settings const& how);
  /// Returns when work on the host's memory that may go on asynchronously is done.
  void settle_host() const { settle_(this); }
  /// Brings what a routine needs, or begins to.
  void acquire(std::span<request const> list, memory m, std::string_view routine, component_range range);
  void begin_prefetch(std::span<prefetch const> runs, request const* requests, component_range range);
  void poison(std::span<request const> asked, memory m, component_range range);
  void rotate(int variable, rotation how);
  void copy_back_for(std::string_view output, component_range range);
  void copy_back_written(std::span<request const> written, component_range range);
  /// The owned part has to be there. Ghosts are there if they were filled.
  void require_copied_back(int variable, int level, int which, std::string_view output) const;
  /// The array whose elements these bytes of a caller's view are; empty for a view without elements.
  [[nodiscard]] std::optional<owner> owner_of(std::string const& label, void const* data, std::size_t bytes,
                                              std::string_view call) const;
  /// The caller works on the array without a queue of keel's, so all that is queued for it has to be done.
  void require_data(std::optional<owner> const& o, region reads, region writes);
  void notify_data_modified(std::optional<owner> const& o, region where);
  void copy_from_past(int variable);
  /// What leaves comes to memory `m` in one batch, and messages leave. From now on the ghosts count as filled there; or
  /// the rims as written, if ghosts are added to their owners.
  void begin_exchange(std::span<request const> asked, memory m, component_range range, combine how);
  /// What came is put in its place. The ghosts go on to other memories when a routine reads them there.
  void finish_exchange(std::span<request const> asked, memory m, component_range range, combine how);

  // walls.hpp
  /// Throws if a variable cannot have this condition on the grid.
  void check(wall_condition const& one, int variable) const;
  /// Fills walls in memory `m` as these entries say, which are conditions, by one kernel.
  void fill_walls(std::span<schedule_node const> entries, std::span<request const> asked, memory m,
                  component_range range);

  kokkos_provider provider_;
  ledger<kokkos_provider, any_observer> ledger_;
  routes routes_;
  copy_queue const* exchange_queue_ = nullptr;        // null if messages are packed on the host
  std::vector<std::unique_ptr<halo_exchange>> halos_; // one, or one a request
  relocation relocation_;
  std::unique_ptr<messenger> ranks_;
  std::unique_ptr<std::deque<reach>> reaches_; // of the routines that run now; see checked_call.hpp
  void (*settle_)(fields_state const*) = nullptr;
  void (*connect_)(fields_state&) = nullptr;
  bool keeps_ledger_ = true, checks_ = false, poisons_ = false, has_blocks_ = false, is_master_ = true;
  bool is_in_step_ = false;
  bare_calls const* bare_ = nullptr; ///< what is called now without a question
  void* result_ = nullptr;           // where what a routine returns goes to
  std::shared_ptr<device_span> ran_; // when a device runs the routine that was called last, if that is traced
  std::size_t chosen_ = 0;
  residency::settings settings_;
  std::int64_t steps_ = 0, planned_steps_ = 0;
  std::vector<std::unique_ptr<kept_value>> values_;
  std::shared_ptr<void const> environment_; // of the policy's `ranks`; null if the run has another
  agreement agreement_;                     // of it
  std::vector<int> destinations_;           // of elements that move, on the host
  std::vector<std::string> reported_;       // what checked_call warned of

private:
  [[nodiscard]] agreement const& ranks_for(std::string_view call) const;
  template <class Begin>
  void go(auto& next, std::string_view who, Begin const& begin);
  friend class executor;
  friend class former_arrays;
  friend class resizing;
  friend class renewal;
  friend class mesh_renewal;
  friend class grid_renewal;
  [[nodiscard]] mesh_record const& mesh_here(std::string_view name) const;
  [[nodiscard]] static share const& share_in(share_list const& all, component which) {
    return all[all.size() == 1 ? 0 : std::size_t(which.index)];
  }
  [[nodiscard]] share_list const& shares_here(int variable) const {
    return *lattices_[std::size_t(variables_[std::size_t(variable)].lattice)].shares;
  }
  int find_lattice(variable_info const& about);
  /// How a variable lies if the components of the grid have these shares.
  [[nodiscard]] lattice_record lattice_of(variable_info const& about,
                                          std::shared_ptr<share_list const> const& grids) const;
  /// How a variable is cut for an exchange of so many layers of its ghosts.
  decomposition const& cut_of(int lattice, int layers);

  [[nodiscard]] std::size_t place_of(int variable, memory m) const {
    return std::size_t(variable * ledger_.memories()) + std::size_t(m);
  }
  [[nodiscard]] std::size_t pool_place_of(int variable, memory m) const {
    return scratch_.pool_of(variable) * std::size_t(ledger_.memories()) + std::size_t(m);
  }
  // In a pool: the arrays begin where a line of any cache does.
  [[nodiscard]] std::size_t scratch_size_of(int variable, int component) const {
    return (provider_.size_of(variable, component) + 127) / 128 * 128;
  }
  [[nodiscard]] std::size_t pool_bytes(std::size_t pool) const;
  shape shape_on(share const& part, std::int64_t room, variable_info const& about, array_kind const& kind, int arrays,
                 std::int64_t const* extra, std::array<std::size_t, max_rank>& dynamic) const;
  /// How the arrays of a variable lie, by component or one for all; sets its extents.
  std::vector<shape> shapes_of(variable_record& v) const;
  [[nodiscard]] region regions_of(variable_record const& v) const;
  // renew.hpp
  void renew_bytes(int variable);
  void forget_layouts();
  void settle_all(std::string_view who);
  // What Kokkos gets for one array: its label and the lengths of its dynamic dimensions.
  [[nodiscard]] std::pair<std::string, std::size_t const*> described(int variable, int array) const;
  void check_size(int variable, int array, std::size_t elements) const;
  void report_copies(std::string_view routine, thunk copy);
  void copy_back(std::span<request const> list, std::size_t variables, std::string_view why, component_range range);
  void exchange(std::span<request const> asked, memory m, component_range range, combine how, auto const& f);
  std::span<sent const> sent_in(std::span<request const> asked, component_range range, combine how);

  [[nodiscard]] void const* constant_in(memory m, void const* value, std::int64_t bytes);

  int rank_;
  std::shared_ptr<void> talk_;               // messages to ranks that do not expect them, once there were some
  std::shared_ptr<share_list const> shares_; // of the grid
  std::vector<mesh_record> meshes_;
  std::vector<lattice_record> lattices_;
  std::vector<variable_record> variables_;
  std::vector<array_views> arrays_;           // at place_of
  former_variable const* replaced_ = nullptr; // while its arrays are made anew
  std::vector<halo_array> exchanged_;
  std::vector<sent> sent_;
  packing walls_;
  std::vector<box_move> wall_moves_;
  std::vector<std::pair<void const*, std::shared_ptr<std::byte>>> wall_constants_; // on the device, by that of the host
  std::vector<int> copied_back_;                                                   // by number
  scratches scratch_;                                                              // of all schedules that ran
  std::vector<std::shared_ptr<std::byte>> pools_;                                  // of scratches, by memory
  bool uses_scratch_ = false;
  std::unique_ptr<programs> programs_;
};

/// The routines of a step that are called without a question. What they do is recorded at the end, once, or when a
/// routine asks for it.
class bare_calls {
public:
  bare_calls(fields_state& f, program const& p, std::size_t const& at) : fields_(f), all_(p), node_(at) {
    fields_.bare_ = this;
  }
  ~bare_calls() { fields_.bare_ = nullptr; }
  bare_calls(bare_calls const&) = delete;
  bare_calls& operator=(bare_calls const&) = delete;
  /// What the routines up to the one that runs do.
  void record_begun() const;
  void finish() const { fields_.record(all_); }
  void fail() const { fields_.record(all_, node_); }

private:
  fields_state& fields_;
  program const& all_;
  std::size_t const& node_;
};

/// As long as it lives, other entries are refused.
struct step_scope {
  explicit step_scope(fields_state& f) : fields(f) { fields.is_in_step_ = true; }
  ~step_scope() { fields.is_in_step_ = false; }
  step_scope(step_scope const&) = delete;
  step_scope& operator=(step_scope const&) = delete;
  fields_state& fields;
};

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/residency/execute.hpp>
#include <keel/impl/residency/lay_out.hpp>
#include <keel/impl/residency/moving.hpp>
#include <keel/impl/residency/programs.hpp>
#include <keel/impl/residency/component_checks.hpp>
#include <keel/impl/residency/scratch_memory.hpp>
#include <keel/impl/residency/upkeep.hpp>
#include <keel/impl/residency/values.hpp>
#include <keel/impl/residency/walls.hpp>
#endif
