// SPDX-License-Identifier: MIT
/// @file
/// This machine as a process sees it that a cgroup leaves one hardware thread.
#include <keel/topology/binding.hpp>
#include <keel/topology/node.hpp>

#include <support/test.hpp>

#include <filesystem>
#include <fstream>

#include <sys/wait.h>
#include <unistd.h>

using namespace keel::topology;
namespace fs = std::filesystem;

namespace {

bool write(fs::path const& file, std::string const& text) {
  std::ofstream out{file};
  out << text << std::flush;
  return out.good();
}

/// A group of one hardware thread, and the memories of its parent, until the scope ends; of either form of cgroups.
class one_thread {
public:
  explicit one_thread(int thread) {
    std::string own;
    std::getline(std::ifstream{"/proc/self/cpuset"}, own);
    for (auto const& [root, mems] :
         {std::pair{"/sys/fs/cgroup/cpuset", "cpuset.mems"}, std::pair{"/sys/fs/cgroup", "cpuset.mems.effective"}}) {
      auto const parent = fs::path{root} / fs::path{own}.relative_path();
      std::error_code code;
      if (!fs::exists(parent / mems, code)) continue;
      if (fs::exists(parent / "cgroup.subtree_control", code)) write(parent / "cgroup.subtree_control", "+cpuset");
      auto const made = parent / ("keel-test-" + std::to_string(getpid()));
      if (!fs::create_directory(made, code)) continue;
      path_ = made;
      std::ostringstream memories;
      memories << std::ifstream{parent / mems}.rdbuf();
      if (write(made / "cpuset.cpus", std::to_string(thread)) && write(made / "cpuset.mems", memories.str())) return;
      fs::remove(made, code);
      path_.clear();
    }
  }
  one_thread(one_thread const&) = delete;
  ~one_thread() {
    if (!path_.empty()) rmdir(path_.c_str());
  }
  bool is_there() const { return !path_.empty(); }
  bool enter() const { return write(path_ / "cgroup.procs", std::to_string(getpid())); }

private:
  fs::path path_;
};

/// What is not as it must be, seen from inside; empty where all is.
std::string wrong_inside(int thread, id_set const& all) {
  auto const n = node::here();
  if (n.cores().size() != 1) return std::to_string(n.cores().size()) + " cores";
  if (n.cores()[0].hardware_threads != id_set{thread}) return "threads " + to_string(n.cores()[0].hardware_threads);
  if (n.withheld_hardware_threads() != all - id_set{thread})
    return "withheld " + to_string(n.withheld_hardware_threads());
  if (bound_hardware_threads() != id_set{thread}) return "bound to " + to_string(bound_hardware_threads());
  for (int const ranks : {1, 2, 5})
    for (auto const order : {order::spread, order::compact})
      for (auto const& p : n.place(ranks, {.order = order}))
        if (p.hardware_threads != id_set{thread}) return "a rank on " + to_string(p.hardware_threads);
  try {
    binding const out{n, {.cores = {0}, .hardware_threads = n.withheld_hardware_threads()}};
    return "bound to what is withheld";
  } catch (keel::error const&) {
  }
  return {};
}

} // namespace

TEST_CASE("topology: what a cgroup withholds from this process is listed apart and never handed out") {
  auto const all = bound_hardware_threads();
  auto const outside = node::here();
  if (!outside.is_this_machine() || !outside.withheld_hardware_threads().empty() || all.size() < 2)
    return keel::test::skip("no cgroup can be made: this process is restricted already");
  int const thread = *all.begin();
  one_thread const group{thread};
  pid_t const child = group.is_there() ? fork() : -1;
  if (child == 0) {
    if (!group.enter()) _exit(77);
    auto const wrong = wrong_inside(thread, all);
    if (!wrong.empty()) MESSAGE(wrong);
    _exit(wrong.empty() ? 0 : 1);
  }
  int status = 77 << 8;
  if (child > 0) waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77) return keel::test::skip("no cgroup can be made");
  CHECK(status == 0);
}
