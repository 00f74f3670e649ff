// SPDX-License-Identifier: MIT
// The bodies of device that need not be compiled with every source.
#define KEEL_BODIES 1
#include <keel/impl/device/bind.hpp>
#include <keel/impl/device/bound_rank.hpp>
#include <keel/impl/device/candidates.hpp>
#include <keel/impl/device/common_settings.hpp>
#include <keel/impl/device/config_file.hpp>
#include <keel/impl/device/device_knobs.hpp>
#include <keel/impl/device/help.hpp>
#include <keel/impl/device/kokkos_variables.hpp>
#include <keel/impl/device/mapping.hpp>
#include <keel/impl/device/neighbours.hpp>
#include <keel/impl/device/option_names.hpp>
#include <keel/impl/device/own_node.hpp>
#include <keel/impl/device/parse.hpp>
#include <keel/impl/device/print.hpp>
#include <keel/impl/device/read.hpp>
#include <keel/impl/device/reading.hpp>
#include <keel/impl/device/table.hpp>
