// SPDX-License-Identifier: MIT
// The bodies of machine that need not be compiled with every source.
#include <keel/impl/machine/agreement.ipp>
#include <keel/impl/machine/alone.ipp>
#include <keel/impl/machine/end.ipp>
#include <keel/impl/machine/host.ipp>
#include <keel/impl/machine/per_device.ipp>
#include <keel/impl/machine/selection.ipp>

static_assert(keel::machine::CommunicatingRanks<keel::machine::alone>);
template struct keel::machine::agreement::calls_of<keel::machine::alone>;
