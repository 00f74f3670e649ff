// SPDX-License-Identifier: MIT
/// @file
/// Mutations of the saved machines against the reader of hwloc: fuzz SEED COUNT FILE...
///
/// Whatever comes out is a node or a keel::error. Works in children, so that what dies is counted,
/// with the mutation that did it, and the next goes on. Exit code: 0 where nothing died.

#include <keel/topology/node.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <hwloc.h>

namespace {

using text = std::string;

/// Random numbers that cost nothing to seed (splitmix64, S. Vigna).
class random_numbers {
public:
  explicit random_numbers(std::uint64_t seed) : state_(seed) {}
  std::uint64_t operator()() {
    auto z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

private:
  std::uint64_t state_;
};

/// One to four changes: bytes, numbers, whole attributes, lines and elements moved, doubled or dropped.
text mutated(std::vector<text> const& seeds, random_numbers& random) {
  auto const below = [&](std::size_t n) { return n == 0 ? 0 : std::size_t(random() % n); };
  auto made = seeds[below(seeds.size())];
  auto const line_at = [&](std::size_t at) {
    auto const first = made.rfind('\n', at) == made.npos ? 0 : made.rfind('\n', at) + 1;
    auto const end = made.find('\n', at);
    return std::pair{first, (end == made.npos ? made.size() : end + 1) - first};
  };
  static char const* const tokens[]{"0x0",    "0xffffffff", "0xf...f", "-1",       "4294967295", "99999999999999999999",
                                    "PU",     "NUMANode",   "Machine", "Core",     "Group",      "Misc",
                                    "Bridge", "PCIDev",     "OSDev",   "L1Cache",  "MemCache",   "Die",
                                    "",       "0x00000001", "0",       "1",        "2",          "0000:00:00.0",
                                    "\"",     "/>",         ">",       "<object ", "</object>",  "&amp;",
                                    "\x80"};
  for (auto changes = 1 + below(4); changes > 0 && !made.empty(); --changes) {
    auto const at = below(made.size());
    switch (below(8)) {
    case 0: made[at] = char(random()); break;
    case 1: made.erase(at, 1 + below(40)); break;
    case 2: made.insert(at, tokens[below(std::size(tokens))]); break;
    case 3: { // a value
      auto const open = made.find('"', at), close = open == made.npos ? open : made.find('"', open + 1);
      if (close != made.npos) made.replace(open + 1, close - open - 1, tokens[below(std::size(tokens))]);
      break;
    }
    case 4: { // a line twice, somewhere
      auto const [first, size] = line_at(at);
      auto const line = made.substr(first, size);
      made.insert(line_at(below(made.size())).first, line);
      break;
    }
    case 5: { // without a line
      auto const [first, size] = line_at(at);
      made.erase(first, size);
      break;
    }
    case 6: { // a value from elsewhere
      auto const open = made.find('"', at), close = open == made.npos ? open : made.find('"', open + 1);
      auto const from = made.find("=\"", below(made.size())), to = from == made.npos ? from : made.find('"', from + 2);
      if (close != made.npos && to != made.npos)
        made.replace(open + 1, close - open - 1, made.substr(from + 2, to - from - 2));
      break;
    }
    default: { // one digit
      auto const digit = made.find_first_of("0123456789abcdef", at);
      if (digit != made.npos) made[digit] = "0123456789abcdef"[below(16)];
    }
    }
  }
  return made;
}

struct progress {
  std::uint64_t done, accepted, refused;
};

} // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  auto const seed = std::strtoull(argv[1], nullptr, 10), count = std::strtoull(argv[2], nullptr, 10);
  std::vector<text> seeds;
  for (int i = 3; i < argc; ++i) {
    std::ifstream file{argv[i]};
    seeds.emplace_back(std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{});
  }
  setenv("HWLOC_HIDE_ERRORS", "2", 1);
  auto* const now = static_cast<progress*>(
      mmap(nullptr, sizeof(progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  hwloc_topology_t keeps_plugins_loaded = nullptr; // else every node loads them anew
  hwloc_topology_init(&keeps_plugins_loaded);
  std::uint64_t died = 0;
  while (now->done < count) {
    pid_t const child = fork();
    if (child == 0) {
      while (now->done < count) {
        auto const which = now->done++;
        random_numbers random{(seed << 40) + which};
        alarm(10);
        try {
          auto const node = keel::topology::node::from_xml_text(mutated(seeds, random));
          if (node.place(3).size() != 3) std::abort();
          ++now->accepted;
        } catch (keel::error const&) {
          ++now->refused;
        }
      }
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
    ++died;
    std::fprintf(stderr, "fuzz: seed %llu, mutation %llu: %s\n", static_cast<unsigned long long>(seed),
                 static_cast<unsigned long long>(now->done - 1),
                 WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "an exit");
    if (char const* const folder = std::getenv("FUZZ_KEEP"); folder != nullptr) {
      random_numbers random{(seed << 40) + now->done - 1};
      std::ofstream{text{folder} + "/" + std::to_string(now->done - 1) + ".xml"} << mutated(seeds, random);
    }
  }
  hwloc_topology_destroy(keeps_plugins_loaded);
  std::printf("fuzz: %llu mutations, %llu nodes, %llu refused, %llu died\n", static_cast<unsigned long long>(count),
              static_cast<unsigned long long>(now->accepted), static_cast<unsigned long long>(now->refused),
              static_cast<unsigned long long>(died));
  return died == 0 ? 0 : 1;
}
