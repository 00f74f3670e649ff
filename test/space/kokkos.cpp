// SPDX-License-Identifier: MIT
/// @file
/// The control: Kokkos' own host spaces keep the laws that keel's are held to.
#include <keel/space/kokkos.hpp>

#include <doctest/doctest.h>
// First: Kokkos 5.2's graphs do not compile after its own Kokkos_ScatterView.hpp.
#include <laws/execution_graphs.hpp>

#include <laws/execution_containers.hpp>
#include <laws/execution_data.hpp>
#include <laws/execution_nests.hpp>
#include <laws/execution_space.hpp>
#include <laws/execution_teams.hpp>

#define KEEPS_THE_LAWS(Space) \
  TYPE_TO_STRING_AS(#Space, Space); \
  TEST_CASE_TEMPLATE_INVOKE(execution_space, Space); \
  TEST_CASE_TEMPLATE_INVOKE(execution_nests, Space); \
  TEST_CASE_TEMPLATE_INVOKE(execution_teams, Space); \
  TEST_CASE_TEMPLATE_INVOKE(execution_data, Space); \
  TEST_CASE_TEMPLATE_INVOKE(execution_graphs, Space); \
  TEST_CASE_TEMPLATE_INVOKE(execution_containers, Space)

#ifdef KOKKOS_ENABLE_SERIAL
KEEPS_THE_LAWS(Kokkos::Serial);
#endif

#ifdef KOKKOS_ENABLE_OPENMP
KEEPS_THE_LAWS(Kokkos::OpenMP);
#endif
