// SPDX-License-Identifier: MIT
/// @file
/// Each function is one accessor; accessors.py reads in the compiled program that it is one load.
#include <keel/machine/environment.hpp>

using keel::machine::environment;

extern "C" {
environment::handle read_comm(environment const& e) { return e.comm(); }
int read_rank(environment const& e) { return e.rank(); }
int read_size(environment const& e) { return e.size(); }
int read_master_rank(environment const& e) { return e.master_rank(); }
bool read_is_master(environment const& e) { return e.is_master(); }
}

int main() {}
