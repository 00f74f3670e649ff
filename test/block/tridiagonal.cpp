// SPDX-License-Identifier: MIT
#include <keel/block/tridiagonal.hpp>

#include "field.hpp"

#include <support/test.hpp>
#include <support/lanes.hpp>

namespace {

namespace kb = keel::block;
using keel::test::field, keel::test::message_of;

double some_number(std::size_t i) { return 0.25 + double(i * 2654435761u % 1000) / 512; }

/// The plain loop over one column; returns the largest residual.
struct reference {
  std::vector<double> lower, diagonal, upper, r, x;

  void solve() {
    std::size_t const n = r.size();
    std::vector<double> carry(n);
    x = r;
    double pivot = 1 / diagonal[0];
    x[0] = r[0] * pivot;
    for (std::size_t k = 1; k < n; ++k) {
      carry[k - 1] = pivot * upper[k - 1];
      pivot = 1 / (diagonal[k] - carry[k - 1] * lower[k]);
      x[k] = r[k] * pivot - x[k - 1] * (pivot * lower[k]);
    }
    for (std::size_t k = n - 1; k-- > 0;) x[k] = x[k] - x[k + 1] * carry[k];
  }
  [[nodiscard]] double residual() const {
    double most = 0;
    for (std::size_t k = 0; k < r.size(); ++k) {
      double left = diagonal[k] * x[k] - r[k];
      if (k > 0) left += lower[k] * x[k - 1];
      if (k + 1 < r.size()) left += upper[k] * x[k + 1];
      most = std::max(most, std::abs(left));
    }
    return most;
  }
};

enum class kind { constant, variable, mixed };

/// Whether every column has the bits of the plain loop, and the plain loop solves the system.
template <std::size_t Length, kind Kind, bool Once, class Place = kb::caller>
bool solves(std::size_t columns, std::size_t levels, bool right, Place const& place = {}) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN(); // what must not be read
  std::array<std::size_t, 3> const shape{2, columns, levels};
  field<3> const x(shape, right, 70);
  std::size_t n = 0;
  x.each([&](double& value) { value = some_number(n++) - 1; });
  constexpr std::size_t rank = Kind == kind::constant ? 1 : 3, lower_rank = Kind == kind::variable ? 3 : 1;
  auto const made = [&](auto& f, double least, std::size_t unread) {
    std::size_t at = 0;
    f.each([&](double& value) {
      std::size_t const k = at % levels;
      value = k == unread ? none : least + some_number(at * 3 + unread);
      ++at;
    });
  };
  auto const shaped = [&](auto r) {
    if constexpr (decltype(r)::value == 1) return field<1>({levels}, true, 70);
    else return field<3>(shape, right, 70);
  };
  auto const lower = shaped(std::integral_constant<std::size_t, lower_rank>{});
  auto const diagonal = shaped(std::integral_constant<std::size_t, rank>{}),
             upper = shaped(std::integral_constant<std::size_t, rank>{});
  made(lower, -1.5, 0);
  made(diagonal, 5, levels + 1);
  made(upper, -1.5, levels - 1);

  std::vector<reference> wanted;
  auto const value = [](auto const& f, std::size_t i, std::size_t j, std::size_t k) {
    if constexpr (std::remove_cvref_t<decltype(f)>::rank == 1) return f(k);
    else return f(i, j, k);
  };
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t j = 0; j < columns; ++j) {
      reference one;
      for (std::size_t k = 0; k < levels; ++k) {
        one.lower.push_back(value(lower, i, j, k)), one.diagonal.push_back(value(diagonal, i, j, k));
        one.upper.push_back(value(upper, i, j, k)), one.r.push_back(x(i, j, k));
      }
      one.solve();
      wanted.push_back(one);
    }
  if constexpr (Once) {
    auto const f = kb::factorise<Length>("factorise", place, kb::tridiagonal{lower, diagonal, upper});
    kb::solve_tridiagonal<Length, 70>("solve", place, f, x);
  } else {
    kb::solve_tridiagonal<Length, 70>("solve", place, kb::tridiagonal{lower, diagonal, upper}, x);
  }
  bool good = x.padding_untouched();
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t j = 0; j < columns; ++j) {
      auto const& one = wanted[i * columns + j];
      good = good && one.residual() < 1e-13;
      for (std::size_t k = 0; k < levels; ++k) good = good && std::memcmp(&x(i, j, k), &one.x[k], sizeof(double)) == 0;
    }
  return good;
}

template <std::size_t Length>
void every_kind() {
  for (std::size_t columns : {std::size_t{0}, std::size_t{1}, Length, 2 * Length + 1})
    for (std::size_t levels : {std::size_t{1}, std::size_t{2}, std::size_t{7}, std::size_t{64}})
      for (bool right : {false, true}) {
        CAPTURE(Length);
        CAPTURE(columns);
        CAPTURE(levels);
        CAPTURE(right);
        CHECK(solves<Length, kind::constant, false>(columns, levels, right));
        CHECK(solves<Length, kind::constant, true>(columns, levels, right));
        CHECK(solves<Length, kind::variable, false>(columns, levels, right));
        CHECK(solves<Length, kind::variable, true>(columns, levels, right));
        CHECK(solves<Length, kind::mixed, false>(columns, levels, right));
      }
}

} // namespace

TEST_CASE("block: tridiagonal systems are solved with the bits of the plain loop, for every length") {
  every_kind<1>();
  every_kind<2>();
  every_kind<8>();
  every_kind<24>();
  every_kind<64>();
}

TEST_CASE("block: tridiagonal systems in the memory of a team have the same bits") {
  // Values of a thread: none, for one array of a column, for two.
  for (std::size_t most : {std::size_t{0}, std::size_t{70}, std::size_t{1000}}) {
    int rows = 0, with_memory = 0;
    keel::test::lanes const place{&rows, &with_memory, most};
    for (std::size_t levels : {std::size_t{1}, std::size_t{2}, std::size_t{7}, std::size_t{64}}) {
      CAPTURE(most);
      CAPTURE(levels);
      CHECK(solves<1, kind::constant, false>(7, levels, false, place));
      CHECK(solves<1, kind::constant, true>(7, levels, false, place));
      CHECK(solves<1, kind::variable, false>(7, levels, true, place));
      CHECK(solves<1, kind::variable, true>(7, levels, false, place));
      CHECK(solves<1, kind::mixed, false>(7, levels, false, place));
    }
    CHECK(with_memory == (most == 0 ? 0 : most == 70 ? 17 : 20));
  }
}

TEST_CASE("block: tridiagonal systems of another shape than their coefficients are refused") {
  field<2> const x({5, 9}, true, 0);
  field<1> const nine({9}, true, 0), eight({8}, true, 0);
  field<2> const shorter({4, 9}, true, 0);
  CHECK(message_of([&] { kb::solve_tridiagonal<8>("s", kb::caller{}, kb::tridiagonal{nine, eight, nine}, x); }) ==
        "keel::block: the coefficient 'diagonal' of tridiagonal systems has another shape than the unknowns (8 "
        "in place of 9 along their "
        "index 1). Make them equal.");
  CHECK(message_of([&] {
          kb::solve_tridiagonal<8>("s", kb::caller{}, kb::tridiagonal{nine, nine, shorter}, x);
        }).find("'upper'") != std::string::npos);
  CHECK(message_of([&] { kb::solve_tridiagonal<8, 8>("s", kb::caller{}, kb::tridiagonal{nine, nine, nine}, x); }) ==
        "keel::block: columns of 9 are too long (room was compiled in for 8). Give a larger MaxLevels.");
}
