// SPDX-License-Identifier: MIT
// The bodies of exchange that need not be compiled with every source.
#include <keel/impl/exchange/direct.hpp>
#include <keel/impl/exchange/kokkos_provider.hpp>
#include <keel/impl/exchange/measure.hpp>
#include <keel/impl/exchange/nccl.hpp>
#include <keel/impl/exchange/peer.hpp>
#include <keel/impl/exchange/relocate.hpp>
#include <keel/impl/exchange/routes.hpp>
