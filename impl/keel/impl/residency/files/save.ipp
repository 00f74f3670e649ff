// SPDX-License-Identifier: MIT
#include <keel/impl/residency/files/save.hpp>
#include <keel/impl/layout/agreement.hpp>
#include <keel/impl/layout/grid/cube.hpp>
#include <keel/impl/store/whole_file.hpp>
#include <keel/impl/residency/files/checkpoint_files.hpp>
#include <keel/impl/residency/fields_state.hpp>
#include <keel/impl/residency/records.hpp>
#include <keel/impl/residency/resize.hpp>
#include <keel/policy/error.hpp>
#include <keel/policy/log.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

namespace keel::residency::detail {

/// A file, and what this rank has of it.
struct saved_series::content {
  stored_file file;
  std::vector<staged_box> boxes;
  std::vector<std::shared_ptr<void>> made; ///< what is in none of the fields' arrays
  double time = 0;

  int add(std::string path, stored_type type, int bytes, std::vector<std::int64_t> extents) {
    stored_dataset& d = file.datasets.emplace_back();
    d.path = std::move(path), d.type = type, d.element_bytes = bytes, d.extents = std::move(extents);
    return int(file.datasets.size()) - 1;
  }
  /// An array of elements as those of `one`, with the numbers of each last; `put` adds what this rank has of it.
  int add(std::string path, std::vector<std::int64_t> extents, seen_array const& one) {
    if (one.numbers != 1) extents.push_back(one.numbers);
    return add(std::move(path), one.as.type, one.as.element_bytes, std::move(extents));
  }
  void put(int dataset, seen_array const& one) {
    for (ordered_box const& box : one.boxes) boxes.push_back({dataset, one.data(), box, one.element_bytes()});
  }
  /// Elements from number `first` of the dataset on.
  template <class T>
  void add(int dataset, std::vector<T> values, std::int64_t first, std::int64_t of, int bytes = sizeof(T)) {
    auto const kept = std::make_shared<std::vector<T>>(std::move(values));
    ordered_box box;
    box.add({std::int64_t(kept->size() * sizeof(T)) / bytes, 1, first, of});
    boxes.push_back({dataset, kept->data(), box, bytes});
    made.push_back(kept);
  }
  /// Cells of so many points of their own each, of which this rank writes some. Returns their numbers.
  std::vector<std::int64_t> add_cells(std::int64_t total, std::int64_t first, std::int64_t last, std::int64_t points,
                                      std::uint8_t type, bool is_last_rank) {
    std::string const root = "/VTKHDF/";
    auto const integers = [&](std::string const& name, std::int64_t count) {
      return add(root + name, stored_type::integer, 8, {count});
    };
    file.groups.push_back(
        {"/VTKHDF", {{"Version", std::vector<std::int64_t>{1, 0}}, {"Type", std::string("UnstructuredGrid")}}});
    for (char const* const name : {"NumberOfPoints", "NumberOfCells", "NumberOfConnectivityIds"}) {
      std::int64_t const number = name == std::string_view("NumberOfCells") ? total : points * total;
      std::vector<std::byte>& bytes = file.datasets[std::size_t(integers(name, 1))].content;
      bytes.resize(sizeof number);
      std::memcpy(bytes.data(), &number, sizeof number);
    }
    std::vector<std::int64_t> counted(std::size_t(points * (last - first)));
    std::iota(counted.begin(), counted.end(), points * first);
    add(integers("Connectivity", points * total), counted, points * first, points * total);
    std::vector<std::int64_t> offsets;
    for (std::int64_t n = first; n < last + (is_last_rank ? 1 : 0); ++n) offsets.push_back(points * n);
    add(integers("Offsets", total + 1), std::move(offsets), first, total + 1);
    add(add(root + "Types", stored_type::natural, 1, {total}),
        std::vector<std::uint8_t>(std::size_t(last - first), type), first, total);
    return counted;
  }
};

KEEL_INLINE void saved_series::put_image(saved_frame const& what, content& in) const {
  arrays const& on = fields_.arrays_;
  auto extent = std::vector<std::int64_t>(6);
  for (std::size_t d = 0; d < what.points.size(); ++d) extent[2 * d + 1] = what.points[what.points.size() - 1 - d] - 1;
  in.file.groups.push_back({"/VTKHDF",
                            {{"Version", std::vector<std::int64_t>{1, 0}},
                             {"Type", std::string("ImageData")},
                             {"WholeExtent", extent},
                             {"Origin", std::vector<double>(what.origin.begin(), what.origin.end())},
                             {"Spacing", std::vector<double>(3, 1.)},
                             {"Direction", std::vector<double>{1, 0, 0, 0, 1, 0, 0, 0, 1}}}});
  for (saved_frame::array const& a : what.arrays) {
    if (a.group == "FieldData") continue;
    int dataset = -1;
    for (int c = what.component; c < (on.has_blocks() ? on.components() : what.component + 1); ++c) {
      seen_array const one(on, a.level, c);
      if (dataset < 0)
        dataset = in.add("/VTKHDF/" + a.group + "/" + detail::name_of(on, a.level),
                         seen_of(on, a.level.variable, c).counts, one);
      in.put(dataset, one);
    }
  }
}

// Its cells, with corners of their own; in the order of the array.
KEEL_INLINE void saved_series::put_sphere(saved_frame const& what, content& in) const {
  arrays const& on = fields_.arrays_;
  std::int64_t const n = on.local(component{}).global_extents[1], total = panels * n * n;
  auto const begin = [&](int rank) { return total * rank / ranks_.size(); };
  in.add_cells(total, begin(ranks_.rank()), begin(ranks_.rank() + 1), 4, 9, // quadrangles
               ranks_.rank() == ranks_.size() - 1);
  int const points = in.add("/VTKHDF/Points", stored_type::floating, 8, {4 * total, 3});
  for (saved_frame::array const& a : what.arrays) {
    if (a.group == "FieldData") continue;
    bool const is_left = on.variables()[std::size_t(a.level.variable)].kind->is_left;
    int const dataset = in.add("/VTKHDF/CellData/" + detail::name_of(on, a.level), {total}, seen_array(on, a.level, 0));
    for (int c = 0; c < on.components(); ++c) {
      in.put(dataset, seen_array(on, a.level, c));
      if (&a != &what.arrays.front()) continue;
      share const& s = on.local({c}, a.level.variable);
      auto const panel = int(s.global_begin[0] / n);
      bounds const own = s.owned();
      int const row = is_left ? 1 : 0; // cells of a row follow on each other
      for (std::int64_t r = own.begin[row]; r < own.end[row]; ++r) {
        std::vector<double> corners;
        indices at;
        at[row] = r;
        for (at[1 - row] = own.begin[1 - row]; at[1 - row] < own.end[1 - row]; ++at[1 - row])
          for (auto const& [up, right] : {std::pair{0, 0}, {1, 0}, {1, 1}, {0, 1}})
            for (double const x : point_on_sphere(panel,
                                                  {s.global_begin[0] - panel * n + at[0] - own.begin[0] + up,
                                                   s.global_begin[1] + at[1] - own.begin[1] + right},
                                                  n))
              corners.push_back(x);
        std::int64_t const whole[] = {s.global_begin[0] + (row == 0 ? r - own.begin[0] : 0),
                                      s.global_begin[1] + (row == 1 ? r - own.begin[1] : 0)};
        in.add(points, std::move(corners), 12 * (is_left ? whole[1] * panels * n + whole[0] : whole[0] * n + whole[1]),
               12 * total);
      }
    }
  }
}

KEEL_INLINE void saved_series::put_mesh(saved_frame const& what, content& in) const {
  arrays const& on = fields_.arrays_;
  geometry const& lies = *on.lattice_of(what.arrays.front().level.variable);
  std::string const root = "/VTKHDF/";
  std::int64_t const total = lies.whole_extents({}, false)[0];
  auto const places = lies.places({}, false, region::owned, true);
  std::int64_t const first = places.empty() ? total : places.front().along[0].first;
  std::int64_t last = first;
  for (placed_box const& one : places) last += one.along[0].count;
  std::vector<std::int64_t> counted = in.add_cells(total, first, last, 1, 1, ranks_.rank() == ranks_.size() - 1);

  // Positions have one to three numbers, and are called so; else the first of the list that has two or three.
  auto const are_positions = [&](saved_frame::array const& a) {
    seen_array const one(on, a.level, what.component);
    bool const is_called_so = detail::name_of(on, a.level) == "position";
    bool const are_numbers = one.as.type == stored_type::floating && one.as.element_bytes == one.element_bytes();
    return a.group == "PointData" && are_numbers && one.numbers <= 3 && one.numbers >= (is_called_so ? 1 : 2) &&
           (is_called_so || &a == &what.arrays.front());
  };
  auto positions = std::find_if(what.arrays.rbegin(), what.arrays.rend(), are_positions);
  int const bytes =
      positions == what.arrays.rend() ? 8 : seen_array(on, positions->level, what.component).as.element_bytes;
  std::vector<std::byte> points(std::size_t((last - first) * 3 * bytes));
  for (saved_frame::array const& a : what.arrays) {
    if (a.group == "FieldData") continue;
    seen_array const one(on, a.level, what.component);
    in.put(in.add(root + "PointData/" + detail::name_of(on, a.level), {total}, one), one);
    for (ordered_box const& box : one.boxes) {
      if (&a != &*positions) continue;
      for_each_run(box, [&](std::int64_t from, std::int64_t to, std::int64_t count) {
        for (std::int64_t n = 0; n < count; ++n) {
          std::int64_t const at = (to + n) / one.numbers - first, k = (to + n) % one.numbers;
          std::memcpy(points.data() + (3 * at + k) * bytes, one.data() + (from + n) * bytes, std::size_t(bytes));
        }
      });
    }
  }
  if (positions == what.arrays.rend())
    for (std::int64_t n = first; n < last; ++n) {
      auto const x = double(n);
      std::memcpy(points.data() + (n - first) * 3 * bytes, &x, sizeof x);
    }
  in.add(in.add(root + "Points", stored_type::floating, bytes, {total, 3}), std::move(points), 3 * first, 3 * total,
         bytes);
  int const ids = in.add(root + "CellData/id", stored_type::integer, 8, {total});
  if (elements const* const here = lies.with_ids(); here == nullptr) in.add(ids, std::move(counted), first, total);
  else
    for (ordered_box const& box : boxes_of_ids(*here)) in.boxes.push_back({ids, here->ids.data(), box, 8});
}

KEEL_INLINE saved_series::saved_series(fields_state& of, std::string stem)
    : fields_(of), ranks_(ranks_for(of, "save")), stem_(std::move(stem)), file_(ranks_, "residency::save") {}

KEEL_INLINE auto saved_series::content_of(saved_frame const& what) const -> content {
  arrays const& on = fields_.arrays_;
  content in;
  in.time = double(fields_.book_.steps());
  in.file.datasets.push_back(table_of_parts(ranks_.size(), 0));
  if (what.mesh.empty() && fields_.arrays_.local(component{}).folds.is_cube) put_sphere(what, in);
  else if (what.mesh.empty()) put_image(what, in);
  else put_mesh(what, in);
  for (saved_frame::array const& a : what.arrays) {
    if (a.group != "FieldData") continue;
    seen_array const one(on, a.level, what.component);
    std::string const name = detail::name_of(on, a.level);
    in.put(in.add("/VTKHDF/FieldData/" + name, one.as.type, one.as.element_bytes, {one.numbers}), one);
    if (name == "time" && one.numbers == 1 && one.as.type == stored_type::floating && one.as.element_bytes == 8)
      std::memcpy(&in.time, one.data(), 8);
  }
  return in;
}

KEEL_INLINE void saved_series::write(saved_frame const& what) {
  std::int64_t const step = fields_.book_.steps();
  machine::failing_call const failing{"residency::save", stem_, "is not written", "Take another folder"};
  write_job names;
  std::string const called = name_of_frame(stem_, step);
  names.temporary = stem_ + ".new.vtkhdf", names.name = called;
  bool const is_begun = file_.attempt(called, fields_.executor_.steps().empty(), [&] {
    content in;
    auto const offsets = file_.make(names.temporary, failing, [&] {
      in = content_of(what);
      if (ranks_.rank() == 0 && !std::exchange(has_read_, true))
        former_ = read_frame_list(stem_), listed_.others = former_.others;
      return in.file;
    });
    if (ranks_.rank() == 0) {
      auto& frames = listed_.frames;
      frames.erase(frames.lower_bound(step), frames.end());
      // A run that goes on from a checkpoint keeps what was saved before that.
      for (auto const& one : former_.frames)
        if (one.first <= fields_.book_.began_at() && one.first < step) frames.insert(one);
      frames[step] = text_of_frame(stem_, step, std::isfinite(in.time) ? in.time : double(step));
      names.when_named = [path = stem_ + ".vtkhdf.series", text = text_of(listed_)] {
        if (auto const failure = policy::write_whole_file(path, text))
          policy::log(policy::log_level::warning, "residency::save: " + path + " is not written (" + failure.why + ")");
      };
    }
    file_.begin(std::move(names), offsets, in.boxes, called, failing);
  });
  if (!is_begun) listed_.frames.erase(step);
}

KEEL_INLINE void prepare_to_save(fields_state& f, std::string_view name) {
  agreement const& ranks = ranks_for(f, "save");
  ranks.all_alike({"residency::save", name, "is not written", "Take another folder"}, [&] {
    require_hdf5(std::string(name));
    if (ranks.rank() == 0) require_folder_of(std::string(name));
  });
}

KEEL_INLINE void save(fields_state& f, std::string_view name, std::span<request const> what, component_range range) {
  agreement const& ranks = ranks_for(f, "save");
  require_hdf5(std::string(name));
  if (f.book_.keeps_ledger()) f.book_.acquire(what, host, name, range);
  f.arrays_.settle_host();
  number_elements(f.arrays_, ranks);
  auto& known = f.checkpoints_->saved;
  std::vector<std::pair<saved_series*, saved_frame>> all;
  for (saved_frame& one : frames_of(f.arrays_, what, range)) {
    std::string stem = std::string(name) + one.suffix;
    auto at = std::find_if(known.begin(), known.end(), [&](auto const& s) { return s->stem() == stem; });
    if (at == known.end()) at = known.insert(at, std::make_shared<saved_series>(f, std::move(stem)));
    (*at)->finish();
    all.emplace_back(at->get(), std::move(one));
  }
  for (auto const& [series, frame] : all) series->write(frame);
}

} // namespace keel::residency::detail
