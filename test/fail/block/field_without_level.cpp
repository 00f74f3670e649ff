// SPDX-License-Identifier: MIT
// expect: keel::block::column_block: the field has another number of indices
#include "field.hpp"

int main() { keel::block::for_each_block<8>(keel::block::columns_of(field<3>{}), body<>{}); }
