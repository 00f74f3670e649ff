// SPDX-License-Identifier: MIT
// The bodies of validity that need not be compiled with every source.
#include <keel/impl/validity/observers.ipp>
#include <keel/impl/validity/settings.ipp>
