// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The laws of execution spaces, and how a space is held to them.

// First: Kokkos 5.2's graphs do not compile after its own Kokkos_ScatterView.hpp.
#include <laws/execution_graphs.hpp>

#include <laws/execution_containers.hpp>
#include <laws/execution_data.hpp>
#include <laws/execution_nests.hpp>
#include <laws/execution_space.hpp>
#include <laws/execution_teams.hpp>
#include <laws/execution_threads.hpp>
#include <laws/execution_tools.hpp>

#define KEEPS_THE_LAWS(Space) \
  TYPE_TO_STRING_AS(#Space, Space); \
  TEST_CASE_TEMPLATE_INVOKE(execution_space, Space); \
  TEST_CASE_TEMPLATE_INVOKE(execution_nests, Space); \
  TEST_CASE_TEMPLATE_INVOKE(execution_teams, Space); \
  TEST_CASE_TEMPLATE_INVOKE(execution_data, Space); \
  TEST_CASE_TEMPLATE_INVOKE(execution_graphs, Space); \
  TEST_CASE_TEMPLATE_INVOKE(execution_containers, Space)

/// Those too that Kokkos' own spaces break.
#define KEEPS_ALL_LAWS(Space) \
  KEEPS_THE_LAWS(Space); \
  TEST_CASE_TEMPLATE_INVOKE(execution_threads, Space); \
  TEST_CASE_TEMPLATE_INVOKE(execution_tools, Space)
