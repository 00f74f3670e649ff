// SPDX-License-Identifier: MIT
// expect: keel::block::mask: the length is 0
#include <keel/block.hpp>

keel::block::mask<0> none;
