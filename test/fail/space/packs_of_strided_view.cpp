// SPDX-License-Identifier: MIT
// expect: keel::block::blocked_view: the view is neither LayoutRight nor LayoutLeft
#include <keel/space.hpp>

int main() { return keel::block::blocked_view<8>(Kokkos::View<double*, Kokkos::LayoutStride>()).extent(0) == 0; }
