! SPDX-License-Identifier: MIT
!> keel for Fortran: interfaces only, of what keel.h says. Compile it with the program, and link with keel_c.
!!
!! Functions return codes of keel.h, and keel_message the sentence. Arrays of any type, kind and rank come by descriptor:
!! keel sees where a pointer or a section such as a(2:n:2, :) lies, and copies nothing, so that they are targets and stay
!! until keel is done. Indices count from 1 here.
module keel
  use, intrinsic :: iso_c_binding, only: c_char, c_int, c_int64_t, c_double, c_ptr, c_null_ptr
  implicit none
  public

  integer(c_int), parameter :: keel_success = 0, keel_refused = 1, keel_bad_handle = 2, keel_not_running = 3, &
    keel_no_memory = 4, keel_failed = 5
  integer(c_int), parameter :: keel_int32 = 1, keel_int64 = 2, keel_real4 = 3, keel_real8 = 4, &
    keel_complex4 = 5, keel_complex8 = 6, keel_bytes = 256
  integer(c_int), parameter :: keel_host = 0, keel_device = 1, keel_past = 2**20, &
    keel_owned = 2**28, keel_read = 2**29, keel_written = 2**30, keel_other_sign = 16

  !> An array, as `keel_on` describes it.
  type, bind(C) :: keel_array
    type(c_ptr) :: data = c_null_ptr, mesh = c_null_ptr
    integer(c_int) :: type = 0, memory = 0, rank = 0, layers = 0, longer = 0, along = 0, indexed = 0, index(4) = 0
    integer(c_int64_t) :: extents(8) = 0, strides(8) = 0
  end type

  interface
    ! ---- start and end
    integer(c_int) function keel_set(knob, text) bind(C, name='keel_f_set')
      import :: c_char, c_int
      character(kind=c_char, len=*), intent(in) :: knob, text
    end function
    !> For the ranks of a communicator, if there is one. Knobs come from keel_set and the environment.
    integer(c_int) function keel_start(communicator) bind(C, name='keel_f_start')
      import :: c_int
      integer(c_int), intent(in), optional :: communicator
    end function
    integer(c_int) function keel_end() bind(C)
      import :: c_int
    end function
    subroutine keel_message(text) bind(C, name='keel_f_message')
      import :: c_char
      character(kind=c_char, len=*), intent(out) :: text
    end subroutine
    subroutine keel_device_name(text) bind(C, name='keel_f_device')
      import :: c_char
      character(kind=c_char, len=*), intent(out) :: text
    end subroutine
    integer(c_int) function keel_free(handle) bind(C)
      import :: c_int
      integer(c_int), value :: handle
    end function

    ! ---- ranks
    integer(c_int) function keel_world(environment) bind(C)
      import :: c_int
      integer(c_int), intent(out) :: environment
    end function
    integer(c_int) function keel_environment(communicator, environment) bind(C)
      import :: c_int
      integer(c_int), value :: communicator
      integer(c_int), intent(out) :: environment
    end function
    integer(c_int) function keel_rank(environment, rank, size) bind(C)
      import :: c_int
      integer(c_int), value :: environment
      integer(c_int), intent(out) :: rank, size
    end function
    !> Of real(4) or real(8), of any rank.
    integer(c_int) function keel_ordered_sum(environment, a, sum) bind(C, name='keel_f_sum')
      import :: c_int, c_double
      integer(c_int), value :: environment
      type(*), dimension(..), intent(in), target :: a
      real(c_double), intent(out) :: sum
    end function

    ! ---- where elements are
    !> A mesh, cut over the ranks, by ids. `layers`: how many layers the ghosts of this rank lie in; `counts`: how many
    !! ghosts each of them has; `ghosts`: the ids of all, the nearest layer first.
    integer(c_int) function keel_partition(environment, mesh, owned_count, owned, layers, counts, ghosts, partition) &
        bind(C, name='keel_f_partition')
      import :: c_char, c_int, c_int64_t
      integer(c_int), value :: environment, layers
      character(kind=c_char, len=*), intent(in) :: mesh
      integer(c_int64_t), value :: owned_count
      integer(c_int64_t), intent(in) :: owned(*), counts(*), ghosts(*)
      integer(c_int), intent(out) :: partition
    end function
    integer(c_int) function keel_partition_with_images(environment, mesh, owned_count, owned, layers, counts, ghosts, &
        partition) bind(C, name='keel_f_partition_with_images')
      import :: c_char, c_int, c_int64_t
      integer(c_int), value :: environment, layers
      character(kind=c_char, len=*), intent(in) :: mesh
      integer(c_int64_t), value :: owned_count
      integer(c_int64_t), intent(in) :: owned(*), counts(*), ghosts(*)
      integer(c_int), intent(out) :: partition
    end function
    integer(c_int) function keel_partition_size(partition, owned, all) bind(C)
      import :: c_int, c_int64_t
      integer(c_int), value :: partition
      integer(c_int64_t), intent(out) :: owned, all
    end function
    integer(c_int) function keel_partition_ids(partition, ids) bind(C)
      import :: c_int, c_int64_t
      integer(c_int), value :: partition
      integer(c_int64_t), intent(out) :: ids(*)
    end function
    integer(c_int) function keel_grid(rank, extents, ghosts, periodic, grid) bind(C)
      import :: c_int, c_int64_t
      integer(c_int), value :: rank
      integer(c_int64_t), intent(in) :: extents(*)
      integer(c_int), intent(in) :: ghosts(*), periodic(*)
      integer(c_int), intent(out) :: grid
    end function
    !> Cut by the caller: `counts` positions of each dimension, 0 if keel is to cut it, all in `positions`.
    integer(c_int) function keel_cut_grid(grid, counts, positions, cut) bind(C)
      import :: c_int, c_int64_t
      integer(c_int), value :: grid
      integer(c_int), intent(in) :: counts(*)
      integer(c_int64_t), intent(in) :: positions(*)
      integer(c_int), intent(out) :: cut
    end function
    integer(c_int) function keel_fold_grid(grid, dimension, along, pivot, folded) bind(C)
      import :: c_int
      integer(c_int), value :: grid, dimension, along, pivot
      integer(c_int), intent(out) :: folded
    end function
    !> As in C, the local indices [begin, end) count from 0; begin + 1 is the first of Fortran.
    integer(c_int) function keel_share(grid, environment, extents, begin, end, first) bind(C)
      import :: c_int, c_int64_t
      integer(c_int), value :: grid, environment
      integer(c_int64_t), intent(out) :: extents(*), begin(*), end(*), first(*)
    end function

    ! ---- exchanger
    !> Describes an array. `index` says which of its indices, from 1, counts the elements of the mesh, or each dimension
    !! of the grid: `index=[2]` for a(level, cell), `index=[3, 2]` for a(variable, y, x). Without it the first ones do.
    !! `indices` need not be given: how many of `index` count. `longer`: a bit for each dimension along which it lies on
    !! faces.
    integer(c_int) function keel_on(array, a, mesh, index, indices, layers, memory, longer) bind(C, name='keel_f_on')
      import :: c_char, c_int, keel_array
      type(keel_array), intent(out) :: array
      type(*), dimension(..), intent(in), target :: a
      character(kind=c_char, len=*), intent(in), optional :: mesh
      integer(c_int), intent(in), optional :: index(:), indices, layers, memory, longer
    end function
    integer(c_int) function keel_exchanger(environment, grid, count, partitions, exchanger) bind(C)
      import :: c_int
      integer(c_int), value :: environment, grid, count
      integer(c_int), intent(in) :: partitions(*)
      integer(c_int), intent(out) :: exchanger
    end function
    integer(c_int) function keel_plan(exchanger, count, arrays, plan) bind(C)
      import :: c_int, keel_array
      integer(c_int), value :: exchanger, count
      type(keel_array), intent(in) :: arrays(*)
      integer(c_int), intent(out) :: plan
    end function
    !> Up to eight arrays, in the memories that were planned.
    integer(c_int) function keel_exchange(plan, a, b, c, d, e, f, g, h) bind(C, name='keel_f_exchange')
      import :: c_int
      integer(c_int), value :: plan
      type(*), dimension(..), target :: a
      type(*), dimension(..), target, optional :: b, c, d, e, f, g, h
    end function
    integer(c_int) function keel_accumulate(plan, a, b, c, d, e, f, g, h) bind(C, name='keel_f_accumulate')
      import :: c_int
      integer(c_int), value :: plan
      type(*), dimension(..), target :: a
      type(*), dimension(..), target, optional :: b, c, d, e, f, g, h
    end function
    integer(c_int) function keel_begin(plan, open, a, b, c, d, e, f, g, h) bind(C, name='keel_f_begin')
      import :: c_int
      integer(c_int), value :: plan
      integer(c_int), intent(out) :: open
      type(*), dimension(..), target :: a
      type(*), dimension(..), target, optional :: b, c, d, e, f, g, h
    end function
    integer(c_int) function keel_finish(open) bind(C)
      import :: c_int
      integer(c_int), value :: open
    end function

    ! ---- registry
    integer(c_int) function keel_registry(environment, grid, count, partitions, registry) bind(C)
      import :: c_int
      integer(c_int), value :: environment, grid, count
      integer(c_int), intent(in) :: partitions(*)
      integer(c_int), intent(out) :: registry
    end function
    integer(c_int) function keel_adopt(registry, name, on_host, on_device, variable) bind(C, name='keel_f_adopt')
      import :: c_char, c_int, keel_array
      integer(c_int), value :: registry
      character(kind=c_char, len=*), intent(in) :: name
      type(keel_array), intent(in), optional :: on_host, on_device
      integer(c_int), intent(out) :: variable
    end function
    integer(c_int) function keel_add(registry, name, levels, like, variable) bind(C, name='keel_f_add')
      import :: c_char, c_int, keel_array
      integer(c_int), value :: registry, levels
      character(kind=c_char, len=*), intent(in) :: name
      type(keel_array), intent(in) :: like
      integer(c_int), intent(out) :: variable
    end function
    integer(c_int) function keel_describe(registry, variable, memory, array) bind(C)
      import :: c_int, keel_array
      integer(c_int), value :: registry, variable, memory
      type(keel_array), intent(out) :: array
    end function
    integer(c_int) function keel_require_valid_data(registry, memory, count, variables) bind(C)
      import :: c_int
      integer(c_int), value :: registry, memory, count
      integer(c_int), intent(in) :: variables(*)
    end function
    integer(c_int) function keel_notify_data_modified(registry, memory, count, variables) bind(C)
      import :: c_int
      integer(c_int), value :: registry, memory, count
      integer(c_int), intent(in) :: variables(*)
    end function
    integer(c_int) function keel_begin_use(registry, name, memory, count, variables, use) bind(C, name='keel_f_begin_use')
      import :: c_char, c_int
      integer(c_int), value :: registry, memory, count
      character(kind=c_char, len=*), intent(in) :: name
      integer(c_int), intent(in) :: variables(*)
      integer(c_int), intent(out) :: use
    end function
    integer(c_int) function keel_finish_use(use) bind(C)
      import :: c_int
      integer(c_int), value :: use
    end function
    integer(c_int) function keel_cycle(registry, variable) bind(C)
      import :: c_int
      integer(c_int), value :: registry, variable
    end function
    integer(c_int) function keel_is_valid(registry, memory, variable, answer) bind(C)
      import :: c_int
      integer(c_int), value :: registry, memory, variable
      integer(c_int), intent(out) :: answer
    end function
    integer(c_int) function keel_exchange_variables(registry, count, variables) bind(C)
      import :: c_int
      integer(c_int), value :: registry, count
      integer(c_int), intent(in) :: variables(*)
    end function
    integer(c_int) function keel_accumulate_variables(registry, count, variables) bind(C)
      import :: c_int
      integer(c_int), value :: registry, count
      integer(c_int), intent(in) :: variables(*)
    end function
    integer(c_int) function keel_migrate(registry, mesh, count, destinations) bind(C, name='keel_f_migrate')
      import :: c_char, c_int, c_int64_t
      integer(c_int), value :: registry
      character(kind=c_char, len=*), intent(in) :: mesh
      integer(c_int64_t), value :: count
      integer(c_int), intent(in) :: destinations(*)
    end function
    integer(c_int) function keel_partition_of(registry, mesh, partition) bind(C, name='keel_f_partition_of')
      import :: c_char, c_int
      integer(c_int), value :: registry
      character(kind=c_char, len=*), intent(in) :: mesh
      integer(c_int), intent(out) :: partition
    end function

    integer(c_int) function keel_allocate(bytes, data, handle) bind(C)
      import :: c_int, c_int64_t, c_ptr
      integer(c_int64_t), value :: bytes
      type(c_ptr), intent(out) :: data
      integer(c_int), intent(out) :: handle
    end function
  end interface
end module
