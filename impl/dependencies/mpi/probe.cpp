// SPDX-License-Identifier: MIT
/// @file
/// Shows that the flags of MPI's compiler wrapper are enough for the plain compiler. Linked, not run.

#include <mpi.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  return MPI_Finalize();
}
