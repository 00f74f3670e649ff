// SPDX-License-Identifier: MIT
// The bodies of residency that need not be compiled with every source.
#include <keel/impl/residency/component_checks.hpp>
#include <keel/impl/residency/connect.hpp>
#include <keel/impl/residency/execute.hpp>
#include <keel/impl/residency/lay_out.hpp>
#include <keel/impl/residency/moving.hpp>
#include <keel/impl/residency/migrate.hpp>
#include <keel/impl/residency/programs.hpp>
#include <keel/impl/residency/regrid.hpp>
#include <keel/impl/residency/renew.hpp>
#include <keel/impl/residency/resize.hpp>
#include <keel/impl/residency/scratch_memory.hpp>
#include <keel/impl/residency/upkeep.hpp>
#include <keel/impl/residency/values.hpp>
#include <keel/impl/residency/walls.hpp>

template class keel::residency::ledger<keel::residency::kokkos_provider, keel::residency::detail::any_observer>;
template struct keel::residency::detail::agreement::calls_of<keel::machine::alone>;
