// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What a registry writes to a file, and what fields and registries take from one. The bodies stand in restart.ipp.

#include <keel/policy/macros.hpp>
#include <keel/schedule/checkpoint.hpp>
#include <keel/schedule/entry_kind.hpp>

#include <span>
#include <string_view>

namespace keel::residency::detail {

struct fields_state;
struct schedule_nodes;

/// Waits for all checkpoints, or for all that is saved. Collective.
[[nodiscard]] finished_files finish_files(fields_state& f, entry_kind which);
/// All that is valid. Collective.
void checkpoint(fields_state& f, std::string_view name);
/// Collective. On all ranks, or on none if the file is refused. Of what steps of these schedules read nothing may be
/// missing that was valid.
void restart(fields_state& f, std::string_view name, std::span<schedule_nodes const> schedules);
/// From the file that the user names, before the first step; returns whether there is one.
bool restart(fields_state& f, std::span<schedule_nodes const> schedules);

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/residency/files/restart.ipp>
#endif
