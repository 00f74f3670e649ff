// SPDX-License-Identifier: MIT
// The bodies of residency that need not be compiled with every source.
#include <keel/impl/residency/explain_graph.hpp>
#include <keel/impl/residency/explain_table.hpp>
#include <keel/impl/residency/grid.hpp>
#include <keel/impl/residency/trace.hpp>
