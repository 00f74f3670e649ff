// SPDX-License-Identifier: MIT
// The bodies of traces; apart from the rest of validity, so that a program that traces nothing does not link them.
#include <keel/impl/validity/trace.ipp>
