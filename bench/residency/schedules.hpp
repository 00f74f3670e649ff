// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Programs with ghosts: their routines as declarations, and what happens in them, in order.

#include "model.hpp"

namespace bench {

/// A body for what only moves data.
struct no_body {
  template <class V>
  static void run(V) {}
};

struct eta : kr::variable<"eta", double**, kr::levels<3>> {};
struct u : kr::variable<"u", double**, kr::levels<3>> {};
struct v : kr::variable<"v", double**, kr::levels<3>> {};
struct du : kr::variable<"du", double**> {};
struct dv : kr::variable<"dv", double**> {};
struct bottom : kr::variable<"bottom", double**> {};

/// Three levels, tendencies, a fixed field, output now and then.
struct ocean {
  using variables = keel::list<eta, u, v, du, dv, bottom>;
  struct initial
      : kr::routine<"initial", kr::on_host,
                    kr::writes<kr::everywhere<eta>, kr::everywhere<u>, kr::everywhere<v>, kr::everywhere<bottom>>>,
        no_body {};
  struct rhs : kr::routine<"rhs", kr::on_device, kr::reads<kr::past<eta, 1>, kr::past<u, 1>, kr::past<v, 1>, bottom>,
                           kr::writes<du, dv>>,
               no_body {};
  struct advance
      : kr::routine<"advance", kr::on_device,
                    kr::reads<kr::past<eta, 1>, kr::past<u, 1>, kr::past<v, 1>, kr::owned<du>, kr::owned<dv>>,
                    kr::writes<eta, u, v>>,
        no_body {};
  struct mix : kr::routine<"mix", kr::on_device, kr::updates<u, v>>, no_body {};
  struct output : kr::routine<"output", kr::on_host, kr::reads<kr::owned<eta>, kr::owned<u>>>, no_body {};
  struct step : kr::schedule<kr::cycle<eta, u, v>, rhs, advance, mix, kr::exchange<eta, u, v>, kr::every<10, output>> {
  };
  static void drive(auto& player) {
    player.run(initial{});
    for (int k = 0; k < 50; ++k) player.step(step{});
  }
};

struct phi : kr::variable<"phi", double**, kr::levels<3>> {};
/// Leapfrog of second order: the oldest level is read too, and a probe looks at the rim.
struct wave {
  using variables = keel::list<phi>;
  struct initial
      : kr::routine<"initial", kr::on_host, kr::writes<kr::everywhere<phi>, kr::everywhere<kr::past<phi, 1>>>>,
        no_body {};
  struct leap
      : kr::routine<"leap", kr::on_device, kr::reads<kr::past<phi, 1>, kr::owned<kr::past<phi, 2>>>, kr::writes<phi>>,
        no_body {};
  struct probe : kr::routine<"probe", kr::on_host, kr::reads<kr::rim<phi>>>, no_body {};
  struct step : kr::schedule<kr::cycle<phi>, leap, kr::exchange<phi>, kr::every<5, probe>> {};
  static void drive(auto& player) {
    player.run(initial{});
    for (int k = 0; k < 50; ++k) player.step(step{});
  }
};

struct state : kr::variable<"state", double**> {};
struct stage : kr::variable<"stage", double**> {};
struct k1 : kr::variable<"k1", double**> {};
struct k2 : kr::variable<"k2", double**> {};
/// Method of lines, two stages, and on the host a limiter that changes the rim now and then.
struct method_of_lines {
  using variables = keel::list<state, stage, k1, k2>;
  struct initial : kr::routine<"initial", kr::on_host, kr::writes<kr::everywhere<state>>>, no_body {};
  struct rhs1 : kr::routine<"rhs1", kr::on_device, kr::reads<state>, kr::writes<k1>>, no_body {};
  struct half : kr::routine<"half", kr::on_device, kr::reads<kr::owned<state>, kr::owned<k1>>, kr::writes<stage>>,
                no_body {};
  struct rhs2 : kr::routine<"rhs2", kr::on_device, kr::reads<stage>, kr::writes<k2>>, no_body {};
  struct finish : kr::routine<"finish", kr::on_device, kr::reads<kr::owned<k1>, kr::owned<k2>>, kr::updates<state>>,
                  no_body {};
  struct limiter : kr::routine<"limiter", kr::on_host, kr::updates<kr::rim<state>>>, no_body {};
  struct output : kr::routine<"output", kr::on_host, kr::reads<kr::owned<state>>>, no_body {};
  struct step : kr::schedule<rhs1, half, kr::exchange<stage>, rhs2, finish, kr::every<4, limiter>, kr::exchange<state>,
                             kr::every<8, output>> {};
  static void drive(auto& player) {
    player.run(initial{});
    for (int k = 0; k < 50; ++k) player.step(step{});
  }
};

struct q : kr::variable<"q", double**> {};
struct next : kr::variable<"next", double**> {};
/// Refinement: three components, the finer the more often; flagging on the host, and a patch of the finest that the host made.
struct refinement {
  using variables = keel::list<q, next>;
  static constexpr int components = 3;
  struct initial : kr::routine<"initial", kr::on_host, kr::writes<kr::everywhere<q>>>, no_body {};
  struct advance : kr::routine<"advance", kr::on_device, kr::reads<q>, kr::writes<next>>, no_body {};
  struct accept : kr::routine<"accept", kr::on_device, kr::reads<kr::owned<next>>, kr::writes<q>>, no_body {};
  struct flag : kr::routine<"flag", kr::on_host, kr::reads<kr::owned<q>>>, no_body {};
  struct restrict_
      : kr::routine<"restrict", kr::on_device, kr::reads<kr::owned<q>>, kr::updates<kr::part<next, kr::core>>>,
        no_body {};
  struct patch : kr::routine<"patch", kr::on_host, kr::updates<kr::part<q, kr::core>>>, no_body {};
  static void drive(auto& player) {
    player.run(initial{});
    for (int k = 1; k <= 20; ++k) {
      for (int c = 0; c < components; ++c)
        for (int sub = 0; sub < 1 << c; ++sub) {
          kr::component const which{c};
          player.run(advance{}, which);
          player.run(accept{}, which);
          player.run(kr::exchange<q>{}, which);
        }
      player.run(restrict_{});
      if (k % 4 == 0) player.run(flag{});
      if (k % 5 == 0) player.run(patch{}, kr::component{2}), player.run(kr::exchange<q>{}, kr::component{2});
    }
  }
};

struct temperature : kr::variable<"temperature", double**, kr::levels<2>> {};
struct salt : kr::variable<"salt", double**, kr::levels<2>> {};
struct mean : kr::variable<"mean", double**> {};
/// Output of everything in every step, and an analysis on the host that the device needs.
struct output_heavy {
  using variables = keel::list<temperature, salt, mean>;
  struct initial : kr::routine<"initial", kr::on_host, kr::writes<kr::everywhere<temperature>, kr::everywhere<salt>>>,
                   no_body {};
  struct average : kr::routine<"average", kr::on_host, kr::reads<kr::owned<temperature>>, kr::writes<mean>>, no_body {};
  struct relax
      : kr::routine<"relax", kr::on_device, kr::reads<kr::past<temperature, 1>, kr::past<salt, 1>, kr::owned<mean>>,
                    kr::writes<temperature, salt>>,
        no_body {};
  struct output : kr::routine<"output", kr::on_host, kr::reads<kr::owned<temperature>, kr::owned<salt>>>, no_body {};
  struct step : kr::schedule<kr::every<2, average>, kr::cycle<temperature, salt>, relax,
                             kr::exchange<temperature, salt>, output> {};
  static void drive(auto& player) {
    player.run(initial{});
    player.run(average{});
    for (int k = 0; k < 50; ++k) player.step(step{});
  }
};

struct level : kr::variable<"level", double**, kr::levels<2>> {};
struct source : kr::variable<"source", double**> {};
/// Closed walls all round: a boundary condition on the device, and a gauge on the host that reads it now and then.
template <class Exchange>
struct basin {
  using variables = keel::list<level, source>;
  using exchange = Exchange;
  static constexpr bool wraps = false;
  struct initial : kr::routine<"initial", kr::on_host, kr::writes<kr::everywhere<level>>>, no_body {};
  struct force : kr::routine<"force", kr::on_device, kr::reads<kr::past<level, 1>>, kr::writes<source>>, no_body {};
  struct advance : kr::routine<"advance", kr::on_device, kr::reads<kr::owned<kr::past<level, 1>>, kr::owned<source>>,
                               kr::writes<level>>,
                   no_body {};
  struct reflect : kr::routine<"reflect", kr::on_device, kr::reads<kr::owned<level>>, kr::writes<kr::walls<level>>>,
                   no_body {};
  struct gauge : kr::routine<"gauge", kr::on_host, kr::reads<kr::walls<level>>>, no_body {};
  struct step : kr::schedule<kr::cycle<level>, force, advance, kr::exchange<level>, reflect, kr::every<10, gauge>> {};
  static void drive(auto& player) {
    player.run(initial{});
    for (int k = 0; k < 50; ++k) player.step(step{});
  }
};

} // namespace bench
