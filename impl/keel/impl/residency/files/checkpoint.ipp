// SPDX-License-Identifier: MIT
#include <keel/impl/residency/files/checkpoint.hpp>
#include <keel/impl/layout/agreement.hpp>
#include <keel/impl/layout/arguments.hpp>
#include <keel/impl/layout/elements.hpp>
#include <keel/impl/residency/fields_state.hpp>
#include <keel/impl/residency/records.hpp>
#include <keel/impl/residency/resize.hpp>
#include <keel/policy/error.hpp>
#include <keel/policy/log.hpp>

#include <algorithm>
#include <numeric>

namespace keel::residency::detail {

KEEL_INLINE void number_elements(arrays const& on, agreement const& ranks) {
  auto const meshes = on.meshes_with_ids();
  auto const size = std::size_t(ranks.size()), me = std::size_t(ranks.rank());
  std::vector<std::uint64_t> owned(meshes.size() * size);
  for (std::size_t m = 0; m < meshes.size(); ++m) owned[m * size + me] = std::uint64_t(meshes[m]->part->owned);
  if (!owned.empty()) ranks.sum(owned);
  for (std::size_t m = 0; m < meshes.size(); ++m) {
    numbering& made = meshes[m]->part->numbers;
    made.owned.assign(owned.begin() + std::ptrdiff_t(m * size), owned.begin() + std::ptrdiff_t((m + 1) * size));
    made.first = std::accumulate(made.owned.begin(), made.owned.begin() + ranks.rank(), std::int64_t(0));
    made.total = std::accumulate(made.owned.begin(), made.owned.end(), std::int64_t(0));
  }
}

KEEL_INLINE std::string path_of_mesh(std::string_view mesh) { return "/keel/meshes/" + std::string(mesh); }

KEEL_INLINE std::string path_of(std::string_view variable, saved_level const& one, bool has_components) {
  return "/" + std::string(variable) + "/" + std::to_string(one.level) +
         (has_components ? "/" + std::to_string(one.component) : "");
}

KEEL_INLINE stored_dataset dataset_of(arrays const& of, saved_level const& one, whole_variable const& whole) {
  variable_record const& v = of.variables()[std::size_t(one.variable)];
  array_kind const& kind = *v.kind;
  number_kind numbers = kind.numbers;
  int each = kind.numbers_of_each;
  if (numbers == number_kind::none && kind.added_as != addend::none) { // an array of the application
    bool const is_short = kind.added_as == addend::float32 || kind.added_as == addend::int32;
    numbers = kind.added_as <= addend::float32 ? number_kind::floating : number_kind::integer;
    each = int(kind.element_bytes) / (is_short ? 4 : 8);
  }
  constexpr stored_type types[] = {stored_type::floating, stored_type::integer, stored_type::natural,
                                   stored_type::opaque};
  stored_dataset made;
  made.path = path_of(v.about->name, one, of.components() > 1 && !of.has_blocks());
  made.type = types[std::size_t(numbers)], made.element_bytes = int(kind.element_bytes) / each;
  for (dimension_run const& d : whole.dimensions()) made.extents.push_back(d.count);
  if (each > 1) made.extents.push_back(each);
  std::string const lies = "on " + of.lattice_of(one.variable)->text() + (kind.is_left ? ", the first" : ", the last") +
                           " index runs fastest";
  made.attributes = {
      {"lies", lies},
      {"level", std::vector<std::int64_t>{one.level, one.component, std::int64_t(one.where), one.filled, one.number}}};
  return made;
}

KEEL_INLINE std::vector<saved_dimension> grids_of(arrays const& of) {
  std::vector<saved_dimension> made;
  for (int c = 0; c < (of.has_blocks() ? 1 : of.components()); ++c) {
    share const& s = of.local({c});
    for (int d = 0; d < s.rank; ++d) made.push_back({s.global_extents[d], int(s.width[d]), ends_of(s, d)});
  }
  return made;
}

KEEL_INLINE checkpoint_file::checkpoint_file(fields_state& of, std::string_view name)
    : fields_(of), ranks_(ranks_for(of, "checkpoint")), name_(name), temporary_(name_ + ".new.h5"),
      file_(ranks_, "residency::checkpoint") {}

KEEL_INLINE void checkpoint_file::prepare() {
  if (is_prepared_) return;
  ranks_.all_alike({"residency::checkpoint", name_, "is not written", "Take another folder"}, [&] {
    require_hdf5(name_ + ".h5");
    if (ranks_.rank() != 0) return;
    lock_.emplace(name_);
    require_folder_of(name_);
  });
  is_prepared_ = true;
}

KEEL_INLINE std::vector<saved_level> checkpoint_file::choose(live_levels const* live) {
  arrays const& on = fields_.arrays_;
  book const& in = fields_.book_;
  std::vector<saved_level> all, made;
  std::vector<std::int64_t> valid; // of each: owned elements, walls, how many layers of ghosts
  for (int v = 0; v < int(on.variables().size()); ++v) {
    variable_info const& about = *on.variables()[std::size_t(v)].about;
    for (int l = 0; l < about.levels && about.is_saved; ++l)
      for (int c = 0; c < on.components(); ++c) {
        auto const is_somewhere = [&](region one, int layers) {
          return in.memory_with(v, l, one, c, layers) != memory::none;
        };
        int layers = is_somewhere(region::halo, all_layers) ? all_layers : max_layers_apart;
        while (layers > 0 && !is_somewhere(region::halo, layers)) --layers;
        all.push_back({v, l, c});
        valid.push_back(is_somewhere(region::core, 0) && is_somewhere(region::rim, 0) ? 1 : 0);
        valid.push_back(on.wall_sides(v) != 0 && is_somewhere(region::walls, 0) ? 1 : 0);
        valid.push_back(about.has_ghosts ? layers : 0);
      }
  }
  ranks_.min(valid);
  if (on.has_blocks())
    for (std::size_t n = 0; n < all.size(); ++n)
      for (std::size_t k = 0; k < 3; ++k) {
        std::int64_t& of_first = valid[3 * (n - std::size_t(all[n].component)) + k];
        of_first = std::min(of_first, valid[3 * n + k]);
      }
  left_out_.clear();
  for (std::size_t n = 0; n < all.size(); ++n) {
    saved_level& one = all[n];
    std::int64_t const* const is_valid = &valid[3 * (on.has_blocks() ? n - std::size_t(one.component) : n)];
    live_level needed{region::everywhere};
    if (live != nullptr) needed = (*live)[std::size_t(one.variable)][std::size_t(one.level)];
    std::string const called =
        std::string(on.variables()[std::size_t(one.variable)].about->name) + " level " + std::to_string(one.level);
    if (needed.is_summand && is_valid[2] != 0)
      throw error("residency::checkpoint", name_ + " is not written",
                  "the ghosts of " + called + " hold what a later step adds to their owners",
                  "Accumulate them in the step that makes them");
    // Ghosts are copies of owned elements.
    if (is_valid[0] != 0 && overlap(needed.what, region::inside)) one.where = region::owned;
    if (is_valid[1] != 0) one.where = one.where | (needed.what & region::walls);
    if (overlap(needed.what, region::halo)) one.filled = int(is_valid[2]);
    if (one.where == region::none) {
      if (is_valid[0] != 0 && one.component == 0) left_out_.push_back(called);
      continue;
    }
    one.number = made.empty() ? 0 : made.back().number + (one.component == 0 || !on.has_blocks() ? 1 : 0);
    made.push_back(one);
  }
  if (!left_out_.empty() && !std::exchange(has_told_, true) && ranks_.rank() == 0) {
    std::string text;
    for (std::string const& one : left_out_) text += (text.empty() ? "" : ", ") + one;
    policy::log(policy::log_level::information,
                "residency::checkpoint: " + name_ + " leaves out what no later step reads: " + text);
  }
  return made;
}

KEEL_INLINE stored_file checkpoint_file::describe(std::span<saved_level const> levels) const {
  arrays const& on = fields_.arrays_;
  stored_file made;
  auto const numbers = [](auto... n) { return std::vector<std::int64_t>{std::int64_t(n)...}; };
  std::vector<std::string> variables;
  for (variable_record const& v : on.variables())
    if (!v.about->is_scratch) variables.emplace_back(v.about->name);
  made.attributes = {{"format", std::string("keel checkpoint")},
                     {"version", numbers(checkpoint_version)},
                     {"steps", numbers(fields_.book_.steps())}};
  auto grids = numbers(on.shares()->front().rank, on.has_blocks() ? 1 : on.components());
  for (saved_dimension const& d : grids_of(on)) grids.insert(grids.end(), {d.extent, d.width, d.ends});
  made.groups.push_back({"/keel", {{"variables", variables}, {"left out", left_out_}, {"grids", grids}}});
  made.datasets.emplace_back();
  for (saved_level const& one : levels)
    if (one.number + 2 > int(made.datasets.size())) made.datasets.push_back(dataset_of(on, one, whole_of(on, one)));
  for (mesh_record const* const m : on.meshes_with_ids()) {
    numbering const& of_ranks = m->part->numbers;
    auto about = numbers(m->grows); // whether elements move, and how many each rank has
    about.insert(about.end(), of_ranks.owned.begin(), of_ranks.owned.end());
    stored_dataset& ids = made.datasets.emplace_back();
    ids.path = path_of_mesh(m->name), ids.type = stored_type::integer, ids.extents = {of_ranks.total};
    ids.attributes = {{"moves", std::move(about)}};
  }
  made.datasets[0] = table_of_parts(ranks_.size(), std::int64_t(made.datasets.size()) - 1);
  return made;
}

KEEL_INLINE bool checkpoint_file::snapshot::has_room(copy_queue const& own) {
  if (used <= bytes) return true;
  there.reset(), here.reset(), bytes = 0;
  try {
    if (!beside) beside = own.beside();
    if (!beside) return false;
    there = own.allocate("keel: a checkpoint", used);
    here = own.allocate_on_host("keel: a checkpoint", used);
    bytes = used;
  } catch (std::exception const&) { // memory is short: copies without
    there.reset(), here.reset();
  }
  return bytes != 0;
}

KEEL_INLINE std::vector<memory> checkpoint_file::choose_memories(std::span<saved_level const> levels) {
  arrays const& on = fields_.arrays_;
  book& in = fields_.book_;
  std::vector<memory> from(levels.size(), host);
  for (snapshot& s : snapshots_) s.used = 0;
  for (std::size_t n = 0; n < levels.size() && in.keeps_ledger(); ++n) {
    saved_level const& one = levels[n];
    auto const is_in = [&](memory m) { return in.is_valid(one.variable, one.level, one.where, m, one.component, 0); };
    bool const is_each_ranks = on.provider().shape_of(one.variable, one.component).part == nullptr; // short
    for (int m = 1; m < on.memories() && !is_each_ranks && !is_in(host); ++m)
      if (in.is_open(memory(m)) && is_in(memory(m)) && from[n] == host) from[n] = memory(m);
    if (from[n] != host) snapshots_[std::size_t(from[n])].add(on.provider().used_of(one.variable, one.component));
  }
  for (int m = 1; m < on.memories(); ++m)
    if (snapshot& s = snapshots_[std::size_t(m)]; s.used != 0 && !s.has_room(on.provider().queue_of(memory(m))))
      std::replace(from.begin(), from.end(), memory(m), host);
  for (std::size_t n = 0; n < levels.size(); ++n) {
    saved_level const& one = levels[n];
    if (request const all{one.variable, one.level, one.where, region::none}; from[n] == host && in.keeps_ledger())
      in.acquire({&all, 1}, host, "checkpoint", {one.component, one.component + 1});
  }
  in.settle_all("checkpoint");
  for (snapshot& s : snapshots_) s.used = 0;
  return from;
}

KEEL_INLINE std::byte const* checkpoint_file::begin_copy(saved_level const& one, memory from) {
  kokkos_provider& provider = fields_.arrays_.provider();
  void const* const data = provider.array(one.variable, one.level, one.component, from);
  if (from == host) return static_cast<std::byte const*>(data);
  snapshot& s = snapshots_[std::size_t(from)];
  std::size_t const bytes = provider.used_of(one.variable, one.component);
  std::size_t const at = s.add(bytes);
  provider.queue_of(from).copy(s.there.get() + at, data, bytes);
  return s.here.get() + at;
}

KEEL_INLINE void checkpoint_file::write(live_levels const* live) {
  arrays const& on = fields_.arrays_;
  machine::failing_call const failing{"residency::checkpoint", name_, "is not written", "Take another folder"};
  std::string const called = name_ + " of step " + std::to_string(fields_.book_.steps());
  bool const is_start = fields_.executor_.steps().empty();
  finish();
  auto const levels = choose(live);
  number_elements(fields_.arrays_, ranks_);
  if (!file_.attempt(called, is_start, [&] { prepare(); })) return;
  std::vector<memory> from;
  ranks_.all_or_none(failing, [&] { from = choose_memories(levels); });
  std::vector<std::string> names;
  std::vector<argument> alike; // every rank has them whole
  names.reserve(levels.size());
  for (saved_level const& one : levels)
    if (on.provider().shape_of(one.variable, one.component).part == nullptr) {
      names.push_back("values of " + std::string(on.variables()[std::size_t(one.variable)].about->name));
      alike.push_back({names.back(), on.provider().digest(one.variable, one.level, one.component, region::core, host)});
    }
  if (!alike.empty()) require_alike(ranks_, "residency::checkpoint", name_ + " is not written", alike);
  file_.attempt(called, is_start, [&] {
    auto const offsets = file_.make(temporary_, failing, [&] { return describe(levels); });
    std::vector<staged_box> boxes;
    write_job job;
    ranks_.all_or_none(failing, [&] {
      for (std::size_t n = 0; n < levels.size(); ++n) {
        saved_level const& one = levels[n];
        auto const* const data = begin_copy(one, from[n]);
        int const element = int(on.provider().shape_of(one.variable, one.component).element_bytes);
        for (ordered_box const& box : whole_of(on, one).boxes(one.where, true))
          boxes.push_back({one.number + 1, data, box, element, from[n] != host});
      }
      auto const meshes = on.meshes_with_ids();
      int dataset = int(offsets.size() - meshes.size());
      for (mesh_record const* const m : meshes) {
        for (ordered_box const& box : boxes_of_ids(*m->part)) boxes.push_back({dataset, m->part->ids.data(), box, 8});
        ++dataset;
      }
      for (int m = 1; m < on.memories(); ++m)
        if (snapshot const& s = snapshots_[std::size_t(m)]; s.used != 0) {
          on.provider().queue_of(memory(m)).fence();
          s.beside.to_host(s.here.get(), s.there.get(), s.used);
        }
    });
    job.fetch = [all = &snapshots_] {
      for (snapshot const& s : *all)
        if (s.used != 0) s.beside.fence();
    };
    job.temporary = temporary_, job.name = name_ + ".h5", job.previous = name_ + ".previous.h5";
    job.sums = int(offsets.size()) - 1;
    file_.begin(std::move(job), offsets, boxes, called, failing);
  });
}

} // namespace keel::residency::detail
