// SPDX-License-Identifier: MIT
/// @file
/// Shows that flags for HDF5 are enough, and that it is 1.8 or newer. Linked, not run.

#include <hdf5.h>

static_assert(H5_VERS_MAJOR > 1 || H5_VERS_MINOR >= 8);

int main() { return H5open() < 0 ? 1 : 0; }
