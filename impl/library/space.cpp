// SPDX-License-Identifier: MIT
// The bodies of space that need not be compiled with every source, whatever the devices.
#include <keel/impl/space/peer_memory.ipp>
