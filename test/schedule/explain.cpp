// SPDX-License-Identifier: MIT
#include <keel/schedule/explain.hpp>

#include <residency/run.hpp>

#include <support/folder.hpp>

#include <support/test.hpp>

namespace kr = keel::residency;

namespace {

using app = test::application<keel::list<test::host, keel::simulated>>;
using one_memory = test::application<keel::list<test::host>>;

struct eta : kr::variable<"eta", double**, kr::levels<3>> {};
struct du : kr::variable<"du", double***> {};
struct mean : kr::variable<"a \"mean\"", double> {};

struct rhs : kr::routine<"rhs", kr::on_device, kr::reads<kr::past<eta, 1>>, kr::writes<du>> {};
struct advance : kr::routine<"advance", kr::on_device, kr::reads<kr::past<eta, 1>, kr::owned<du>>, kr::writes<eta>> {};
struct output : kr::routine<"output", kr::on_host, kr::reads<kr::owned<eta>>, kr::updates<mean>> {};
struct show : kr::routine<"output", kr::on_host, kr::reads<kr::owned<eta>>> {};
struct shown : kr::schedule<kr::cycle<eta>, rhs, advance, kr::exchange<eta>, kr::every<10, show>> {};
struct forcing : kr::routine<"forcing", kr::on_host, kr::updates<kr::past<eta, 1>>> {};
struct storm {
  static bool holds();
};
struct step : kr::schedule<kr::cycle<eta>, rhs, advance, kr::exchange<eta>, kr::every<10, output>> {};
struct stormy : kr::schedule<kr::cycle<eta>, kr::when<storm, forcing, kr::repeat<2, kr::exchange<kr::past<eta, 1>>>>,
                             rhs, advance, kr::exchange<eta>> {};
struct forgetful : kr::schedule<kr::cycle<eta>, rhs, advance> {};

struct scatter : kr::routine<"scatter", kr::on_device, kr::writes<kr::everywhere<du>>> {};
struct apply : kr::routine<"apply", kr::on_device, kr::reads<kr::owned<du>>, kr::updates<eta>> {};
struct assembly : kr::schedule<scatter, kr::accumulate<du>, apply> {};

struct spin : kr::routine<"spin", kr::on_device, kr::writes<kr::everywhere<mean>>> {};
struct forth : kr::routine<"forth", kr::on_host, kr::writes<kr::everywhere<du>>> {};
struct back : kr::routine<"back", kr::on_device, kr::reads<kr::owned<du>>> {};
struct late : kr::routine<"late", kr::on_host, kr::reads<kr::everywhere<mean>>> {};
struct ahead : kr::schedule<spin, forth, kr::repeat<2, forth, late, back>, late, back> {};

struct cut : kr::routine<"cut", kr::on_device, kr::in_pieces, kr::reads<kr::past<eta, 1>>, kr::writes<eta>> {};
struct hidden : kr::schedule<kr::cycle<eta>, kr::repeat<2, cut, kr::exchange<eta, kr::past<eta, 2>>>> {};

template <class App, class S, class Device>
std::string told() {
  std::ostringstream out;
  kr::explain<App, S, Device>(out);
  return out.str();
}

} // namespace

TEST_CASE("residency: a plan is told as a table, access by access, with its copies") {
  CHECK(told<app, step, keel::simulated>() ==
        "on simulated, once 10 steps are made:\n"
        "entry     in         data         region      access   copied  from       ghosts\n"
        "cycle                eta          levels      moves\n"
        "rhs       simulated  eta[1]       owned       reads    never\n"
        "                     eta[1]       halo        reads    always  host\n"
        "                     du[0]        owned       writes                      stale from here on\n"
        "advance   simulated  eta[1]       inside      reads    never\n"
        "                     du[0]        owned       reads    never\n"
        "                     eta[0]       owned       writes                      stale from here on\n"
        "exchange  host       eta[0]       rim         reads    always  simulated  sent to the neighbours\n"
        "                     eta[0]       halo        writes                      filled here\n"
        "every 10\n"
        "  output  host       eta[0]       core        reads    always  simulated\n"
        "                     eta[0]       rim         reads    never\n"
        "                     a \"mean\"[0]  everywhere  updates  never              changed here\n"
        "copies in a period of 10 steps:\n"
        "                   core  rim  halo  walls\n"
        "host to simulated  0     0    10    0\n"
        "simulated to host  1     10   0     0\n");
  CHECK(told<one_memory, step, test::host>().ends_with("copies in a period of 10 steps: none\n"));
}

TEST_CASE("residency: a plan tells that ghosts are added to their owners, and stale from then on") {
  CHECK(told<app, assembly, keel::simulated>().find(
            "scatter     simulated  du[0]   everywhere  writes                      written here\n"
            "accumulate  host       du[0]   rim         updates  always  simulated  stale from here on\n"
            "                       du[0]   halo        reads    always  simulated  added to their owners\n") !=
        std::string::npos);
}

TEST_CASE("residency: the README shows what is told of a plan") {
  std::istringstream lines(told<app, shown, keel::simulated>());
  std::string shown_there;
  for (std::string line; std::getline(lines, line);) shown_there += "    " + line + '\n';
  CHECK(keel::test::content(KEEL_README).find('\n' + shown_there) != std::string::npos);
}

TEST_CASE("residency: a plan tells what depends on a condition, and ghosts that nobody fills") {
  std::string const text = told<app, stormy, keel::simulated>();
  CHECK(text.find("when\n  forcing     host       eta[1]  core    updates  always") != std::string::npos);
  CHECK(text.find("\n  repeat 2\n    exchange  host ") != std::string::npos);
  CHECK(text.find("rhs           simulated  eta[1]  owned   reads    depends  host") != std::string::npos);
  CHECK(text.find("copies in a step:") != std::string::npos);
  std::string const first = told<app, kr::schedule<kr::once<forcing>, kr::rewind<eta>>, keel::simulated>();
  CHECK(first.find("once\n  forcing  host  eta[1]  owned") != std::string::npos);
  CHECK(first.find("rewind           eta     levels  moves") != std::string::npos);
  CHECK(told<app, forgetful, keel::simulated>().find("eta[1]  halo    reads   lost          have not been filled") !=
        std::string::npos);
}

TEST_CASE("residency: a plan tells which copies begin early, after whom and for whom") {
  std::string const text = told<app, ahead, keel::simulated>();
  CHECK(text.ends_with("begins after spin, for late: a \"mean\"[0] everywhere to host\n"
                       "begins after forth, for back: du[0] owned to simulated\n"));
  CHECK(told<one_memory, ahead, test::host>().find("begins after") == std::string::npos);
}

TEST_CASE("residency: a plan tells which exchange begins within a routine in pieces") {
  CHECK(told<app, hidden, keel::simulated>().ends_with("\nbegins within cut, after its rim: exchange eta[0] eta[2]\n"));
  CHECK(told<app, step, keel::simulated>().find("within") == std::string::npos);
}

TEST_CASE("residency: a plan is told for an application of which nobody spoke") {
  std::ostringstream out;
  kr::explain<step>(out);
  CHECK(out.str().starts_with("on "));
  CHECK(out.str().find("copies in a period of 10 steps:\n") != std::string::npos);
}

TEST_CASE("residency: a plan knows who wrote what is read, and what is copied on the way") {
  auto const flows = [](kr::detail::explanation const& made) {
    std::string text;
    for (kr::detail::told_flow const& f : made.flows)
      text += made.entries[f.writer].name + " -> " + made.entries[f.reader].name + ' ' + f.variable + ' ' +
              std::string(name_of(f.where)) + ' ' + kr::detail::word_for(f.seen) + (f.crosses ? " later\n" : "\n");
    return text;
  };
  std::string const text = flows(kr::detail::explained<app, step, keel::simulated>());
  for (char const* one : {"advance -> exchange eta[0] rim always\n", "advance -> rhs eta[1] owned never later\n",
                          "exchange -> rhs eta[1] halo always later\n", "output -> output a \"mean\"[0] everywhere"})
    CHECK_MESSAGE(text.find(one) != text.npos, text);
  std::string const nested = flows(kr::detail::explained<app, stormy, keel::simulated>());
  for (char const* one : {"forcing -> rhs eta[1] owned depends\n", "advance -> rhs eta[1] owned depends later\n"})
    CHECK_MESSAGE(nested.find(one) != nested.npos, nested);
}
