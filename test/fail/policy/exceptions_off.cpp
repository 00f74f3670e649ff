// SPDX-License-Identifier: MIT
// expect: keel: exceptions are off (errors are thrown). Compile without -fno-exceptions?
// flags: -fno-exceptions
#include <keel/policy/error.hpp>
