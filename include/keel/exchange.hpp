// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Layer 5: how bytes travel: transports between ranks, copies between memories.

#include <keel/exchange/array.hpp>
#include <keel/exchange/device_ids.hpp>
#include <keel/exchange/direct.hpp>
#include <keel/exchange/exchanger.hpp>
#include <keel/exchange/kokkos_provider.hpp>
#include <keel/exchange/nccl.hpp>
#include <keel/exchange/peer.hpp>
#include <keel/exchange/queue.hpp>
#include <keel/exchange/transport.hpp>
