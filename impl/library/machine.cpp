// SPDX-License-Identifier: MIT
// The bodies of machine that need not be compiled with every source.
#include <keel/impl/machine/agreement.hpp>
#include <keel/impl/machine/alone.hpp>
#include <keel/impl/machine/attachments.hpp>
#include <keel/impl/machine/closest.hpp>
#include <keel/impl/machine/describe.hpp>
#include <keel/impl/machine/end.hpp>
#include <keel/impl/machine/exact.hpp>
#include <keel/impl/machine/host.hpp>
#include <keel/impl/machine/per_device.hpp>
#include <keel/impl/machine/place_on.hpp>
#include <keel/impl/machine/report.hpp>
#include <keel/impl/machine/selection.hpp>
#include <keel/impl/machine/threads.hpp>

template struct keel::machine::agreement::calls_of<keel::machine::alone>;
