// SPDX-License-Identifier: MIT
/// @file
/// What is read of the folders in which Linux describes memories.
#include <keel/impl/topology/memories.hpp>
#include <keel/topology/nway.hpp>

#include <space/in_child.hpp>
#include <support/folder.hpp>
#include <support/refused_call.hpp>
#include <support/test.hpp>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <new>

#include <sys/syscall.h>
#include <unistd.h>

namespace detail = keel::topology::detail;

TEST_CASE("topology: a folder that cannot be read has no names, but a lack of memory is an error") {
  keel::test::folder const f("keel-names-test");
  std::ofstream{f.path / "a"};
  std::ofstream{f.path / "b"};
  auto const names_in = [](std::string const& folder) {
    std::set<std::string> names;
    detail::for_each_name(folder, [&](std::string_view name) { names.emplace(name); });
    return names;
  };
  CHECK(names_in(f.path) == std::set<std::string>{".", "..", "a", "b"});
  CHECK(names_in(f.path / "none").empty());
  bool thrown = false;
  bool const filtered = keel::test::with_refused_argument(SYS_openat, 0, 0, ~0U, ENOMEM, [&] {
    try {
      (void)names_in(f.path);
    } catch (std::bad_alloc const&) {
      thrown = true;
    }
  });
  if (!filtered) return keel::test::skip("no seccomp filters");
  CHECK(thrown);
}

TEST_CASE("topology: a memory begins where the lowest of its blocks does") {
  if (geteuid() != 0) return keel::test::skip("not root: /sys cannot be another folder");
  keel::test::folder const f("keel-blocks-test"); // becomes the root of a child
  auto const system = f.path / "sys/devices/system";
  std::filesystem::create_directories(system / "memory");
  std::ofstream{system / "memory/block_size_bytes"} << "8000000\n"; // hexadecimal
  for (char const* node : {"node/node0", "node/node3"})
    for (char const* name : {"memory20", "memory12", "memory130", "memory", "memory_failure", "cpu1"})
      std::filesystem::create_directories(system / node / name);
  auto const child = keel::test::in_child([&] {
    if (chroot(f.path.c_str()) != 0) return 77;
    if (detail::base_address(4).has_value()) return 1;
    if (detail::base_address(3) != 12 * 0x8000000ULL) return 2;
    keel::nway::use(keel::topology::node::here());
    keel::nway::mem_info info{};
    if (keel::nway::get_mem_info(0, &info) != keel::nway::NWAY_SUCCESS) return 3;
    return info.base_addr == reinterpret_cast<void*>(std::uintptr_t{12 * 0x8000000ULL}) ? 0 : 4;
  });
  if (child.status == 77) return keel::test::skip("not root: /sys cannot be another folder");
  CHECK(child.status == 0);
}
