// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What Python says of a file.

#include <support/folder.hpp>
#include <support/shell.hpp>

#include <filesystem>
#include <fstream>
#include <string>

namespace keel::test {

/// A Python that has h5py, of the user or of the system; empty: there is none.
inline std::string python_with_h5py() {
  for (std::string const one : {"python3", "/usr/bin/python3"})
    if (shell(one + " -c 'import h5py'").code == 0) return one;
  return {};
}

/// What a program prints, whose `f` is this file as h5py opens it; or its error.
inline std::string said_by_h5py(std::string const& python, std::string const& file, std::string const& program) {
  folder const here;
  std::ofstream(here / "program") << "import h5py, sys\nwith h5py.File(sys.argv[1]) as f:\n" << program;
  auto const said = shell(python + " " + (here / "program").string() + " " + file);
  return said.out + said.err;
}

} // namespace keel::test
