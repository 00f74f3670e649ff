// SPDX-License-Identifier: MIT
// The bodies of schedule that need not be compiled with every source.
#include <keel/impl/schedule/explain_rows.hpp>
#include <keel/impl/schedule/explain_texts.hpp>
#include <keel/impl/schedule/prefetches.hpp>
#include <keel/impl/schedule/scratches.hpp>
