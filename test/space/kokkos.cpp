// SPDX-License-Identifier: MIT
/// @file
/// The control: Kokkos' own host spaces keep the laws that keel's are held to.
#include <keel/space/kokkos.hpp>

#include <doctest/doctest.h>
#include <laws/execution_containers.hpp>
#include <laws/execution_data.hpp>
#include <laws/execution_graphs.hpp>
#include <laws/execution_nests.hpp>
#include <laws/execution_space.hpp>
#include <laws/execution_teams.hpp>

#ifdef KOKKOS_ENABLE_SERIAL
TYPE_TO_STRING_AS("Kokkos::Serial", Kokkos::Serial);
TEST_CASE_TEMPLATE_INVOKE(execution_space, Kokkos::Serial);
TEST_CASE_TEMPLATE_INVOKE(execution_nests, Kokkos::Serial);
TEST_CASE_TEMPLATE_INVOKE(execution_teams, Kokkos::Serial);
TEST_CASE_TEMPLATE_INVOKE(execution_data, Kokkos::Serial);
TEST_CASE_TEMPLATE_INVOKE(execution_graphs, Kokkos::Serial);
TEST_CASE_TEMPLATE_INVOKE(execution_containers, Kokkos::Serial);
#endif

#ifdef KOKKOS_ENABLE_OPENMP
TYPE_TO_STRING_AS("Kokkos::OpenMP", Kokkos::OpenMP);
TEST_CASE_TEMPLATE_INVOKE(execution_space, Kokkos::OpenMP);
TEST_CASE_TEMPLATE_INVOKE(execution_nests, Kokkos::OpenMP);
TEST_CASE_TEMPLATE_INVOKE(execution_teams, Kokkos::OpenMP);
TEST_CASE_TEMPLATE_INVOKE(execution_data, Kokkos::OpenMP);
TEST_CASE_TEMPLATE_INVOKE(execution_graphs, Kokkos::OpenMP);
TEST_CASE_TEMPLATE_INVOKE(execution_containers, Kokkos::OpenMP);
#endif
