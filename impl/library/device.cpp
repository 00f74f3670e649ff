// SPDX-License-Identifier: MIT
// The bodies of device that need not be compiled with every source.
#include <keel/impl/device/common_settings.ipp>
#include <keel/impl/device/device_knobs.ipp>
#include <keel/impl/device/print.ipp>
#include <keel/impl/device/rank_place.ipp>
#include <keel/impl/device/read.ipp>
#include <keel/impl/device/runtime_core.ipp>
#include <keel/impl/device/table.ipp>
