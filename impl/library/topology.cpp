// SPDX-License-Identifier: MIT
// The bodies of topology that need not be compiled with every source.
#include <keel/impl/topology/binding.hpp>
#include <keel/impl/topology/bound.hpp>
#include <keel/impl/topology/memory_binding.hpp>
#include <keel/impl/topology/node.hpp>
#include <keel/impl/topology/nway.hpp>
