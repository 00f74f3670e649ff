// SPDX-License-Identifier: MIT
// expect: keel::block::pack: the element is not a number
#include <keel/block.hpp>

struct thing {};

keel::block::pack<thing, 4> things;
