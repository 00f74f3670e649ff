// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What speaks to the internals of the Kokkos at hand, from 3.4 to 5.
///
/// How a plug-in is registered, how an allocation is recorded, what checks an
/// element's memory, how a reduction is put together: each of these changed at
/// another time. A file is named for the Kokkos that began what is in it, and each
/// piece says until when it held. A new Kokkos adds a file.

#include <keel/space/kokkos.hpp>

#include <keel/impl/space/kokkos34.hpp>
#include <keel/impl/space/kokkos37.hpp>
#include <keel/impl/space/kokkos41.hpp>
#include <keel/impl/space/kokkos43.hpp>
