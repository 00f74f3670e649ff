// SPDX-License-Identifier: MIT
#include <keel/impl/residency/files/restart_content.hpp>
#include <keel/impl/layout/agreement.hpp>
#include <keel/impl/residency/fields_state.hpp>
#include <keel/impl/residency/records.hpp>
#include <keel/impl/residency/resize.hpp>
#include <keel/impl/schedule/liveness.hpp>
#include <keel/impl/store/checked_numbers.hpp>
#include <keel/impl/store/file_writer.hpp>
#include <keel/impl/store/read_file.hpp>

#include <iterator>
#include <limits>
#include <optional>
#include <string_view>

namespace keel::residency::detail {

[[noreturn]] inline void refuse_restart(std::string const& file, std::string const& why, std::string_view hint) {
  throw error("residency::restart", file + " is not of this program", why, hint);
}

template <std::size_t... D>
grid grid_of(saved_dimension const* of, std::index_sequence<D...>) {
  folding folds;
  for (int d = 0; d < int(sizeof...(D)); ++d)
    if (int const how = of[d].ends - 2, on_cube = of[d].ends - saved_dimension::on_cube; on_cube >= 0)
      folds = {.is_cube = true, .corners_along = on_cube - 1};
    else if (how >= 0) folds = {d, how % max_grid_rank, std::uint8_t(how / max_grid_rank)};
  return grid{{of[D].extent...}, ghost_width{of[D].width...}, periodic{(of[D].ends == 1 || folds.is_cube)...}, folds};
}

KEEL_INLINE std::vector<residency::patch> patches_of(arrays const& on, std::span<saved_dimension const> grids) {
  std::vector<residency::patch> made;
  int const rank = on.shares()->front().rank;
  for (std::size_t at = 0; at < grids.size(); at += std::size_t(rank)) {
    saved_dimension const* const g = &grids[at];
    int const from = int(made.size()) < on.components() ? int(made.size()) : -1;
    if (rank == 1) made.push_back({grid_of(g, std::make_index_sequence<1>{}), from, {}});
    if (rank == 2) made.push_back({grid_of(g, std::make_index_sequence<2>{}), from, {}});
    if (rank == 3) made.push_back({grid_of(g, std::make_index_sequence<3>{}), from, {}});
    if (rank == 4) made.push_back({grid_of(g, std::make_index_sequence<4>{}), from, {}});
  }
  return made;
}

/// What a file says, one part after the other: each throws unless that is of these fields.
class restart_file {
public:
  restart_file(fields_state& f, std::string const& path) : fields_(f), path_(path), file_(read_file(path)) {
    auto const* const format = attribute_of<std::string>(file_.attributes, "format");
    if (format == nullptr || *format != "keel checkpoint") refuse("it is no checkpoint", "Name one");
    auto const version = numbers("/", file_.attributes, "version").next(0);
    if (version != checkpoint_version)
      refuse("it is of version " + std::to_string(version) + " of the format, this keel reads " +
                 std::to_string(checkpoint_version),
             "Take the keel that wrote it");
    for (auto const& [name, attributes] : file_.groups)
      if (name == "/keel") general_ = &attributes;
    if (general_ == nullptr) refuse("its group /keel is missing", "Take another one");
    made.steps = numbers("/", file_.attributes, "steps").next(0, std::int64_t(1) << 62);
  }

  void look_at_grids() {
    auto const here = grids_of(arrays_);
    auto const rank = std::size_t(arrays_.shares()->front().rank);
    auto from = numbers("/keel", *general_, "grids");
    bool const has_rank = from.next(0) == std::int64_t(rank);
    components_ = from.next<int>(1, has_rank ? max_components : std::numeric_limits<int>::max());
    while (from.has_more() && has_rank) {
      auto const extent = from.next(1);
      auto const width = from.next<int>(0);
      made.grids.push_back({extent, width, from.next<int>(0, saved_dimension::on_cube + 2)});
    }
    auto const text = [&](std::vector<saved_dimension> const& all) {
      std::string cells;
      for (std::size_t d = 0; d < rank && d < all.size(); ++d)
        cells += (d == 0 ? "" : " x ") + std::to_string(all[d].extent);
      return cells.empty() ? "none" : cells;
    };
    if (!has_rank || made.grids.size() != rank * std::size_t(components_) ||
        !std::equal(here.begin(), here.begin() + std::ptrdiff_t(rank), made.grids.begin()))
      refuse("its grid is " + text(made.grids) + ", the fields' is " + text(here) +
                 ", or the ghosts, periodic dimensions or folds differ",
             "Give the fields the same");
    if (components_ != 1 && arrays_.has_blocks())
      refuse("it has " + std::to_string(components_) + " components", "Leave blocks out");
    if (made.grids == here) return;
    auto const patches = patches_of(arrays_, made.grids); // which throws if a grid cannot be
    std::vector<grid> further;
    for (std::size_t c = 1; c < patches.size(); ++c) further.push_back(patches[c].whole);
    shares_ = std::make_shared<share_list const>(
        shares_of(patches[0].whole, further, ranks_for(fields_, "restart").size(), arrays_.rank()));
  }

  /// All ranks have written, and these are the sums of what they wrote.
  void look_at_parts() {
    stored_dataset const* const parts = file_.dataset("/keel/parts");
    if (parts == nullptr || parts->type != stored_type::natural || parts->element_bytes != 8 ||
        parts->extents.size() != 2 || parts->offset < 0)
      refuse("its list of parts is missing", "Take another one");
    made.ranks = parts->extents[0];
    auto const row = std::size_t(parts->extents[1]);
    std::vector<std::uint64_t> table(std::size_t(parts->bytes()) / 8);
    file_to_read(path_).read(table.data(), table.size() * 8, parts->offset);
    sums_.resize(row - 1);
    for (std::size_t n = 0; n < table.size(); ++n) {
      if (n % row != 0) sums_[n % row - 1] += table[n];
      else if (table[n] != part_is_there)
        throw error("residency::restart", path_ + " cannot be read", "not all ranks had written their part");
    }
    auto const is_mesh = [](stored_dataset const& d) { return d.path.starts_with(path_of_mesh("")); };
    auto const meshes = std::size_t(std::count_if(file_.datasets.begin(), file_.datasets.end(), is_mesh));
    if (sums_.size() < std::max(meshes, arrays_.meshes_with_ids().size()))
      refuse("its sums are missing", "Take another one");
    has_.resize(sums_.size() - meshes);
  }

  void look_at_meshes() {
    auto const meshes = arrays_.meshes_with_ids();
    for (std::size_t m = 0; m < meshes.size(); ++m) {
      std::string const path = path_of_mesh(meshes[m]->name);
      stored_dataset const* const ids = file_.dataset(path);
      if (ids == nullptr)
        refuse("it has no mesh " + std::string(meshes[m]->name), "Give the fields the meshes that it has");
      if (ids->type != stored_type::integer || ids->element_bytes != 8 || ids->extents.size() != 1)
        refuse(path + " has no ids of 8 bytes", "Take another one");
      std::int64_t const total = ids->extents[0];
      auto from = numbers(path, ids->attributes, "moves");
      bool const moves = from.next({0, 1}) != 0;
      made.meshes.push_back({m, made.owned.size(), total, ids->offset, sums_[sums_.size() - meshes.size() + m], moves});
      std::int64_t left = total;
      for (std::int64_t r = 0; r < made.ranks; ++r) left -= made.owned.emplace_back(from.next(0, left));
      if (left != 0 || from.has_more())
        refuse("its ranks have not the elements of " + path + " together", "Take another one");
    }
  }

  void look_at_levels() {
    for (stored_dataset const& d : file_.datasets)
      if (!d.path.starts_with("/keel/")) look_at(d);
    std::string lacking;
    for (variable_record const& v : arrays_.variables())
      for (int l = 0; l < v.about->levels; ++l)
        if (v.about->is_saved && is_in("variables", std::string(v.about->name)) && !is_in("left out", called(v, l)) &&
            std::none_of(made.levels.begin(), made.levels.end(), [&](auto const& one) {
              return &arrays_.variables()[std::size_t(one.is.variable)] == &v && one.is.level == l;
            }))
          lacking += (lacking.empty() ? "" : " or ") + called(v, l);
    if (std::find(has_.begin(), has_.end(), false) != has_.end())
      refuse("an array is missing: " + (lacking.empty() ? "a component of a variable" : lacking), "Take another one");
  }

  /// What the file lacks: later steps may not read it unless the program has made it, and where no steps are known it
  /// would keep values of another time.
  void look_for_lacking(std::span<schedule_nodes const> schedules) const {
    bool const knows_steps = !schedules.empty();
    live_levels live;
    for (variable_record const& v : arrays_.variables())
      live.emplace_back(std::size_t(v.about->levels), live_level{knows_steps ? region::none : region::owned});
    if (knows_steps) live = live_before(schedules, live, made.steps == 0);
    for (auto const& [one, offset, sum] : made.levels) {
      region& what = live[std::size_t(one.variable)][std::size_t(one.level)].what;
      what = without(what, one.where | region::ghosts);
    }
    for (std::size_t v = 0; v < live.size(); ++v)
      for (std::size_t l = 0; l < live[v].size(); ++l) {
        variable_record const& of = arrays_.variables()[v];
        if (!overlap(live[v][l].what, region::owned) || !of.about->is_saved) continue;
        bool const is_valid = fields_.book_.memory_with(int(v), int(l), region::owned, 0) != memory::none;
        if (!knows_steps && is_valid && fields_.book_.keeps_ledger())
          refuse("it has no " + called(of, int(l)) + ", which is valid here and would keep its values",
                 "Name the schedules of later steps in the restart");
        if (knows_steps && !is_valid &&
            (is_in("left out", called(of, int(l))) || !is_in("variables", std::string(of.about->name))))
          refuse("later steps read " + called(of, int(l)) + ", which it does not have",
                 "Name the variable by keep in the checkpoint, or write it before");
      }
  }

  restart_content made;

private:
  static constexpr int max_components = 1 << 20;

  [[noreturn]] void refuse(std::string const& why, std::string_view hint) const { refuse_restart(path_, why, hint); }
  [[nodiscard]] checked_numbers numbers(std::string_view whose, std::vector<stored_attribute> const& in,
                                        std::string_view name) const {
    return {path_, whose, in, name};
  }
  [[nodiscard]] static std::string called(variable_record const& v, int level) {
    return std::string(v.about->name) + " level " + std::to_string(level);
  }
  /// Whether a list of names has this one.
  [[nodiscard]] bool is_in(std::string_view list, std::string const& name) const {
    auto const* const names = attribute_of<std::vector<std::string>>(*general_, list);
    return names != nullptr && std::find(names->begin(), names->end(), name) != names->end();
  }

  void look_at(stored_dataset const& d) {
    std::string const name = d.path.substr(1, d.path.find('/', 1) - 1);
    auto const& all = arrays_.variables();
    auto const known = std::find_if(all.begin(), all.end(), [&](auto const& v) { return v.about->name == name; });
    if (known == all.end())
      refuse("it has a variable " + name + ", the fields have not", "Give the fields the same variables");
    auto from = numbers(d.path, d.attributes, "level");
    saved_level one;
    one.variable = int(known - all.begin());
    one.level = from.next<int>(0, known->about->levels - 1);
    one.component = from.next<int>(0, components_ - 1);
    constexpr auto owned = std::int64_t(region::owned), walls = std::int64_t(region::walls);
    one.where = from.next<region>({owned, walls, owned | walls});
    one.filled = from.next<int>({0, 1, 2, 3, 4, 5, all_layers});
    one.number = from.next<int>(0, std::int64_t(has_.size()) - 1);
    bool const has_walls = overlap(one.where, region::walls);
    saved_level as_here = one;
    if (one.component >= arrays_.components()) as_here.component = 0;
    whole_variable const whole = whole_of(arrays_, as_here);
    stored_dataset same = dataset_of(arrays_, as_here, whole);
    std::optional<indices> extents; // the fields get other grids, or meshes of other sizes
    auto const there = shares_ != nullptr ? arrays_.lattice_of(one.variable)->laid_on(shares_, name) : nullptr;
    if (there) extents = there->whole_extents({one.component}, has_walls);
    for (auto const& m : made.meshes)
      if (arrays_.meshes_with_ids()[m.mesh]->name == known->about->on.mesh) extents = {{m.total}};
    auto const order = whole.dimensions();
    for (std::size_t k = 0; k < order.size() && extents; ++k)
      if (order[k].of_grid >= 0) same.extents[k] = (*extents)[order[k].of_grid];
    auto const *lies = attribute_of<std::string>(d.attributes, "lies"),
               *lies_here = attribute_of<std::string>(same.attributes, "lies");
    if (lies == nullptr || *lies != *lies_here)
      refuse(name + " lies " + (lies != nullptr ? *lies : "") + " in it, in the fields " + *lies_here,
             "Declare it as it was");
    if (same.type != d.type || same.element_bytes != d.element_bytes || same.extents != d.extents)
      refuse(name + " is " + text(d) + " in it, in the fields " + text(same), "Declare it as it was");
    if (std::string const path = path_of(name, one, components_ > 1); path != d.path || has_[std::size_t(one.number)])
      refuse(d.path + " says that it is " + path + ", or has the sum of another array", "Take another one");
    has_[std::size_t(one.number)] = true;
    for (int c = 0; c < (arrays_.has_blocks() ? arrays_.components() : 1); ++c) {
      made.levels.push_back({one, d.offset, c == 0 ? sums_[std::size_t(one.number)] : 0});
      if (arrays_.has_blocks()) made.levels.back().is.component = c;
    }
  }
  [[nodiscard]] static std::string text(stored_dataset const& of) {
    constexpr char const* names[] = {"floating", "integer", "natural", "opaque"};
    std::string lengths;
    for (std::int64_t const n : of.extents) lengths += (lengths.empty() ? "" : " x ") + std::to_string(n);
    return lengths + (of.extents.empty() ? "one" : "") + " of " + names[std::size_t(of.type)] + " with " +
           std::to_string(of.element_bytes) + " bytes";
  }

  fields_state& fields_;
  arrays const& arrays_ = fields_.arrays_;
  std::string path_;
  stored_file file_;
  std::vector<stored_attribute> const* general_ = nullptr;
  int components_ = 1;
  std::shared_ptr<share_list const> shares_; ///< of the file's grids, if the fields have others
  std::vector<std::uint64_t> sums_;          ///< of all ranks
  std::vector<bool> has_;                    ///< the array of each sum that is not of a mesh
};

KEEL_INLINE restart_content look_into(fields_state& f, std::string const& path,
                                      std::span<schedule_nodes const> schedules) {
  restart_file file(f, path);
  file.look_at_grids();
  file.look_at_parts();
  file.look_at_meshes();
  file.look_at_levels();
  file.look_for_lacking(schedules);
  return std::move(file.made);
}

KEEL_INLINE void share_content(agreement const& ranks, restart_content& all) {
  std::vector<std::int64_t> numbers;
  auto const put_list = [&](auto const& list) {
    numbers.push_back(std::int64_t(list.size()));
    for (auto const& one : list) {
      static_assert(sizeof(one) % 8 == 0);
      std::int64_t words[sizeof(one) / 8];
      std::memcpy(words, &one, sizeof(one));
      numbers.insert(numbers.end(), std::begin(words), std::end(words));
    }
  };
  if (ranks.rank() == 0) {
    numbers = {all.steps, all.ranks};
    put_list(all.grids), put_list(all.owned), put_list(all.levels), put_list(all.meshes);
  }
  send_all(ranks, numbers);
  std::size_t at = 2;
  auto const take_list = [&](auto& list) {
    list.resize(std::size_t(numbers[at++]));
    for (auto& one : list) std::memcpy(static_cast<void*>(&one), &numbers[at], sizeof(one)), at += sizeof(one) / 8;
  };
  all.steps = numbers[0], all.ranks = numbers[1];
  take_list(all.grids), take_list(all.owned), take_list(all.levels), take_list(all.meshes);
}

} // namespace keel::residency::detail
