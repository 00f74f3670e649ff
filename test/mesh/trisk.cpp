// SPDX-License-Identifier: MIT
// The shallow-water model on Voronoi cells, as a user runs it: against published figures, and against itself.
#include <mesh/makers.hpp>

#include <support/program.hpp>
#include <support/test.hpp>

#include <numeric>

namespace {

using namespace program_test;

/// The two numbers after the name in each row of a table.
std::vector<std::pair<std::string, std::pair<double, double>>> rows(std::string const& text) {
  std::vector<std::pair<std::string, std::pair<double, double>>> all;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.size() < 26) continue;
    std::pair<double, double> both;
    if (std::sscanf(line.c_str() + 25, "%lf %lf", &both.first, &both.second) < 1) continue;
    all.push_back({line.substr(0, line.find_last_not_of(' ', 24) + 1), both});
  }
  return all;
}
auto operators_on(int n) {
  folder const here;
  char width[40];
  std::snprintf(width, sizeof width, "%.17g", 1. / n);
  auto const size = std::to_string(n);
  auto all = rows(run_well("trisk", 1, "--operators --mesh hex:" + size + "x" + size + ":" + width, here.path).out);
  std::erase_if(all, [](auto const& row) { return row.first == "mesh"; });
  return all;
}

/// What `which` leaves of the state.
std::string state_of(int ranks, std::string const& which) {
  folder const here;
  run_well("trisk", ranks, "--steps 12 --dump state " + which, here.path);
  return content(here / "state");
}

} // namespace

TEST_CASE("trisk: errors of the operators are those that OMEGA's tests expect on the same plane") {
  // E3SM-Project/Omega, test/ocn: HorzOperatorsTest, AuxiliaryVarsTest, TendencyTermsTest; 48 x 48 hexagons.
  std::vector<std::pair<std::string, std::pair<double, double>>> const published{
      {"divergence", {0.00124886886594427027, 0.00124886886590974385}},
      {"curl", {0.161365663569699946, 0.161348016897141039}},
      {"tangential", {0.00450897496974901352, 0.00417367308684470691}},
      {"kinetic energy", {0.00994439065100057897, 0.00703403756741667954}},
      {"gradient", {0.00125026071878537952, 0.00134354611117262204}},
      {"cells to edge", {0.0026762081503380526, 0.003058198461518835}},
      {"cells to edge, by area", {0.004279097382993937, 0.004200067675522098}},
      {"potential vorticity flux", {0.00807347170900282914, 0.00794755105765788429}},
      {"Laplacian", {0.00113090174765822192, 0.00134324628763667899}},
      {"its divergence", {0.002495925826729385, 0.00249592582669975289}},
      {"its curl", {0.0104455692965114266, 0.0104135556263709097}},
      {"relative vorticity", {0.185771689108325755, 0.170080698606596442}},
      {"on edges", {0.0119295506805566498, 0.00779991259802507997}},
      {"planetary vorticity", {0.000831626192159380336, 0.000562164971653627546}},
      {"on edges", {0.00223924332422219697, 0.0015382243254998785}}};
  auto const found = operators_on(48), coarse = operators_on(24);
  REQUIRE(found.size() == published.size());
  for (std::size_t k = 0; k < found.size(); ++k) {
    auto const& name = published[k].first;
    auto const& wanted = published[k].second;
    CAPTURE(name);
    CHECK(found[k].first == name);
    CHECK(found[k].second.first == doctest::Approx(wanted.first).epsilon(1e-9));
    CHECK(found[k].second.second == doctest::Approx(wanted.second).epsilon(1e-9));
    // Half the width: a quarter of the error, or half on vertices, where opposite errors do not cancel.
    bool const is_curl = name.find("curl") != name.npos || name == "relative vorticity";
    CHECK(coarse[k].second.second / found[k].second.second == doctest::Approx(is_curl ? 2 : 4).epsilon(0.04));
  }
}

TEST_CASE("trisk: the cells of a mesh cover it, each edge has two sides, and weights do no work") {
  for (trisk::mesh const& m : {trisk::hexagons(8, 6, 2.), trisk::icosahedral(3, 1.)}) {
    bool const is_sphere = m.on.is_sphere();
    double const whole = is_sphere ? 4 * trisk::pi : m.on.x_period * m.on.y_period;
    CHECK(std::accumulate(m.area_cell.begin(), m.area_cell.end(), 0.) == doctest::Approx(whole).epsilon(1e-13));
    CHECK(std::accumulate(m.area_triangle.begin(), m.area_triangle.end(), 0.) == doctest::Approx(whole).epsilon(1e-13));
    CHECK(m.cells.size() + m.vertices.size() == m.edges.size() + (is_sphere ? 2 : 0));
    CHECK(std::ranges::min(m.area_cell) > 0);
    std::map<std::pair<int, int>, double> energy;
    for (int e = 0; e < int(m.edges.size()); ++e) {
      auto const w = trisk::weights_on_edge(m, e);
      for (std::size_t k = 0; k < w.edges.size(); ++k)
        if (w.weights[k] != 0)
          energy[std::minmax(e, w.edges[k])] += w.weights[k] * m.dc[std::size_t(e)] / m.dv[std::size_t(w.edges[k])];
      auto const [right, left] = m.vertices_on_edge[std::size_t(e)];
      auto const across = m.on.way(m.vertices[std::size_t(right)], m.vertices[std::size_t(left)]);
      CHECK(trisk::dot(across, m.tangent(e)) == doctest::Approx(m.dv[std::size_t(e)]).epsilon(0.02));
      auto const off = m.on.way(m.edges[std::size_t(e)], m.vertices[std::size_t(right)] + 0.5 * across);
      CHECK(std::abs(trisk::dot(off, m.tangent(e))) < 0.06 * m.dv[std::size_t(e)]);
    }
    double most = 0;
    for (auto const& [pair, sum] : energy) most = std::max(most, std::abs(sum));
    CHECK(most < 1e-14);
  }
}

TEST_CASE("trisk: the error of a steady flow on the sphere falls with the square of the cells' width") {
  folder const here;
  std::vector<double> thickness, velocity;
  for (std::string const level : {"4", "5"}) {
    auto const o = run_well("trisk", has_ranks ? 2 : 1, "--mesh ico:" + level, here.path);
    for (auto const& [name, both] : rows(o.out)) {
      if (name == "error of h") thickness.push_back(both.second);
      if (name == "error of u") velocity.push_back(both.second);
    }
    CHECK(std::abs(o.figure("mass")) <= 1e-14);
    CHECK(std::abs(o.figure("energy")) < 1e-8);
  }
  REQUIRE(thickness.size() == 2);
  CHECK(std::log2(thickness[0] / thickness[1]) > 1.9);
  CHECK(std::log2(velocity[0] / velocity[1]) > 1.9);
}

TEST_CASE("trisk: flow over a mountain keeps its mass, and its energy but for the time step") {
  folder const here;
  auto const at = [&](std::string const& dt) {
    auto const o = run_well("trisk", 1, "--mesh ico:3 --case 5 --days 3 --dt " + dt, here.path);
    CHECK(std::abs(o.figure("mass")) <= 1e-14);
    return std::abs(o.figure("energy"));
  };
  double const coarse = at("1440"), fine = at("720");
  CHECK(coarse < 1e-5);
  CHECK(fine < coarse / 4);
}

TEST_CASE("trisk: the bits do not depend on the ranks and the device") {
  std::string const which = "--mesh ico:3 --case 5 ";
  auto const alone = state_of(1, which);
  CHECK(alone.size() == (642 + 1920) * sizeof(double));
  for (std::string const device : {host, "simulated"}) CHECK(alone == state_of(1, which + "--keel-device " + device));
  if (!has_ranks) return keel::test::skip("no MPI");
  for (int const ranks : {2, 3, 4}) CHECK(alone == state_of(ranks, which));
  CHECK(alone == state_of(3, which + "--keel-device simulated"));
}

TEST_CASE("trisk: the bits are those of the same kernels with arrays and messages by hand") {
  folder const here;
  for (auto const& [ranks, device] : {std::pair{1, host}, {3, host}, {3, "simulated"}})
    CHECK(run_well("trisk", has_ranks ? ranks : 1,
                   "--mesh ico:2 --by-hand --steps 30 --keel-device " + std::string(device), here.path)
              .out.find(", bits the same\n") != std::string::npos);
}

TEST_CASE("trisk: what cannot be used or written is told once, with exit code 2") {
  auto const refuses = [](std::string const& options, std::string const& words) {
    folder const here;
    std::ofstream(here / "file") << "no folder";
    auto const o = run("trisk", has_ranks ? 2 : 1, options, here.path);
    INFO(options << '\n' << o.out << o.err);
    CHECK(o.code == 2);
    auto const first = o.err.find(words);
    CHECK(first != o.err.npos);
    CHECK(o.err.find(words, first + 1) == o.err.npos);
  };
  refuses("--mesh hex:4x5:1 --operators", "trisk: --mesh hex:4x5:1 cannot be used (an even number of rows is wanted).");
  refuses("--mesh cube", "trisk: --mesh cube cannot be used (hex:NXxNY:DC or ico:LEVEL is wanted).");
  refuses("--mesh ico:9", "trisk: --mesh 9 cannot be used (a whole number from 1 to 8 is wanted).");
  refuses("--mesh hex:8x8:1",
          "trisk: --mesh hex cannot be used (a plane for operators, the sphere for a case is wanted).");
  refuses("--case 3", "trisk: --case 3 cannot be used (2 or 5 is wanted).");
  refuses("--days", "trisk: --days stands alone (it takes a value).");
  refuses("--gird 3", "trisk: --gird is not known (trisk has no such option).");
  refuses("--mesh ico:1 --output file/in", "trisk: file/in cannot be written (");
  refuses("--mesh ico:1 --steps 1 --dump /dev/full", "trisk: /dev/full cannot be written (");
}
