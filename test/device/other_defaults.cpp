// SPDX-License-Identifier: MIT
// A part of a program that was compiled with another default space than the rest: programs.cpp sees it refused.
#undef KEEL_DEFAULT_HOST_MEMORY_SPACE
#define KEEL_DEFAULT_HOST_MEMORY_SPACE keel::space::pool<>
#include <keel/impl/device/consistency.hpp>
