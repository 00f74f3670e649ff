// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A plug-in that needs a library, which its meson.build finds; the library's flags bring ANSWER.

#include <keel/space/plugins.hpp>

#include <iostream>

struct answer {
  static constexpr std::string_view name = "answer";
  static constexpr int order = 1000;
  static void initialize(keel::space::settings const&) { std::cout << "the answer is " << ANSWER << '\n'; }
  static void finalize() { std::cout << "the answer was " << ANSWER << '\n'; }
  static void fence(std::string const&) {}
  static void print_configuration(std::ostream& out, bool) { out << "answer\n"; }
};

inline bool const answer_is_enrolled = (keel::space::plugins<answer>::enroll(), true);
