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
#include <keel/impl/store/read_file.hpp>
#include <keel/policy/error.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace keel::residency::detail {

/// Where the elements of a mesh lie in the file.
struct mesh_in_file {
  struct element {
    std::int64_t place;
    std::int32_t local;
  };
  bool is_cut_so = false;             ///< each rank has the ids that lie at its place in the file
  std::vector<element> elements = {}; ///< else those that this rank owns, by place
};

// Calls add(bytes, number of the first, how many) for all that it has read, while that is in a cache.
inline void read_elements(run_reader& file, mesh_in_file const& mesh, whole_variable const& whole, std::byte* data,
                          std::int64_t offset, int element_bytes, auto const& add) {
  if (mesh.elements.empty()) return;
  ordered_box one = whole.boxes(region::owned, true).front(); // becomes that of an element
  auto const order = whole.dimensions();
  auto const of_mesh = std::size_t(
      std::find_if(order.begin(), order.end(), [](auto const& d) { return d.of_grid == 0; }) - order.begin());
  std::int64_t const stride = one.dimensions[of_mesh].stride;
  one.at = 0, one.dimensions[of_mesh].count = 1, one.dimensions[of_mesh].first = 0;
  std::int64_t step = 1;
  for (auto d = of_mesh + 1; d < std::size_t(one.rank); ++d) step *= one.dimensions[d].extent;
  for_each_run(one, [&](std::int64_t at, std::int64_t first, std::int64_t count) {
    auto const many = std::size_t(std::max<std::int64_t>(1, (1 << 18) / (count * element_bytes)));
    for (std::size_t n = 0; n < mesh.elements.size(); n += many) {
      auto const some = std::span(mesh.elements).subspan(n, std::min(many, mesh.elements.size() - n));
      for (auto const& e : some)
        file.read(data + (at + e.local * stride) * element_bytes, count * element_bytes,
                  offset + (first + e.place * step) * element_bytes);
      file.flush();
      for (auto const& e : some) add(data + (at + e.local * stride) * element_bytes, first + e.place * step, count);
    }
  });
}

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

KEEL_INLINE void restart(fields_state& f, std::string_view name, std::span<schedule_nodes const> schedules) {
  agreement const& ranks = ranks_for(f, "restart");
  f.executor_.require_idle("restart");
  f.checkpoints_->finish();
  if (!schedules.empty()) f.checkpoints_->go_on_with(schedules);
  auto const ran = f.executor_.steps();
  if (schedules.empty()) schedules = ran;
  if (name.ends_with(".h5")) name.remove_suffix(3);
  std::string const path = std::string(name) + ".h5";
  std::string const before = std::string(name) + ".previous";
  std::string const hint = "Take the one before it, " + before + ", if there is one";
  machine::failing_call const failing{"residency::restart", path, "is not read", hint};
  restart_content all;
  ranks.all_alike(failing, [&] {
    if (ranks.rank() != 0) return;
    try {
      all = look_into(f, path, schedules);
    } catch (error const& e) {
      if (std::string_view(e.what()).find("is not of this program") != std::string_view::npos ||
          ::access((before + ".h5").c_str(), R_OK) != 0)
        throw;
      throw error("residency::restart", std::string(e.brief()), {}, "Take the one before it, " + before);
    }
  });
  share_content(ranks, all);
  std::optional<file_to_read> file;
  ranks.all_or_none(failing, [&] {
    file.emplace(path);
    f.book_.settle_all("restart");
  });
  std::vector<mesh_in_file> meshes;
  std::uint64_t sum = 0;
  for (auto const& m : all.meshes) meshes.push_back(find_elements(f, ranks, *file, all, m, failing, sum));
  if (!f.arrays_.has_blocks() && all.grids != grids_of(f.arrays_)) regrid(f, patches_of(f.arrays_, all.grids));

  arrays const& on = f.arrays_;
  number_elements(f, ranks);
  std::vector<std::uint64_t> sums(all.levels.size());
  auto const lose = [&] {
    for (auto const& l : all.levels)
      if (request const one{l.is.variable, l.is.level, region::none, region::everywhere}; f.book_.keeps_ledger())
        f.book_.ledger().lose({&one, 1}, {l.is.component, l.is.component + 1}, "restart");
  };
  try {
    ranks.all_or_none(failing, [&] {
      run_reader reader(*file);
      for (std::size_t n = 0; n < all.levels.size(); ++n) {
        auto const& l = all.levels[n];
        saved_level const& one = l.is;
        whole_variable const whole = whole_of(on, one);
        shape const& lies = on.provider().shape_of(one.variable, one.component);
        auto* const data = static_cast<std::byte*>(on.provider().array(one.variable, one.level, one.component, host));
        int const element = int(lies.element_bytes), word = word_bytes_of(element);
        auto const add = [&](std::byte const* from, std::int64_t first, std::int64_t count) {
          sums[n] += checksum(from, std::size_t(count * element), std::uint64_t(first * element / word), word);
        };
        auto const mesh = std::find_if(all.meshes.begin(), all.meshes.end(), [&](auto const& m) {
          return on.meshes_with_ids()[m.mesh]->name == on.lattice_of(one.variable)->on.mesh;
        });
        if (auto const m = std::size_t(mesh - all.meshes.begin()); m != meshes.size() && !meshes[m].is_cut_so) {
          read_elements(reader, meshes[m], whole, data, l.offset, element, add);
          continue;
        }
        for (ordered_box const& box : whole.boxes(one.where, false))
          for_each_run(box, [&](std::int64_t at, std::int64_t first, std::int64_t count) {
            reader.read(data + at * element, count * element, l.offset + first * element);
          });
        reader.flush();
        for (ordered_box const& box : whole.boxes(one.where, true))
          for_each_run(box, [&](std::int64_t at, std::int64_t first, std::int64_t count) {
            add(data + at * element, first, count);
          });
      }
    });
    for (std::size_t n = 0; n < sums.size(); ++n)
      if (on.has_blocks() && all.levels[n].is.component != 0)
        sums[n - std::size_t(all.levels[n].is.component)] += std::exchange(sums[n], 0);
    if (!sums.empty()) ranks.sum(sums);
    ranks.all_or_none(failing, [&] {
      for (std::size_t n = 0; n < sums.size(); ++n)
        if (saved_level const& one = all.levels[n].is; sums[n] != all.levels[n].sum)
          throw error("residency::restart",
                      std::string(on.variables()[std::size_t(one.variable)].about->name) + ", level " +
                          std::to_string(one.level) + ", is damaged",
                      "its checksum is wrong");
    });
  } catch (...) {
    lose();
    throw;
  }
  std::vector<request> exchanged;
  for (auto const& l : all.levels) {
    saved_level const& one = l.is;
    if (f.book_.keeps_ledger()) {
      request const written{one.variable, one.level, region::none, one.where};
      f.book_.ledger().post_call({&written, 1}, host, {one.component, one.component + 1}, "restart");
    }
    // All components travel together, with the layers that all had.
    int components = 0, filled = all_layers;
    for (auto const& other : all.levels)
      if (other.is.variable == one.variable && other.is.level == one.level && overlap(other.is.where, region::owned))
        ++components, filled = std::min(filled, other.is.filled);
    if (one.component == 0 && components == on.components() && filled != 0 &&
        on.variables()[std::size_t(one.variable)].about->has_ghosts && on.layers(one.variable) != 0)
      exchanged.push_back({one.variable, one.level, region::rim, region::halo, 0, std::uint8_t(filled)});
  }
  if (!exchanged.empty()) {
    f.exchanger_->begin(exchanged, f.exchanges_in_, every_component, combine::replace);
    f.exchanger_->finish(exchanged, f.exchanges_in_, every_component, combine::replace);
  }
  f.book_.set_steps(all.steps);
}

} // namespace keel::residency::detail
