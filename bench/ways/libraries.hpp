// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Exchanges by libraries that are installed: PETSc's DMDA and PetscSF, and Tpetra's Import, which fills another array.

#include "by_hand.hpp"

#include <memory>
#include <set>

#if BENCH_WITH_PETSC
#include <petscao.h>
#include <petscdmda.h>
#include <petscsf.h>
#endif
#if BENCH_WITH_TPETRA
#include <Teuchos_DefaultMpiComm.hpp>
#include <Tpetra_Import.hpp>
#include <Tpetra_MultiVector.hpp>
#endif

namespace bench {

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

/// The graph of a case: roots are owned elements, leaves are ghosts.
inline PetscSF petsc_graph(cut const& c) {
  std::vector<PetscInt> leaves;
  std::vector<PetscSFNode> roots;
  for (ghost const& g : c.ghosts) leaves.push_back(g.at), roots.push_back({g.rank, g.there});
  PetscSF graph = nullptr;
  PetscSFCreate(PETSC_COMM_WORLD, &graph);
  PetscSFSetGraph(graph, c.elements, PetscInt(leaves.size()), leaves.data(), PETSC_COPY_VALUES, roots.data(),
                  PETSC_COPY_VALUES);
  PetscSFSetUp(graph);
  return graph;
}

inline way petsc_sf(cut const& c, std::vector<double> const& initial) {
  struct held {
    std::vector<double> cells;
    PetscSF graph;
    MPI_Datatype unit = MPI_DATATYPE_NULL;
    ~held() { PetscSFDestroy(&graph), MPI_Type_free(&unit); }
  };
  auto const a = std::make_shared<held>(initial, petsc_graph(c));
  MPI_Type_contiguous(c.doubles, MPI_DOUBLE, &a->unit);
  MPI_Type_commit(&a->unit);
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
using tpetra_map = Tpetra::Map<>;
using tpetra_id = tpetra_map::global_ordinal_type;

inline Teuchos::RCP<tpetra_map const> map_of(std::vector<tpetra_id> const& ids) {
  auto const world = Teuchos::rcp(new Teuchos::MpiComm<int>(MPI_COMM_WORLD));
  auto const unknown = Teuchos::OrdinalTraits<Tpetra::global_size_t>::invalid();
  return Teuchos::rcp(
      new tpetra_map(unknown, Teuchos::ArrayView<tpetra_id const>(ids.data(), long(ids.size())), 0, world));
}

/// A vector for each double of an element. A map has each element once, so ghosts that are copies of the rank's own
/// elements are left out.
inline way tpetra(cut const& c) {
  using vectors = Tpetra::MultiVector<double>;
  std::vector<tpetra_id> own, all;
  long most = c.elements;
  MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
  auto const id = [&](int rank, int element) { return tpetra_id(rank) * tpetra_id(most) + element; };
  for (int const i : c.own) own.push_back(id(my_rank(), i));
  all = own;
  std::set<tpetra_id> ghosts;
  for (ghost const& g : c.ghosts)
    if (g.rank != my_rank() && ghosts.insert(id(g.rank, g.there)).second) all.push_back(id(g.rank, g.there));
  auto const owned = map_of(own), everywhere = map_of(all);
  auto const from = Teuchos::rcp(new vectors(owned, std::size_t(c.doubles))),
             to = Teuchos::rcp(new vectors(everywhere, std::size_t(c.doubles)));
  auto const import = Teuchos::rcp(new Tpetra::Import<>(owned, everywhere));
  return {"Tpetra", [=] { to->doImport(*from, *import, Tpetra::REPLACE); }, {}};
}
#endif

} // namespace bench
