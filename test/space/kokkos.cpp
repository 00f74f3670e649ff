// SPDX-License-Identifier: MIT
/// @file
/// The control: Kokkos' own host spaces keep the laws that keel's are held to.
#include <keel/space/kokkos.hpp>

#include <support/test.hpp>
#include <support/execution_laws.hpp>

#ifdef KOKKOS_ENABLE_SERIAL
KEEPS_THE_LAWS(Kokkos::Serial);
#endif

#ifdef KOKKOS_ENABLE_OPENMP
KEEPS_THE_LAWS(Kokkos::OpenMP);
#endif
