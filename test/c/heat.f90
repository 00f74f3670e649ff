! SPDX-License-Identifier: MIT
! The heat equation on a plate that is cut over the ranks, on arrays of the program: two time levels swapped by pointer,
! each a strided section, and then a pair of arrays on host and device. `heat.f90 --time` measures a call, too.
program heat
  use, intrinsic :: iso_fortran_env, only: real64, int64
  use, intrinsic :: iso_c_binding
  use keel
  implicit none
  integer(c_int64_t), parameter :: nx = 16, ny = 12
  integer, parameter :: steps = 20
  real(real64), parameter :: k = 0.1_real64
  integer(c_int) :: world, rank, ranks, grid, x, plan, r, v(1), handle, open
  integer(c_int64_t) :: n(2), b(2), e(2), f(2), at
  type(keel_array) :: here, there
  type(c_ptr) :: memory
  real(real64), allocatable, target :: wide(:, :, :), field(:, :)
  real(real64), pointer :: old(:, :), new(:, :), swap(:, :), device(:, :)
  real(real64) :: reference(nx, ny), next(nx, ny), total
  character(len=200) :: text
  character(len=16) :: word
  integer :: step, i, j, failures = 0
  integer(int64) :: t0, t1, rate
  integer, parameter :: calls = 20000

  call good(keel_set('device', 'simulated'), 'set')
  call good(keel_start(), 'start')
  call good(keel_world(world), 'world')
  call good(keel_rank(world, rank, ranks), 'rank')
  call good(keel_grid(2, [nx, ny], [1, 1], [1, 1], grid), 'grid')
  call good(keel_share(grid, world, n, b, e, f), 'share')
  call good(keel_exchanger(world, grid, 0, [0], x), 'exchanger')

  ! Each level is every second row of a wider array: described, not copied.
  allocate (wide(2*n(1), n(2), 2))
  wide = -7
  old => wide(2::2, :, 1)
  new => wide(2::2, :, 2)
  call good(keel_on(here, old), 'on')
  call good(keel_plan(x, 1, [here], plan), 'plan')
  call good(keel_exchange(plan, old), 'exchange') ! also when old and new were swapped
  at = transfer(here%data, at)
  call require(at == loc(wide(2, 1, 1)), 'the address is the section''s')
  call require(here%strides(1) == 2 .and. here%strides(2) == 2*n(1), 'so are the strides')
  call good(keel_on(here, wide(2:2*n(1):2, :, 2)), 'on a section')
  at = transfer(here%data, at)
  call require(at == loc(new(1, 1)), 'a section is not copied on the way')

  do j = 1, int(ny)
    do i = 1, int(nx)
      reference(i, j) = real(mod(7*i + 3*j, 11), real64)
    end do
  end do
  forall (i=int(b(1)) + 1:int(e(1)), j=int(b(2)) + 1:int(e(2))) &
    old(i, j) = reference(i + f(1) - b(1), j + f(2) - b(2))
  do step = 1, steps
    if (mod(step, 2) == 0) then
      call good(keel_exchange(plan, old), 'exchange')
    else
      call good(keel_begin(plan, open, old), 'begin')
      call good(keel_finish(open), 'finish')
    end if
    do j = int(b(2)) + 1, int(e(2))
      do i = int(b(1)) + 1, int(e(1))
        new(i, j) = old(i, j) + k*(old(i - 1, j) + old(i + 1, j) + old(i, j - 1) + old(i, j + 1) - 4*old(i, j))
      end do
    end do
    swap => old
    old => new
    new => swap
    next = reference + k*(cshift(reference, -1, 1) + cshift(reference, 1, 1) + cshift(reference, -1, 2) &
                          + cshift(reference, 1, 2) - 4*reference)
    reference = next
  end do
  call require(maxval(abs(wide(1::2, :, :) + 7)) < 1e-12_real64, 'what lies between was not touched')
  call require(maxval(abs(old(b(1) + 1:e(1), b(2) + 1:e(2)) - &
    reference(f(1) + 1:f(1) + e(1) - b(1), f(2) + 1:f(2) + e(2) - b(2)))) < 1e-12_real64, 'the steps are right')
  call good(keel_ordered_sum(world, old(b(1) + 1:e(1), b(2) + 1:e(2)), total), 'sum')
  call require(abs(total - sum(reference)) < 1e-9_real64, 'heat is kept')

  ! A pair of arrays, on the host and on the device.
  allocate (field(n(1), n(2)))
  call good(keel_allocate(8*n(1)*n(2), memory, handle), 'allocate')
  call c_f_pointer(memory, device, n)
  call good(keel_registry(world, grid, 0, [0], r), 'registry')
  call good(keel_on(here, field), 'on the host')
  call good(keel_on(there, device, memory=keel_device), 'on the device')
  call good(keel_adopt(r, 'field', here, there, v(1)), 'adopt')
  call bad(keel_require_valid_data(r, keel_device, 1, v), keel_refused, 'what was never written')
  field = -1
  field(b(1) + 1:e(1), b(2) + 1:e(2)) = rank + 1
  call good(keel_notify_data_modified(r, keel_host, 1, v + keel_owned), 'notify')
  call good(keel_exchange_variables(r, 1, v), 'exchange of a variable')
  call good(keel_require_valid_data(r, keel_device, 1, v), 'require')
  call require(maxval(abs(device - field)) < 1e-12_real64 .and. minval(field) > 0.5_real64, 'the device has it, ghosts too')
  device = device + 10
  call good(keel_notify_data_modified(r, keel_device, 1, v), 'notify')
  call good(keel_require_valid_data(r, keel_host, 1, v), 'require')
  call require(maxval(abs(field - device)) < 1e-12_real64, 'the host has what the device wrote')

  ! Errors.
  call bad(keel_exchange(plan, field), keel_refused, 'an array that lies in another way')
  call bad(keel_exchange(plan, old, field), keel_refused, 'too many arrays')
  call bad(keel_exchange(x, old), keel_bad_handle, 'an exchanger for a plan')
  call good(keel_on(here, field(:, 2:)), 'on')
  call bad(keel_plan(x, 1, [here], open), keel_refused, 'a short array')

  call get_command_argument(1, word)
  if (word == '--time') then
    call system_clock(t0, rate)
    do i = 1, calls
      open = keel_exchange(plan, old)
    end do
    call system_clock(t1)
    if (rank == 0) print '(a, f10.1, a)', 'exchange by descriptor: ', 1e9*real(t1 - t0)/real(rate)/calls, ' ns'
  end if
  call good(keel_end(), 'end')
  call bad(keel_end(), keel_not_running, 'a second end')
  if (failures /= 0) error stop 1
  if (rank == 0) print '(a, i0, a)', 'Fortran: ', ranks, ' ranks, all is right'

contains

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
  subroutine bad(code, wanted, what)
    integer(c_int), intent(in) :: code, wanted
    character(len=*), intent(in) :: what
    call require(code == wanted, what)
  end subroutine
end program
