// SPDX-License-Identifier: MIT
// The bodies of traces; apart from the rest of residency, so that a program that traces nothing does not link them.
#include <keel/impl/residency/trace.hpp>
