// SPDX-License-Identifier: MIT
// A part of a program that was compiled with another vector size than the rest: programs.cpp sees it refused.
#undef KEEL_VECTOR_SIZE
#define KEEL_VECTOR_SIZE 7
#include <keel/block/length.hpp>
