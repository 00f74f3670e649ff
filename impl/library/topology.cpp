// SPDX-License-Identifier: MIT
// The bodies of topology that need not be compiled with every source.
#include <keel/impl/topology/affinity.ipp>
#include <keel/impl/topology/binding.ipp>
#include <keel/impl/topology/memory_binding.ipp>
#include <keel/impl/topology/node.ipp>
#include <keel/impl/topology/nway.ipp>
