// SPDX-License-Identifier: MIT
// The bodies of residency that need not be compiled with every source.
#include <keel/impl/residency/component_checks.hpp>
#include <keel/impl/residency/connect.hpp>
#include <keel/impl/residency/direct.hpp>
#include <keel/impl/residency/execute.hpp>
#include <keel/impl/residency/explain_rows.hpp>
#include <keel/impl/residency/explain_texts.hpp>
#include <keel/impl/residency/grid.hpp>
#include <keel/impl/residency/grid_decomposition.hpp>
#include <keel/impl/residency/kokkos_provider.hpp>
#include <keel/impl/residency/lay_out.hpp>
#include <keel/impl/residency/measure.hpp>
#include <keel/impl/residency/mesh_decomposition.hpp>
#include <keel/impl/residency/moving.hpp>
#include <keel/impl/residency/migrate.hpp>
#include <keel/impl/residency/nccl.hpp>
#include <keel/impl/residency/owner_search_steps.hpp>
#include <keel/impl/residency/peer.hpp>
#include <keel/impl/residency/programs.hpp>
#include <keel/impl/residency/regrid.hpp>
#include <keel/impl/residency/relocate.hpp>
#include <keel/impl/residency/renew.hpp>
#include <keel/impl/residency/resize.hpp>
#include <keel/impl/residency/routes.hpp>
#include <keel/impl/residency/scratch_memory.hpp>
#include <keel/impl/residency/settings.hpp>
#include <keel/impl/residency/upkeep.hpp>
#include <keel/impl/residency/values.hpp>
#include <keel/impl/residency/walls.hpp>

template class keel::residency::ledger<keel::residency::kokkos_provider, keel::residency::detail::any_observer>;
template struct keel::residency::detail::agreement::calls_of<keel::machine::alone>;
