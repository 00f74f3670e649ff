! SPDX-License-Identifier: MIT
! keel from Fortran: heat on a plate that is cut over the ranks, in arrays of the program. Two time levels, each every
! second row of a wider array, are swapped by pointer; then a pair of arrays, on the host and on the device.
program heat
  use, intrinsic :: iso_c_binding
  use keel
  implicit none
  integer(c_int64_t), parameter :: nx = 16, ny = 12
  real(c_double), parameter :: k = 0.125_c_double
  integer(c_int) :: world, rank, ranks, plate, x, plan, open, registry, memory, t(1)
  integer(c_int64_t) :: n(2), b(2), e(2), first(2), i, j
  integer :: step
  type(keel_array) :: here, there
  type(c_ptr) :: bytes
  real(c_double), allocatable, target :: wide(:, :, :), field(:, :)
  real(c_double), pointer :: old(:, :), new(:, :), swap(:, :), device(:, :)
  real(c_double) :: total, doubled

  call good(keel_set('device', 'simulated'))
  call good(keel_start())
  call good(keel_world(world))
  call good(keel_rank(world, rank, ranks))
  call good(keel_grid(2, [nx, ny], [1, 1], [1, 1], plate)) ! a ghost on each side, and periodic
  call good(keel_share(plate, world, n, b, e, first))
  b = b + 1 ! from 1 on; e is the last one then

  allocate (wide(2*n(1), n(2), 2), source=0._c_double)
  call good(keel_exchanger(world, plate, 0, [0], x))
  old => wide(2::2, :, 1)
  new => wide(2::2, :, 2)
  call good(keel_on(here, old))
  call good(keel_plan(x, 1, [here], plan))
  call good(keel_exchange(plan, old)) ! also when old and new were swapped

  do j = b(2), e(2)
    do i = b(1), e(1)
      old(i, j) = real(mod(7*(i - b(1) + first(1)) + 3*(j - b(2) + first(2)), 11_c_int64_t), c_double)
    end do
  end do
  do step = 1, 20
    call good(keel_begin(plan, open, old))
    call advance(b(1) + 1, e(1) - 1, b(2) + 1, e(2) - 1) ! what needs no ghosts, while they travel
    call good(keel_finish(open))
    call advance(b(1), e(1), b(2), b(2))
    call advance(b(1), e(1), e(2), e(2))
    call advance(b(1), b(1), b(2), e(2))
    call advance(e(1), e(1), b(2), e(2))
    swap => old
    old => new
    new => swap
  end do
  call good(keel_ordered_sum(world, old(b(1):e(1), b(2):e(2)), total)) ! a section, which is not copied

  ! keel copies between the two arrays of a variable when one was written and the other is read.
  allocate (field(n(1), n(2)), source=0._c_double)
  call good(keel_allocate(8*n(1)*n(2), bytes, memory))
  call c_f_pointer(bytes, device, n)
  call good(keel_registry(world, plate, 0, [0], registry))
  call good(keel_on(here, field))
  call good(keel_on(there, device, memory=keel_device))
  call good(keel_adopt(registry, 'field', here, there, t(1)))
  field(b(1):e(1), b(2):e(2)) = old(b(1):e(1), b(2):e(2))
  call good(keel_notify_data_modified(registry, keel_host, 1, t + keel_owned))
  call good(keel_exchange_variables(registry, 1, t))
  call good(keel_begin_use(registry, 'double', keel_device, 1, t + keel_read + keel_written, open))
  device = 2*device ! as a kernel would
  call good(keel_finish_use(open))
  call good(keel_require_valid_data(registry, keel_host, 1, t))
  call good(keel_ordered_sum(world, field(b(1):e(1), b(2):e(2)), doubled))
  if (rank == 0) print '(a, f0.6, a, f0.6)', 'heat ', total, ', doubled on the device ', doubled
  call good(keel_end())

contains

  subroutine advance(i1, i2, j1, j2)
    integer(c_int64_t), intent(in) :: i1, i2, j1, j2
    do j = j1, j2
      do i = i1, i2
        new(i, j) = old(i, j) + k*(old(i - 1, j) + old(i + 1, j) + old(i, j - 1) + old(i, j + 1) - 4*old(i, j))
      end do
    end do
  end subroutine

  !> Where a call does not succeed, keel has a sentence.
  subroutine good(code)
    integer(c_int), intent(in) :: code
    character(len=1000) :: text
    if (code == keel_success) return
    call keel_message(text)
    print '(a)', trim(text)
    error stop 1
  end subroutine
end program
