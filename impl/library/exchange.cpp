// SPDX-License-Identifier: MIT
// The bodies of exchange that need not be compiled with every source.
#include <keel/impl/exchange/array_exchanges.ipp>
#include <keel/impl/exchange/array_ref.ipp>
#include <keel/impl/exchange/direct.ipp>
#include <keel/impl/exchange/halo.ipp>
#include <keel/impl/exchange/kokkos_provider.ipp>
#include <keel/impl/exchange/messenger.ipp>
#include <keel/impl/exchange/moves.ipp>
#include <keel/impl/exchange/nccl.ipp>
#include <keel/impl/exchange/packing.ipp>
#include <keel/impl/exchange/peer.ipp>
#include <keel/impl/exchange/queue.ipp>
#include <keel/impl/exchange/strip.ipp>
#include <keel/impl/exchange/transports.ipp>
