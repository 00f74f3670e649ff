// SPDX-License-Identifier: MIT
#include <keel/impl/residency/files/checkpoint_files.hpp>
#include <keel/impl/layout/agreement.hpp>
#include <keel/impl/residency/fields_state.hpp>
#include <keel/impl/residency/files/restart.hpp>
#include <keel/impl/residency/records.hpp>
#include <keel/impl/residency/resize.hpp>
#include <keel/impl/schedule/liveness.hpp>
#include <keel/policy/error.hpp>
#include <keel/policy/log.hpp>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <string>
#include <utility>

namespace keel::residency::detail {

KEEL_INLINE checkpoint_files::~checkpoint_files() {
  if (std::uncaught_exceptions() != 0) return;
  try {
    for (auto const which : {entry_kind::checkpoint, entry_kind::save}) {
      auto const [written, failed] = finish(which);
      std::string const kind(name_of(which));
      if (failed != 0 && ranks_for(fields_, kind).rank() == 0)
        policy::log(policy::log_level::warning, "residency::" + kind + ": " + std::to_string(failed) + " of " +
                                                    policy::counted(written + failed, "file") + " failed");
    }
  } catch (std::exception const& e) {
    policy::log(policy::log_level::warning, e.what());
  }
}

KEEL_INLINE finished_files checkpoint_files::finish(entry_kind which) {
  finished_files made;
  auto const add = [&](auto const& files) {
    for (auto const& one : files) {
      one->finish();
      made.written += one->finished().written, made.failed += one->finished().failed;
    }
  };
  if (which == entry_kind::checkpoint) add(all_);
  else add(saved);
  return made;
}

KEEL_INLINE void checkpoint_files::prepare(std::span<schedule_nodes const> first) {
  residency::settings const& how = fields_.book_.settings();
  bool has_one = false;
  for (schedule_nodes const& s : first)
    for (std::size_t i = 0; i < s.size; ++i) {
      std::string_view const name = s.nodes[i].about->name;
      if (s.nodes[i].what() == entry_kind::checkpoint) of(name).prepare(), has_one = true;
      if (s.nodes[i].what() == entry_kind::save) prepare_to_save(fields_, name);
    }
  if (!has_one && (how.checkpoint_every || how.checkpoint_before_end)) of("checkpoint").prepare();
  is_prepared_ = true;
}

KEEL_INLINE checkpoint_file& checkpoint_files::of(std::string_view name) {
  for (auto const& one : all_)
    if (one->name() == name) return *one;
  return *all_.emplace_back(std::make_unique<checkpoint_file>(fields_, name));
}

KEEL_INLINE void checkpoint_files::write(std::string_view name, std::span<request const> kept) {
  live_levels none;
  for (variable_record const& v : fields_.arrays_.variables()) none.emplace_back(std::size_t(v.about->levels));
  std::vector<schedule_nodes> all = fields_.executor_.steps();
  bool const has_steps = !all.empty();
  all.insert(all.end(), going_on_.begin(), going_on_.end());
  live_levels live = live_before(all, none, fields_.book_.steps() == 0);
  for (request const& r : kept) live[std::size_t(r.variable)][std::size_t(r.level)].what = region::everywhere;
  of(name).write(has_steps ? &live : nullptr);
}

KEEL_INLINE void checkpoint_files::write(schedule_nodes const& of, std::span<std::size_t const> entries) {
  for (std::size_t const i : entries) write(of.nodes[i].about->name, of.asked(i));
}

KEEL_INLINE bool checkpoint_files::begin_steps(std::span<schedule_nodes const> first) {
  std::string const& from = fields_.book_.settings().restart;
  if (!is_prepared_ && !first.empty()) prepare(first);
  if (std::exchange(has_begun_, true)) return false;
  if (going_on_.empty()) go_on_with(first);
  if (from.empty()) return false;
  restart(fields_, from, first);
  return true;
}

KEEL_INLINE void checkpoint_files::end_step(schedule_nodes const& of, std::span<std::size_t const> entries) {
  residency::settings const& how = fields_.book_.settings();
  auto const name_written = [](auto const& files) {
    for (auto const& one : files)
      if (one->is_written()) one->finish();
  };
  name_written(all_);
  name_written(saved);
  if (entries.empty() && !how.watches_steps()) return;
  std::size_t first = 0;
  while (first < of.size && of.nodes[first].what() != entry_kind::checkpoint) ++first;
  bool const is_due = how.checkpoint_every && fields_.book_.steps() % *how.checkpoint_every == 0;
  bool const is_last = how.checkpoint_before_end && !is_ending_ && (is_ending_ = ends_soon(*how.checkpoint_before_end));
  if (!how.checkpoint_every) write(of, entries);
  if (!is_due && !is_last) return;
  if (first != of.size) write(of, {&first, 1});
  else write("checkpoint", {});
}

KEEL_INLINE bool checkpoint_files::ends_soon(int seconds) const {
  char const* const end = std::getenv("SLURM_JOB_END_TIME");
  if (end == nullptr)
    throw error("residency", "no checkpoint can be made before the job ends", "SLURM_JOB_END_TIME is not set",
                "Leave checkpoint-before-end out, or say checkpoint-every");
  std::array<std::uint64_t, 1> soon{};
  agreement const& ranks = ranks_for(fields_, "checkpoint-before-end");
  if (ranks.rank() == 0) soon[0] = std::strtoll(end, nullptr, 10) - std::time(nullptr) <= seconds ? 1 : 0;
  ranks.sum(soon);
  return soon[0] != 0;
}

} // namespace keel::residency::detail
