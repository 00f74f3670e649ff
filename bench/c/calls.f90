! SPDX-License-Identifier: MIT
subroutine exchange_by_fortran(plan, a, n, calls) bind(C)
  use, intrinsic :: iso_c_binding
  use keel
  implicit none
  integer(c_int), value :: plan, n, calls
  real(c_double), target :: a(n)
  integer(c_int) :: i, code
  do i = 1, calls
    code = keel_exchange(plan, a)
    if (code /= keel_success) error stop 1
  end do
end subroutine
subroutine require_by_fortran(registry, variable, calls) bind(C)
  use, intrinsic :: iso_c_binding
  use keel
  implicit none
  integer(c_int), value :: registry, variable, calls
  integer(c_int) :: i, code, v(1)
  v = variable
  do i = 1, calls
    code = keel_require_valid_data(registry, keel_host, 1, v)
    if (code /= keel_success) error stop 1
  end do
end subroutine
