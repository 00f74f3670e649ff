// SPDX-License-Identifier: MIT
#include <keel/space/blocked_view.hpp>

#include <keel/space/simulated.hpp>

#include <support/test.hpp>

namespace {

namespace kb = keel::block;

/// Doubles every pack of a row.
template <class Packs>
struct doubled {
  Packs packs;
  KOKKOS_FUNCTION void operator()(int i) const {
    for (int j = 0; j < int(packs.extent(1)); ++j) packs(i, j) = packs(i, j) + packs(i, j);
  }
};

template <class View>
std::string refusal(View const& view) {
  return keel::test::message_of([&] { (void)kb::blocked_view<8>(view); });
}

/// Kokkos does not copy padded views between memories, so the device fills and counts.
template <class View>
struct filled {
  View v;
  KOKKOS_FUNCTION void operator()(int i) const {
    for (int j = 0; j < 61; ++j) v(i, j) = i * 100 + j;
  }
};
template <class View>
struct counted_wrong {
  View v;
  KOKKOS_FUNCTION void operator()(int i, int& wrong) const {
    for (int j = 0; j < 61; ++j) wrong += v(i, j) != 2 * (i * 100 + j);
  }
};

template <class Space>
void check_padded() {
  using view = Kokkos::View<double**, Kokkos::LayoutRight, Space>;
  view const v(Kokkos::view_alloc("v", Kokkos::AllowPadding), 5, 61);
  Kokkos::RangePolicy<Space> const rows(0, 5);
  Kokkos::parallel_for("filled", rows, filled<view>{v});
  if (v.span() < 5 * std::size_t(v.stride(0))) { // Kokkos 5 pads no row after the last
    CHECK(refusal(v).find("the last pack ends at element ") != std::string::npos);
    return;
  }
  auto const packs = kb::blocked_view<4>(v);
  CHECK(packs.extent(0) == 5);
  CHECK(packs.extent(1) == 16);
  CHECK(static_cast<void const*>(packs.data()) == v.data());
  Kokkos::parallel_for("doubled", rows, doubled<decltype(packs)>{packs});
  int wrong = -1;
  Kokkos::parallel_reduce("wrong", rows, counted_wrong<view>{v}, wrong);
  CHECK(wrong == 0);
}

/// Rows of a view of doubles whose memory ends with its last element.
struct unpadded_rows {
  using non_const_value_type = double;
  using array_layout = Kokkos::LayoutRight;
  static constexpr std::size_t rank = 2;
  std::size_t rows, row, apart, elements, next = 1;
  [[nodiscard]] static double* data() { return nullptr; }
  [[nodiscard]] std::size_t extent(std::size_t d) const { return d == 0 ? rows : row; }
  [[nodiscard]] std::size_t stride(std::size_t d) const { return d == 0 ? apart : next; }
  [[nodiscard]] std::size_t span() const { return elements; }
};

} // namespace

TEST_CASE("block: packs of rows are refused where the memory ends within the last one, to the element") {
  CHECK(kb::detail::unfit_for_packs<8>(unpadded_rows{3, 13, 16, 48}, 16).empty());
  CHECK(kb::detail::unfit_for_packs<8>(unpadded_rows{3, 13, 16, 47}, 16) == "the last pack ends at element 48 of 47");
  CHECK(kb::detail::unfit_for_packs<8>(unpadded_rows{1, 13, 13, 16}, 16).empty());
  CHECK(kb::detail::unfit_for_packs<8>(unpadded_rows{1, 13, 13, 13}, 16) == "the last pack ends at element 16 of 13");
}

TEST_CASE("block: rows whose elements are not neighbours are refused, of one element alone not") {
  CHECK(kb::detail::unfit_for_packs<8>(unpadded_rows{3, 2, 16, 48, 2}, 8) == "its elements are 2 apart");
  CHECK(kb::detail::unfit_for_packs<8>(unpadded_rows{3, 1, 16, 48, 2}, 8).empty());
}

TEST_CASE("block: a padded view is read and written in packs, without a copy") {
  check_padded<Kokkos::DefaultHostExecutionSpace>();
  check_padded<keel::space::simulated>();
}

TEST_CASE("block: packs follow the contiguous index of either layout") {
  Kokkos::View<double***, Kokkos::LayoutLeft, Kokkos::HostSpace> const left("left", 16, 3, 2);
  auto const packs = kb::blocked_view<8>(left);
  CHECK(packs.extent(0) == 2);
  left(11, 2, 1) = 7;
  CHECK(packs(1, 2, 1)[3] == 7);
  Kokkos::View<double const***, Kokkos::LayoutLeft, Kokkos::HostSpace> const read = left;
  CHECK(kb::blocked_view<8>(read)(1, 2, 1)[3] == 7);
  Kokkos::View<double*, Kokkos::LayoutRight, Kokkos::HostSpace> const empty("empty", 0);
  CHECK(kb::blocked_view<8>(empty).extent(0) == 0);
}

TEST_CASE("block: a view that has no room for whole packs is refused") {
  using right = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;
  CHECK(refusal(right("fits", 3, 16)).empty());
  CHECK(
      refusal(right("narrow", 3, 13)) ==
      "keel::block: view 'narrow' cannot be read in packs of 8 (index 0 moves on by 13 elements, which is less than "
      "the extent in whole packs, "
      "16). Allocate it with Kokkos::AllowPadding, or with extents in whole packs (a variable: keel::residency::padded).");
  right const whole("whole", 3, 20);
  CHECK(refusal(right(whole.data(), 3, 20)).find("less than the extent") != std::string::npos);
  Kokkos::View<double*, Kokkos::LayoutRight, Kokkos::HostSpace> const row("row", 20);
  CHECK(refusal(row).find("the last pack ends at element 24 of 20") != std::string::npos);
  CHECK(refusal(Kokkos::View<double*, Kokkos::LayoutRight, Kokkos::HostSpace>(row.data() + 1, 8))
            .find("not aligned to 64 bytes") != std::string::npos);
  auto const middle = Kokkos::subview(whole, Kokkos::make_pair(0, 2), Kokkos::make_pair(0, 8));
  if constexpr (std::is_same_v<decltype(middle)::array_layout, Kokkos::LayoutRight>)
    CHECK(refusal(middle).find("not a multiple") != std::string::npos);
}
