// SPDX-License-Identifier: MIT
/// @file
/// main of tests that run on ranks; without MPI, on the one there is.

#define DOCTEST_CONFIG_IMPLEMENT
#include <support/ranks.hpp>

int main(int argc, char** argv) { return keel::test::ranks(argc, argv).run(argc, argv); }
