// SPDX-License-Identifier: MIT
// expect: keel: exceptions are off (errors are thrown). Compile without -fno-exceptions.
// errors: 1
// flags: -fno-exceptions
#include <keel/keel.hpp>
