// SPDX-License-Identifier: MIT
#include <keel/impl/residency/files/restart_content.hpp>
#include <keel/impl/layout/agreement.hpp>
#include <keel/impl/residency/fields_state.hpp>
#include <keel/impl/residency/files/checkpoint.hpp>
#include <keel/impl/residency/records.hpp>
#include <keel/impl/schedule/liveness.hpp>
#include <keel/impl/store/file_writer.hpp>
#include <keel/impl/store/read_file.hpp>

#include <algorithm>
#include <iterator>
#include <string_view>

namespace keel::residency::detail {

[[noreturn]] inline void refuse_restart(std::string const& file, std::string const& why, std::string_view hint) {
  throw error("residency::restart", file + " is not of this program", why, hint);
}

KEEL_INLINE restart_content look_into(fields_state const& f, std::string const& path,
                                      std::span<schedule_nodes const> schedules) {
  arrays const& on = f.arrays_;
  stored_file const file = read_file(path);
  auto const* const format = attribute_of<std::string>(file.attributes, "format");
  if (format == nullptr || *format != "keel checkpoint") refuse_restart(path, "it is no checkpoint", "Name one");
  auto const numbers = [&](auto const& attributes, std::string_view name, std::size_t least) {
    auto const* const found = attribute_of<std::vector<std::int64_t>>(attributes, name);
    if (found == nullptr || found->size() < least)
      refuse_restart(path, "its attribute '" + std::string(name) + "' is missing", "Take another one");
    return *found;
  };
  if (auto const version = numbers(file.attributes, "version", 1)[0]; version != checkpoint_version)
    refuse_restart(path,
                   "it is of version " + std::to_string(version) + " of the format, this keel reads " +
                       std::to_string(checkpoint_version),
                   "Take the keel that wrote it");
  restart_content made;
  made.steps = numbers(file.attributes, "steps", 1)[0];
  std::vector<stored_attribute> const* general = nullptr;
  for (auto const& [name, attributes] : file.groups)
    if (name == "/keel") general = &attributes;
  if (general == nullptr) refuse_restart(path, "its group /keel is missing", "Take another one");
  made.grids = numbers(*general, "grids", 2);
  auto const here = grids_of(on);
  auto const base = std::size_t(2 + 3 * here[0]);
  if (made.grids[0] != here[0] || made.grids.size() != std::size_t(2 + 3 * made.grids[0] * made.grids[1]) ||
      !std::equal(here.begin() + 2, here.begin() + std::ptrdiff_t(base), made.grids.begin() + 2)) {
    auto const text = [](std::vector<std::int64_t> const& all) {
      std::string cells;
      for (std::int64_t d = 0; d < all[0] && std::size_t(2 + 3 * d) < all.size(); ++d)
        cells += (d == 0 ? "" : " x ") + std::to_string(all[std::size_t(2 + 3 * d)]);
      return cells.empty() ? "none" : cells;
    };
    refuse_restart(path,
                   "its grid is " + text(made.grids) + ", the fields' is " + text(here) +
                       ", or the ghosts or periodic dimensions differ",
                   "Give the fields the same");
  }
  if (made.grids[1] != here[1] && on.has_blocks())
    refuse_restart(path, "it has " + std::to_string(made.grids[1]) + " components", "Leave blocks out");

  // All ranks have written, and these are the sums of what they wrote.
  stored_dataset const* const parts = file.dataset("/keel/parts");
  if (parts == nullptr || parts->extents.size() != 2 || parts->offset < 0)
    refuse_restart(path, "its list of parts is missing", "Take another one");
  std::int64_t const row = parts->extents[1];
  made.ranks = parts->extents[0];
  auto const columns = std::size_t(row);
  std::vector<std::uint64_t> table(std::size_t(made.ranks) * columns), sums(columns);
  file_to_read(path).read(table.data(), table.size() * 8, parts->offset);
  for (std::size_t n = 0; n < table.size(); ++n) {
    if (n % std::size_t(row) == 0 && !part_state::is_whole(table[n]))
      throw error("residency::restart", path + " cannot be read", "not all ranks had written their part");
    sums[n % std::size_t(row)] += table[n];
  }
  std::vector<mesh_place> places(on.meshes().size());
  for (std::size_t m = 0; m < places.size(); ++m) {
    stored_dataset const* const ids = file.dataset(path_of_mesh(on.meshes()[m].name));
    if (ids == nullptr)
      refuse_restart(path, "it has no mesh " + std::string(on.meshes()[m].name),
                     "Give the fields the meshes that it has");
    auto const about = numbers(ids->attributes, "moves", 1);
    places[m].total = ids->extents.empty() ? 0 : ids->extents[0];
    made.meshes.push_back({std::int64_t(m), places[m].total, ids->offset,
                           std::int64_t(sums[std::size_t(row) - places.size() + m]), about[0],
                           std::int64_t(made.owned.size())});
    made.owned.insert(made.owned.end(), about.begin() + 1, about.end());
  }
  live_levels live;
  for (variable_record const& v : on.variables()) live.emplace_back(std::size_t(v.about->levels));
  if (!schedules.empty()) live = live_before(schedules, live, made.steps == 0);
  for (stored_dataset const& d : file.datasets) {
    if (d.path.starts_with("/keel/")) continue;
    std::string const name = d.path.substr(1, d.path.find('/', 1) - 1);
    int v = 0;
    while (v < int(on.variables().size()) && on.variables()[std::size_t(v)].about->name != name) ++v;
    if (v == int(on.variables().size()))
      refuse_restart(path, "it has a variable " + name + ", the fields have not", "Give the fields the same variables");
    auto const about = numbers(d.attributes, "level", 5);
    saved_level one{v, int(about[0]), int(about[1]), region(about[2]), int(about[3]), int(about[4])};
    if (one.level < 0 || one.level >= on.variables()[std::size_t(v)].about->levels)
      refuse_restart(path, "it has level " + std::to_string(one.level) + " of " + name,
                     "Give the variable as many levels");
    // Of a component that the fields do not have yet, extents come with its grid.
    bool const is_here = one.component < on.components();
    bool const has_walls = overlap(one.where, region::walls);
    saved_level as_here = one;
    if (!is_here) as_here.component = 0;
    stored_dataset const same = dataset_of(on, as_here, whole_of(on, as_here, has_walls, places));
    auto const *lies = attribute_of<std::string>(d.attributes, "lies"),
               *lies_here = attribute_of<std::string>(same.attributes, "lies");
    auto const text = [](stored_dataset const& of) {
      constexpr char const* names[] = {"floating", "integer", "natural", "opaque"};
      std::string lengths;
      for (std::int64_t const n : of.extents) lengths += (lengths.empty() ? "" : " x ") + std::to_string(n);
      return lengths + (of.extents.empty() ? "one" : "") + " of " + names[std::size_t(of.type)] + " with " +
             std::to_string(of.element_bytes) + " bytes";
    };
    if (lies == nullptr || *lies != *lies_here)
      refuse_restart(path, name + " lies " + (lies != nullptr ? *lies : "") + " in it, in the fields " + *lies_here,
                     "Declare it as it was");
    if (same.type != d.type || same.element_bytes != d.element_bytes || (is_here && same.extents != d.extents))
      refuse_restart(path, name + " is " + text(d) + " in it, in the fields " + text(same), "Declare it as it was");
    if (one.number < 0 || one.number + 1 >= row) refuse_restart(path, "its sums are missing", "Take another one");
    std::int64_t const of_blocks = on.has_blocks() ? on.components() : 1;
    for (std::int64_t c = 0; c < of_blocks; ++c)
      made.levels.push_back({v, one.level, on.has_blocks() ? c : one.component, std::int64_t(one.where), one.filled,
                             has_walls, d.offset, c == 0 ? std::int64_t(sums[std::size_t(one.number) + 1]) : 0});
    live[std::size_t(v)][std::size_t(one.level)].what =
        without(live[std::size_t(v)][std::size_t(one.level)].what, one.where | region::ghosts);
  }
  // What later steps read, no file has and the program has not made.
  auto const *variables = attribute_of<std::vector<std::string>>(*general, "variables"),
             *left_out = attribute_of<std::vector<std::string>>(*general, "left out");
  auto const is_in = [](auto const* list, std::string const& name) {
    return list != nullptr && std::find(list->begin(), list->end(), name) != list->end();
  };
  for (std::size_t v = 0; v < live.size(); ++v)
    for (std::size_t l = 0; l < live[v].size(); ++l) {
      variable_info const& about = *on.variables()[v].about;
      std::string const called = std::string(about.name) + " level " + std::to_string(l);
      if (!overlap(live[v][l].what, region::owned) || !about.is_saved) continue;
      bool const is_valid = f.book_.memory_with(int(v), int(l), region::owned, 0) != memory::none;
      if (!is_valid && (is_in(left_out, called) || !is_in(variables, std::string(about.name))))
        refuse_restart(path, "later steps read " + called + ", which it does not have",
                       "Name the variable by keep in the checkpoint, or write it before");
    }
  return made;
}

KEEL_INLINE void share_content(agreement const& ranks, restart_content& all) {
  std::vector<std::int64_t> numbers;
  auto const put_list = [&](auto const& list) {
    numbers.push_back(std::int64_t(list.size()));
    for (auto const& one : list) {
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
    for (auto& one : list) std::memcpy(&one, &numbers[at], sizeof(one)), at += sizeof(one) / 8;
  };
  all.steps = numbers[0], all.ranks = numbers[1];
  take_list(all.grids), take_list(all.owned), take_list(all.levels), take_list(all.meshes);
}

} // namespace keel::residency::detail
