// SPDX-License-Identifier: MIT
// expect: a variable on a mesh lies in a way that only grids have
// errors: 1
#include "meshes.hpp"

struct high : kr::variable<"high", double*, kr::on_mesh<cells>, kr::at<kr::vertex>> {};
constexpr auto levels = high::about.levels;
