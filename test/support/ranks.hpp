// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// doctest on many ranks: rank 0 reports, a failure on any rank is a failure of all.
/// The one file of a test executable that holds doctest's implementation includes it.

#include <doctest/doctest.h>

#include <iostream>
#include <sstream>

#if KEEL_WITH_MPI
#include <mpi.h>
#endif

namespace keel::test {

#if KEEL_WITH_MPI

/// Starts MPI (funneled) on construction and ends it on destruction.
class ranks {
public:
  ranks(int& argc, char**& argv) {
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  }
  ranks(ranks const&) = delete;
  ~ranks() { MPI_Finalize(); }

  /// Runs every case on every rank; collective. Other ranks than 0 keep their
  /// report to themselves, unless something failed there: then it goes to
  /// stderr. The answer is the same on every rank.
  int run(int argc, char** argv) const {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::ostringstream quiet;
    doctest::Context context(argc, argv);
    if (rank != 0) context.setCout(&quiet);
    int failed = context.run();
    if (rank != 0 && failed != 0) std::cerr << "on rank " << rank << ":\n" << quiet.str();
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return failed;
  }
};

#else

/// Without MPI: one process, doctest as it is.
class ranks {
public:
  ranks(int&, char**&) {}
  int run(int argc, char** argv) const { return doctest::Context(argc, argv).run(); }
};

#endif

} // namespace keel::test
