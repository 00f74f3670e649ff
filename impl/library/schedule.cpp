// SPDX-License-Identifier: MIT
// The bodies of schedule that need not be compiled with every source.
#include <keel/impl/schedule/explain_texts.ipp>
#include <keel/impl/schedule/explanation.ipp>
#include <keel/impl/schedule/liveness.ipp>
#include <keel/impl/schedule/scratch.ipp>
