// SPDX-License-Identifier: MIT
// expect: keel::space::plugins: a plug-in has no fence
#include <keel/space.hpp>

struct quiet {
  static constexpr std::string_view name = "quiet";
  static constexpr int order = 10;
  static void initialize(keel::space::settings const&) {}
  static void finalize() {}
  static void print_configuration(std::ostream&, bool) {}
};

int main() { keel::space::plugins<quiet>::enroll(); }
