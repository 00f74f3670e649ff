// SPDX-License-Identifier: MIT
#include <keel/impl/residency/files/restart.hpp>
#include <keel/impl/layout/agreement.hpp>
#include <keel/impl/layout/elements.hpp>
#include <keel/impl/residency/files/checkpoint_files.hpp>
#include <keel/impl/residency/files/restart_content.hpp>
#include <keel/impl/residency/exchanger.hpp>
#include <keel/impl/residency/fields_state.hpp>
#include <keel/impl/residency/records.hpp>
#include <keel/impl/residency/regrid.hpp>
#include <keel/impl/residency/resize.hpp>
#include <keel/impl/store/checksum.hpp>
#include <keel/policy/error.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace keel::residency::detail {

inline mesh_in_file find_elements(fields_state& f, agreement const& ranks, file_to_read const& file,
                                  restart_content const& all, restart_content::of_mesh const& in_file,
                                  machine::failing_call const& failing, std::uint64_t& sum) {
  mesh_in_file made;
  std::string_view const mesh = f.arrays_.meshes_with_ids()[in_file.mesh]->name;
  std::vector<std::int64_t> read, mine = f.arrays_.part_of(mesh)->owned_ids();
  // The ids that a rank reads: what one of the former job had, if there were as many ranks; else equal shares.
  std::vector<std::int64_t> begins(std::size_t(ranks.size()) + 1);
  for (std::int64_t r = 0; r < ranks.size(); ++r)
    begins[std::size_t(r) + 1] = all.ranks == ranks.size()
                                     ? begins[std::size_t(r)] + all.owned[in_file.first_share + std::size_t(r)]
                                     : in_file.total * (r + 1) / ranks.size();
  ranks.all_or_none(failing, [&] {
    std::int64_t const first = begins[std::size_t(ranks.rank())];
    read.resize(std::size_t(begins[std::size_t(ranks.rank()) + 1] - first));
    file.read(read.data(), read.size() * 8, in_file.offset + first * 8);
    sum = checksum(reinterpret_cast<std::byte const*>(read.data()), read.size() * 8, std::uint64_t(first));
  });
  std::array<std::uint64_t, 2> of_all{sum, mine.size()};
  ranks.sum(of_all);
  ranks.all_or_none(failing, [&] {
    if (of_all[0] != in_file.sum)
      throw error("residency::restart", "the ids of mesh " + std::string(mesh) + " are damaged",
                  "their checksum is wrong");
  });
  made.is_cut_so = ranks.min(read == mine ? 1 : 0) == 1;
  if (made.is_cut_so) return made;
  auto const found = ranks.search(mesh, read, mine, search_for::some_owners);
  bool const has_all = ranks.min(found->lacks_owners ? 0 : 1) == 1 && of_all[1] == std::uint64_t(in_file.total);
  if (!has_all && in_file.moves) { // the fields take what the file has
    new_cut const cut{mesh, ranks.search(mesh, read, {}, search_for::owners)};
    repartition(f, {&cut, 1}, {}, thunk::of([] {}));
    made.is_cut_so = true;
    return made;
  }
  ranks.all_or_none(failing, [&] {
    if (!has_all)
      throw error("residency::restart", "mesh " + std::string(mesh) + " has other elements",
                  "of " + std::to_string(of_all[1]) + " the file has not all, or more",
                  "Cut the mesh that was cut before");
    elements const& here = *f.arrays_.part_of(mesh);
    for (std::size_t n = 0; n < mine.size(); ++n)
      made.elements.push_back({begins[std::size_t(found->owners[n])] + found->at_owner[n], here.place(n)});
    std::sort(made.elements.begin(), made.elements.end(),
              [](auto const& a, auto const& b) { return a.place < b.place; });
  });
  return made;
}

KEEL_INLINE void checkpoint(fields_state& f, std::string_view name) { f.checkpoints_->of(name).write(nullptr); }

KEEL_INLINE finished_files finish_files(fields_state& f, entry_kind which) { return f.checkpoints_->finish(which); }

KEEL_INLINE bool restart(fields_state& f, std::span<schedule_nodes const> schedules) {
  return f.checkpoints_->begin_steps(schedules);
}

// A file that fields go on from: found to be theirs, taken, and what follows from it, one step after the other.
class restarting {
public:
  restarting(fields_state& f, std::string_view name)
      : f_(f), ranks_(ranks_for(f, "restart")), name_(name.substr(0, name.size() - (name.ends_with(".h5") ? 3 : 0))) {}

  void look(std::span<schedule_nodes const> schedules) {
    ranks_.all_alike(failing(), [&] {
      if (ranks_.rank() != 0) return;
      try {
        all_ = look_into(f_, path_, schedules);
      } catch (error const& e) {
        if (std::string_view(e.what()).find("is not of this program") != std::string_view::npos ||
            ::access((before_ + ".h5").c_str(), R_OK) != 0)
          throw;
        throw error("residency::restart", std::string(e.brief()), {}, "Take the one before it, " + before_);
      }
    });
    share_content(ranks_, all_);
    ranks_.all_or_none(failing(), [&] {
      file_.emplace(path_);
      f_.book_.settle_all("restart");
    });
  }
  // The elements and the grids that the file has.
  void lay_out() {
    std::uint64_t sum = 0;
    for (auto const& m : all_.meshes) meshes_.push_back(find_elements(f_, ranks_, *file_, all_, m, failing(), sum));
    if (!f_.arrays_.has_blocks() && all_.grids != grids_of(f_.arrays_)) regrid(f_, patches_of(f_.arrays_, all_.grids));
    number_elements(f_.arrays_, ranks_);
  }
  void read() {
    sums_.resize(all_.levels.size());
    try {
      ranks_.all_or_none(failing(), [&] {
        run_reader reader(*file_);
        for (std::size_t n = 0; n < sums_.size(); ++n) read_level(reader, n);
      });
      require_sums();
    } catch (...) {
      for (auto const& l : all_.levels)
        if (request const one{l.is.variable, l.is.level, region::none, region::everywhere}; f_.book_.keeps_ledger())
          f_.book_.ledger().lose({&one, 1}, {l.is.component, l.is.component + 1}, "restart");
      throw;
    }
  }
  // What was read counts as written, and ghosts that were filled are so again.
  void settle() {
    std::vector<request> exchanged;
    for (auto const& l : all_.levels) {
      saved_level const& one = l.is;
      request const written{one.variable, one.level, region::none, one.where};
      if (f_.book_.keeps_ledger())
        f_.book_.ledger().post_call({&written, 1}, host, {one.component, one.component + 1}, "restart");
      if (int const layers = one.component == 0 ? filled_layers(one) : 0; layers != 0)
        exchanged.push_back({one.variable, one.level, region::rim, region::halo, 0, std::uint8_t(layers)});
    }
    if (!exchanged.empty()) {
      f_.exchanger_->begin(exchanged, f_.exchanges_in_, every_component, combine::replace, true);
      f_.exchanger_->finish(exchanged, f_.exchanges_in_, every_component, combine::replace);
    }
    f_.book_.set_steps(all_.steps);
  }

private:
  [[nodiscard]] machine::failing_call failing() const { return {"residency::restart", path_, "is not read", hint_}; }

  // Null if each rank has the ids that lie at its place in the file, or there are none.
  [[nodiscard]] mesh_in_file const* scattered(int variable) const {
    std::string_view const name = f_.arrays_.lattice_of(variable)->on.mesh;
    for (std::size_t m = 0; m < meshes_.size(); ++m)
      if (f_.arrays_.meshes_with_ids()[all_.meshes[m].mesh]->name == name)
        return meshes_[m].is_cut_so ? nullptr : &meshes_[m];
    return nullptr;
  }
  void read_level(run_reader& reader, std::size_t n) {
    arrays const& on = f_.arrays_;
    saved_level const& one = all_.levels[n].is;
    std::int64_t const offset = all_.levels[n].offset;
    whole_variable const whole = whole_of(on, one);
    auto* const data = static_cast<std::byte*>(on.provider().array(one.variable, one.level, one.component, host));
    int const element = int(on.provider().shape_of(one.variable, one.component).element_bytes),
              word = word_bytes_of(element);
    auto const add = [&](std::byte const* from, std::int64_t first, std::int64_t count) {
      sums_[n] += checksum(from, std::size_t(count * element), std::uint64_t(first * element / word), word);
    };
    if (mesh_in_file const* const mesh = scattered(one.variable))
      return read_elements(reader, *mesh, whole, data, offset, element, add);
    for (ordered_box const& box : whole.boxes(one.where, false))
      for_each_run(box, [&](std::int64_t at, std::int64_t first, std::int64_t count) {
        reader.read(data + at * element, count * element, offset + first * element);
      });
    reader.flush();
    for (ordered_box const& box : whole.boxes(one.where, true))
      for_each_run(box, [&](std::int64_t at, std::int64_t first, std::int64_t count) {
        add(data + at * element, first, count);
      });
  }
  void require_sums() {
    for (std::size_t n = 0; n < sums_.size(); ++n)
      if (int const c = all_.levels[n].is.component; f_.arrays_.has_blocks() && c != 0)
        sums_[n - std::size_t(c)] += std::exchange(sums_[n], 0);
    if (!sums_.empty()) ranks_.sum(sums_);
    ranks_.all_or_none(failing(), [&] {
      for (std::size_t n = 0; n < sums_.size(); ++n)
        if (saved_level const& one = all_.levels[n].is; sums_[n] != all_.levels[n].sum)
          throw error("residency::restart",
                      std::string(f_.arrays_.variables()[std::size_t(one.variable)].about->name) + ", level " +
                          std::to_string(one.level) + ", is damaged",
                      "its checksum is wrong");
    });
  }
  // All components travel together, with the layers that all had; 0 if one had none, or is not in the file.
  [[nodiscard]] int filled_layers(saved_level const& one) const {
    int components = 0, filled = all_layers;
    for (auto const& other : all_.levels)
      if (other.is.variable == one.variable && other.is.level == one.level && overlap(other.is.where, region::owned))
        ++components, filled = std::min(filled, other.is.filled);
    bool const has_ghosts = f_.arrays_.variables()[std::size_t(one.variable)].about->has_ghosts;
    return components == f_.arrays_.components() && has_ghosts && f_.arrays_.layers(one.variable) != 0 ? filled : 0;
  }

  fields_state& f_;
  agreement const& ranks_;
  std::string name_, path_ = name_ + ".h5", before_ = name_ + ".previous";
  std::string hint_ = "Take the one before it, " + before_ + ", if there is one";
  restart_content all_;
  std::optional<file_to_read> file_;
  std::vector<mesh_in_file> meshes_;
  std::vector<std::uint64_t> sums_;
};

KEEL_INLINE void restart(fields_state& f, std::string_view name, std::span<schedule_nodes const> schedules) {
  restarting from(f, name);
  f.executor_.require_idle("restart");
  f.checkpoints_->finish();
  if (!schedules.empty()) f.checkpoints_->go_on_with(schedules);
  auto const ran = f.executor_.steps();
  from.look(schedules.empty() ? std::span<schedule_nodes const>(ran) : schedules);
  from.lay_out();
  from.read();
  from.settle();
}

} // namespace keel::residency::detail
