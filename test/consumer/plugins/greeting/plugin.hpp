// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A plug-in that needs nothing but its header: it says when it starts.

#include <keel/space/plugins.hpp>

#include <iostream>

struct greeting {
  static constexpr std::string_view name = "greeting";
  static constexpr int order = 60;
  static void initialize(keel::space::settings const&) { std::cout << "greeting starts\n"; }
  static void finalize() { std::cout << "greeting ends\n"; }
  static void fence(std::string const&) {}
  static void print_configuration(std::ostream& out, bool) { out << "greeting\n"; }
};

/// Before main, so that no application has to know of it.
inline bool const greeting_is_enrolled = (keel::space::plugins<greeting>::enroll(), true);
