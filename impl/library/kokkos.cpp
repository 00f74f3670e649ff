// SPDX-License-Identifier: MIT
// The start of Kokkos; apart from the bodies that programs without Kokkos need.
#include <keel/impl/space/start.ipp>
