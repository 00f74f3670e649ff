! SPDX-License-Identifier: MIT
! Arrays of Fortran as keel sees them: where they are, and how they lie, whatever they are sections of.
program arrays
  use, intrinsic :: iso_c_binding
  use keel
  implicit none
  integer(c_int64_t), parameter :: cells = 6
  integer(c_int) :: order(3) = [1, 0, 2]
  integer(c_int) :: world, rank, ranks, ring, seen, x, plan, open, registry, v, line, cut, on_cut, cut_plan, flat
  integer(c_int64_t) :: first, total, ids(cells + 2), ghosts(2), i, extents(1), begin(1), end(1), at(1)
  type(keel_array) :: here, there
  real(c_double), target :: wide(2*(cells + 2), 3)
  real(c_float), target :: small(4, cells + 2)
  integer(c_int32_t), target :: numbers(2, cells + 2)
  complex(c_double), target :: waves(cells + 2)
  real(c_double), pointer :: level(:), back(:)
  real(c_double), allocatable, target :: across(:, :)
  character(len=300) :: text
  integer :: failures = 0

  call good(keel_set('device', 'simulated'), 'set')
  call good(keel_start(), 'start')
  call good(keel_world(world), 'world')
  call good(keel_rank(world, rank, ranks), 'rank')
  first = rank*cells
  total = ranks*cells
  ghosts = [modulo(first - 1, total), modulo(first + cells, total)]
  ids = [(first + i, i=0, cells - 1), ghosts]
  call good(keel_partition(world, 'cells', cells, ids, 1, [2_c_int64_t], ghosts, ring), 'partition')
  call good(keel_partition_with_images(world, 'seen', cells, ids, 2, [2_c_int64_t, 2_c_int64_t], [ghosts, ghosts], seen), 'images')
  call good(keel_free(seen), 'free')
  call good(keel_exchanger(world, 0, 1, [ring], x), 'exchanger')

  ! A section lies where it lies.
  level => wide(2::2, 2)
  call described(level, loc(wide(2, 2)), 2_c_int64_t, 'a pointer to a section')
  call described(wide(1::2, 3), loc(wide(1, 3)), 2_c_int64_t, 'a section as an argument')
  back => level(size(level):1:-1)
  call described(back, loc(wide(size(wide, 1), 2)), -2_c_int64_t, 'a section from behind')
  call good(keel_on(here, wide(3:6, :), 'cells'), 'on')
  call require(here%rank == 2 .and. all_are(here%strides(:2), [1_c_int64_t, 2*(cells + 2)]), 'two indices')

  ! Types and indices: of the second array the second index counts cells.
  wide = -7
  level(:cells) = real(ids(:cells), c_double)
  call good(keel_on(here, level, 'cells'), 'on')
  call good(keel_on(there, numbers, 'cells', index=[2]), 'on')
  numbers = 0
  do i = 1, cells
    numbers(:, i) = int(ids(i), c_int32_t)*[1, -1]
  end do
  call good(keel_plan(x, 2, [here, there], plan), 'plan')
  call good(keel_begin(plan, open, level, numbers), 'begin')
  call bad(keel_exchange(plan, level, numbers), keel_refused, 'has begun', 'arrays that are on their way')
  call good(keel_finish(open), 'finish')
  call require(all(abs(level - real(ids, c_double)) < 1e-12_c_double), 'doubles of a section have their ghosts')
  call require(all(numbers(1, :) == ids .and. numbers(2, :) == -ids), 'so have integers')
  call require(all(abs(wide(1::2, :) + 7) < 1e-12_c_double), 'what lies between is as it was')
  numbers = 1
  level = 1
  call good(keel_accumulate(plan, level, numbers), 'accumulate')
  call require(nint(sum(level(:cells))) == cells + 2, 'ghosts are added')
  waves(:cells) = cmplx(real(ids(:cells)), -1, c_double)
  call good(keel_on(here, waves, 'cells'), 'on')
  call good(keel_plan(x, 1, [here], open), 'plan of complex numbers')
  call good(keel_exchange(open, waves), 'exchange')
  call require(all(abs(waves - cmplx(real(ids), -1, c_double)) < 1e-12_c_double), 'complex numbers have their ghosts')

  ! A grid that is cut elsewhere: each rank has one cell, the last one the rest. The second index counts cells.
  call good(keel_grid(1, [total], [1], [1], line), 'grid')
  call bad(keel_cut_grid(line, [-1], [total], cut), keel_refused, 'negative length', 'fewer positions than none')
  call good(keel_cut_grid(line, [ranks + 1], [(i, i=0, ranks - 1), total], cut), 'cut_grid')
  call good(keel_share(cut, world, extents, begin, end, at), 'share')
  i = end(1) - begin(1)
  call require(at(1) == rank .and. i == merge(total - rank, 1_c_int64_t, rank == ranks - 1), 'cut where it is said')
  call good(keel_exchanger(world, cut, 0, [ring], on_cut), 'exchanger')
  allocate (across(3, extents(1)))
  across = real(at(1), c_double)
  across(:, end(1)) = real(at(1) + i - 1, c_double)
  call good(keel_on(here, across, index=order(3:1:-2)), 'on')
  call require(here%indexed == 2 .and. all(here%index(:2) == [1, 0]), 'an index for each dimension')
  call good(keel_on(here, across, index=[2], indices=1), 'on')
  call good(keel_plan(on_cut, 1, [here], cut_plan), 'plan')
  call good(keel_exchange(cut_plan, across), 'exchange')
  call require(all(nint(across(:, 1)) == modulo(at(1) - 1, total)), 'the ghost before a cut')
  call require(all(nint(across(:, extents(1))) == modulo(at(1) + i, total)), 'the ghost behind a cut')

  ! A grid that is folded: the row beyond its last one is that one, mirrored. Rank 0 has all columns of some rows.
  call good(keel_grid(2, [4_c_int64_t, total], [1, 1], [1, 0], flat), 'grid')
  call bad(keel_fold_grid(flat, 0, 1, 15, cut), keel_refused, 'no end to be folded', 'a fold of what is periodic')
  call good(keel_fold_grid(flat, 1, 0, 15, cut), 'fold_grid')

  ! Arrays of keel's, first index fastest; and mistakes.
  call good(keel_registry(world, 0, 1, [ring], registry), 'registry')
  call good(keel_on(here, small, 'cells', index=[2]), 'on')
  call bad(keel_add(registry, 'small', 1, here, v), keel_refused, 'by its first index', 'cells that are counted by the last index')
  call good(keel_on(here, reshape(small, [int(cells) + 2, 4]), 'cells'), 'on')
  call good(keel_add(registry, 'small', 2, here, v), 'add')
  call good(keel_describe(registry, v + keel_past, keel_host, there), 'describe')
  call require(all_are(there%strides(:2), [1_c_int64_t, cells + 2]), 'the first index is the fastest')
  call good(keel_cycle(registry, v), 'cycle')
  call bad(keel_exchange(plan, numbers, level), keel_refused, 'another way', 'arrays in another order')
  call bad(keel_exchange(x, level, numbers), keel_bad_handle, 'it is an exchanger', 'an exchanger for a plan')
  call bad(keel_free(77), keel_bad_handle, 'no call gave it', 'a handle of nothing')
  call good(keel_on(here, level(merge(3, 1, rank == ranks - 1):), 'cells'), 'on')
  call bad(keel_plan(x, 1, [here], open), keel_refused, 'along index 0', 'a short array on one rank')
  call good(keel_end(), 'end')
  call bad(keel_end(), keel_not_running, 'does not run', 'a second end')
  if (failures /= 0) error stop 1

contains

  logical function all_are(given, wanted)
    integer(c_int64_t), intent(in) :: given(:), wanted(:)
    all_are = all(given == wanted)
  end function
  subroutine described(a, address, stride, what)
    real(c_double), intent(in), target :: a(:)
    integer(c_int64_t), intent(in) :: address, stride
    character(len=*), intent(in) :: what
    integer(c_int64_t) :: at
    call good(keel_on(here, a, 'cells'), what)
    at = transfer(here%data, at)
    call require(at == address .and. at == loc(a(1)), what // ' is where it is')
    call require(here%strides(1) == stride .and. here%extents(1) == size(a), what // ' lies as it lies')
  end subroutine
  subroutine require(is_good, what)
    logical, intent(in) :: is_good
    character(len=*), intent(in) :: what
    if (is_good) return
    call keel_message(text)
    print *, 'FAILED: ', what, ' (', trim(text), ')'
    failures = failures + 1
  end subroutine
  subroutine good(code, what)
    integer(c_int), intent(in) :: code
    character(len=*), intent(in) :: what
    call require(code == keel_success, what)
  end subroutine
  subroutine bad(code, wanted, words, what)
    integer(c_int), intent(in) :: code, wanted
    character(len=*), intent(in) :: words, what
    call keel_message(text)
    call require(code == wanted .and. index(text, words) /= 0, what)
  end subroutine
end program
