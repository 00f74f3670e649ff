// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The same by libraries that are installed: PETSc's DMDA and PetscSF, and Tpetra's Import, which fills another array.

#include "by_hand.hpp"

#include <memory>
#include <set>

#if BENCH_WITH_PETSC
#include <petscdmda.h>
#include <petscsf.h>
#endif
#if BENCH_WITH_TPETRA
#include <Teuchos_DefaultMpiComm.hpp>
#include <Tpetra_Import.hpp>
#include <Tpetra_MultiVector.hpp>
#endif

namespace bench {

/// Calls f(local indices, rank of the owner, local indices there) for each ghost.
inline void for_each_ghost(box const& b, auto const& f) {
  for (piece const& p : b.pieces())
    box::for_each_cell_of(p.ghosts, p.size, [&](triple const& i) { f(i, p.rank, b.owned(i, p.way)); });
}

#if BENCH_WITH_PETSC
/// PETSc from here to the end, on an MPI that runs.
struct petsc {
  petsc() { PetscInitializeNoArguments(); }
  ~petsc() { PetscFinalize(); }
  petsc(petsc const&) = delete;
  petsc& operator=(petsc const&) = delete;
};

inline way dmda(box const& b, std::vector<double> const& initial) {
  DM made = nullptr;
  auto const wrap = b.wraps ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_GHOSTED; // both have ghosts on all sides
  auto const all = [&](std::size_t d) { return b.cells[d] * b.ranks[d]; };
  if (b.rank == 2)
    DMDACreate2d(PETSC_COMM_WORLD, wrap, wrap, DMDA_STENCIL_BOX, all(1), all(0), b.ranks[1], b.ranks[0], b.doubles,
                 b.width, nullptr, nullptr, &made);
  else
    DMDACreate3d(PETSC_COMM_WORLD, wrap, wrap, wrap, DMDA_STENCIL_BOX, all(2), all(1), all(0), b.ranks[2], b.ranks[1],
                 b.ranks[0], b.doubles, b.width, nullptr, nullptr, nullptr, &made);
  DMSetUp(made);
  Vec array = nullptr;
  DMCreateLocalVector(made, &array);
  std::shared_ptr<void> const held(array, [=](void*) mutable { VecDestroy(&array), DMDestroy(&made); });
  double* cells = nullptr;
  VecGetArray(array, &cells);
  std::copy(initial.begin(), initial.end(), cells);
  VecRestoreArray(array, &cells);
  return {"DMDA",
          [=, held = held] {
            DMLocalToLocalBegin(made, array, INSERT_VALUES, array),
                DMLocalToLocalEnd(made, array, INSERT_VALUES, array);
          },
          [=, n = initial.size()] {
            double const* values = nullptr;
            VecGetArrayRead(array, &values);
            std::vector<double> const copy(values, values + n);
            VecRestoreArrayRead(array, &values);
            return copy;
          }};
}

inline way petsc_sf(box const& b, std::vector<double> const& initial) {
  struct held {
    std::vector<double> cells;
    PetscSF graph = nullptr;
    MPI_Datatype unit = MPI_DATATYPE_NULL;
    ~held() { PetscSFDestroy(&graph), MPI_Type_free(&unit); }
  };
  auto const a = std::make_shared<held>(initial);
  std::vector<PetscInt> leaves;
  std::vector<PetscSFNode> roots;
  auto const cell = [&](triple const& i) { return PetscInt(b.place(i) / std::size_t(b.doubles)); };
  for_each_ghost(b, [&](triple const& i, int rank, triple const& there) {
    leaves.push_back(cell(i)), roots.push_back({rank, cell(there)});
  });
  MPI_Type_contiguous(b.doubles, MPI_DOUBLE, &a->unit);
  MPI_Type_commit(&a->unit);
  PetscSFCreate(PETSC_COMM_WORLD, &a->graph);
  PetscSFSetGraph(a->graph, PetscInt(initial.size() / std::size_t(b.doubles)), PetscInt(leaves.size()), leaves.data(),
                  PETSC_COPY_VALUES, roots.data(), PETSC_COPY_VALUES);
  PetscSFSetUp(a->graph);
  return {"PetscSF",
          [a] {
            PetscSFBcastBegin(a->graph, a->unit, a->cells.data(), a->cells.data(), MPI_REPLACE);
            PetscSFBcastEnd(a->graph, a->unit, a->cells.data(), a->cells.data(), MPI_REPLACE);
          },
          [a] { return a->cells; }};
}
#else
struct petsc {};
#endif

#if BENCH_WITH_TPETRA
/// A vector for each double of a cell. A map has each cell once, so ghosts that are copies of the rank's own cells are left out.
inline way tpetra(box const& b) {
  using numbers = Tpetra::Map<>::global_ordinal_type;
  using map = Tpetra::Map<>;
  using vectors = Tpetra::MultiVector<double>;
  std::vector<numbers> own, all;
  int const me = my_rank();
  auto const number = [&](int rank, triple const& i) {
    return numbers(rank) * numbers(b.elements()) + numbers(b.place(i));
  };
  triple first{}, size = b.cells;
  for (std::size_t d = 0; int(d) < b.rank; ++d) first[d] = b.width;
  box::for_each_cell_of(first, size, [&](triple const& i) { own.push_back(number(me, i)); });
  all = own;
  std::set<numbers> ghosts;
  for_each_ghost(b, [&](triple const&, int rank, triple const& there) {
    if (rank != me && ghosts.insert(number(rank, there)).second) all.push_back(number(rank, there));
  });
  auto const world = Teuchos::rcp(new Teuchos::MpiComm<int>(MPI_COMM_WORLD));
  auto const unknown = Teuchos::OrdinalTraits<Tpetra::global_size_t>::invalid();
  auto const made = [&](std::vector<numbers> const& n) {
    return Teuchos::rcp(new map(unknown, Teuchos::ArrayView<numbers const>(n.data(), long(n.size())), 0, world));
  };
  auto const owned = made(own), everywhere = made(all);
  auto const from = Teuchos::rcp(new vectors(owned, std::size_t(b.doubles))),
             to = Teuchos::rcp(new vectors(everywhere, std::size_t(b.doubles)));
  auto const import = Teuchos::rcp(new Tpetra::Import<>(owned, everywhere));
  return {"Tpetra", [=] { to->doImport(*from, *import, Tpetra::REPLACE); }, {}};
}
#endif

} // namespace bench
