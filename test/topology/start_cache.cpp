// SPDX-License-Identifier: MIT
/// @file
/// What `node::here(folder)` keeps, and what it never uses: damaged, stale, foreign, or of anybody's making.
#include <keel/impl/topology/place.hpp>
#include <keel/impl/topology/start_cache.hpp>
#include <keel/topology/affinity.hpp>
#include <keel/topology/node.hpp>

#include <support/folder.hpp>
#include <support/skip.hpp>

#include "saved.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include <linux/mempolicy.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace keel::topology;
namespace fs = std::filesystem;

namespace {

/// A folder that only this user may write, until the scope ends.
struct folder : keel::test::folder {
  folder() : keel::test::folder("keel-cache-test") { fs::permissions(path, fs::perms::owner_all); }
  std::vector<fs::path> files() const { return {fs::directory_iterator{path}, fs::directory_iterator{}}; }
};

std::string bytes_of(fs::path const& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{}};
}
void write_file(fs::path const& path, std::string const& bytes) {
  std::ofstream{path, std::ios::binary} << bytes;
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
}
std::string message_from(fs::path const& kept_in) {
  try {
    (void)node::here(kept_in);
  } catch (keel::error const& e) {
    return e.what();
  }
  return "nothing was thrown";
}
bool has_text(std::string const& text, std::string_view part) { return text.find(part) != text.npos; }
bool was_kept(node const& n) { return has_text(n.source(), "this machine, as kept in "); }
bool is_fresh(node const& n) { return has_text(n.source(), "this machine, now kept in "); }
std::size_t cores_here() {
  static auto const count = node::here().cores().size();
  return count;
}

/// Another machine than this one, as an inventory: whoever meets it has read what must not be used.
detail::inventory another() { return detail::discovery{detail::from_synthetic("core:7 pu:3", "another")}.take(); }

bool nothing_can_be_kept() {
  auto const why = detail::read_cache_key().why_not;
  if (!why.empty()) keel::test::skip("no count of the system's events, or HWLOC_ variables that name files: " + why);
  return !why.empty();
}

} // namespace

TEST_CASE("topology: an inventory goes through bytes unchanged") {
  for (auto const& file : keel::test::all_machines()) {
    CAPTURE(file);
    auto const all = detail::discovery{detail::from_xml_file(file, "it")}.take();
    auto const bytes = detail::to_bytes(all);
    auto const back = detail::from_bytes(bytes);
    REQUIRE(back.has_value());
    CHECK(detail::to_bytes(*back) == bytes);
    CHECK(back->cores.back().id == int(all.cores.size()) - 1);
    for (std::size_t m = 0; m < all.memories.size(); ++m) CHECK(back->memories[m].id == int(m));
    for (std::size_t d = 0; d < all.devices.size(); ++d) CHECK(back->devices[d].id == int(d));
    CHECK(back->cores_around.within(0, 1).end == all.cores_around.within(0, 1).end);
    for (auto const& c : all.cores)
      for (auto const& m : all.memories) {
        REQUIRE(back->distance_to_memory(c.id, m.id) == all.distance_to_memory(c.id, m.id));
        REQUIRE(back->ways.latencies.at(c.id, m.id) == all.ways.latencies.at(c.id, m.id));
        REQUIRE(back->ways.bandwidths.at(c.id, m.id) == all.ways.bandwidths.at(c.id, m.id));
      }
    CHECK(back->ways.unit == all.ways.unit);
    CHECK(detail::place(*back, 5, {}).back().hardware_threads == detail::place(all, 5, {}).back().hardware_threads);
    for (std::size_t n = 0; n < bytes.size(); n += 1 + bytes.size() / 50)
      CHECK_FALSE(detail::from_bytes(bytes.substr(0, n)).has_value());
    CHECK_FALSE(detail::from_bytes(bytes + '\0').has_value());
  }
}

TEST_CASE("topology: bytes with a type or an id that there is not are refused") {
  auto const good = detail::discovery{detail::from_xml_file(keel::test::own_machine("gpus8_numa4.xml"), "it")}.take();
  auto const taken = [&](auto const& change) {
    auto changed = good;
    change(changed);
    return detail::from_bytes(detail::to_bytes(changed)).has_value();
  };
  auto const with_types = [&](int of_memory, int of_core, int of_device) {
    return taken([&](detail::inventory& all) {
      all.memories.back().type = memory_type(of_memory);
      all.cores.back().type = core_type(of_core);
      all.devices.back().type = device_type(of_device);
    });
  };
  CHECK(with_types(1, 1, 1));
  CHECK(with_types(6, 2, 6));
  for (int const none : {-1, 0, 7}) CHECK_FALSE(with_types(none, 1, 1));
  for (int const none : {-1, 0, 3}) CHECK_FALSE(with_types(1, none, 1));
  for (int const none : {-1, 0, 7}) CHECK_FALSE(with_types(1, 1, none));
  auto const with_thread = [&](int id) {
    return taken([&](detail::inventory& all) { all.cores.back().hardware_threads.insert(id); });
  };
  CHECK(with_thread(detail::xml_index_max - 1));
  CHECK_FALSE(with_thread(detail::xml_index_max));
  auto const with_last_core_at = [&](int place) {
    return taken([&](detail::inventory& all) { all.core_places.back() = place; });
  };
  CHECK(with_last_core_at(good.core_places.back()));
  CHECK_FALSE(with_last_core_at(0)); // the whole machine, in which the core is
  CHECK_FALSE(with_last_core_at(good.core_places.front()));
  auto const with_cache_at = [&](int place) {
    return taken([&](detail::inventory& all) { all.caches.back().back() = place; });
  };
  int const places = good.tree.size();
  for (int const place : {-1, 0, places - 1}) CHECK(with_cache_at(place));
  for (int const place : {-2, places, places + 1}) CHECK_FALSE(with_cache_at(place));
}

TEST_CASE("topology: what is kept is the node that was read") {
  if (nothing_can_be_kept()) return;
  folder const f;
  auto const first = node::here(f.path), second = node::here(f.path), plain = node::here();
  CHECK(is_fresh(first));
  CHECK(was_kept(second));
  CHECK(second.is_this_machine());
  CHECK(plain.source() == "this machine");
  REQUIRE(second.cores().size() == plain.cores().size());
  for (auto const& c : plain.cores()) CHECK(second.cores()[std::size_t(c.id)].hardware_threads == c.hardware_threads);
  CHECK(second.memories()[0].bytes == plain.memories()[0].bytes);
  CHECK(second.memories()[0].base_address == plain.memories()[0].base_address);
  REQUIRE(second.devices().size() == plain.devices().size());
  for (auto const& d : plain.devices()) CHECK(second.devices()[std::size_t(d.id)].name == d.name);
  CHECK(second.withheld_hardware_threads() == plain.withheld_hardware_threads());
  REQUIRE(f.files().size() == 1);
  CHECK((fs::status(f.files()[0]).permissions() & (fs::perms::group_all | fs::perms::others_all)) == fs::perms::none);
}

TEST_CASE("topology: a damaged file is not used but replaced") {
  if (nothing_can_be_kept()) return;
  folder const f;
  (void)node::here(f.path);
  auto const file = f.files().at(0);
  auto const good = bytes_of(file), key = detail::read_cache_key().text;
  REQUIRE(detail::from_cache_file(good, key).first == detail::cache_state::good);
  for (std::size_t at = 0; at < good.size(); ++at) {
    auto bad = good;
    bad[at] = char(bad[at] ^ (1 << at % 8));
    REQUIRE(detail::from_cache_file(bad, key).first == detail::cache_state::damaged);
    REQUIRE(detail::from_cache_file(good.substr(0, at), key).first == detail::cache_state::damaged);
  }
  for (auto const& bad : {std::string{}, std::string{"x"}, good.substr(0, good.size() / 2), good + good}) {
    write_file(file, bad);
    auto const n = node::here(f.path);
    CHECK(n.source().ends_with(", which was damaged"));
    CHECK(n.cores().size() == cores_here());
    CHECK(bytes_of(file) == good);
    CHECK(was_kept(node::here(f.path)));
  }
}

TEST_CASE("topology: what another boot, kernel, cpuset or event left is stale") {
  if (nothing_can_be_kept()) return;
  folder const f;
  (void)node::here(f.path);
  auto const file = f.files().at(0);
  auto const key = detail::read_cache_key().text;
  auto const foreign = detail::to_bytes(another());
  write_file(file, detail::cache_file(key, foreign)); // the test's own trap works: under the right key it would be used
  REQUIRE(node::here(f.path).cores().size() == 7);
  for (std::size_t at = 0; at < key.size(); ++at) {
    auto changed = key;
    changed[at] = changed[at] == '7' ? '8' : '7';
    REQUIRE(detail::from_cache_file(detail::cache_file(changed, foreign), key).first == detail::cache_state::stale);
  }
  CHECK(detail::from_cache_file(detail::cache_file("", ""), key).first == detail::cache_state::stale); // the shortest
  for (auto const& other : {key + '1', key.substr(1), std::string{}}) {
    write_file(file, detail::cache_file(other, foreign));
    auto const n = node::here(f.path);
    CHECK(is_fresh(n));
    CHECK(n.cores().size() == cores_here());
  }
}

TEST_CASE("topology: the key holds boot, kernel, limits and hwloc's variables") {
  if (nothing_can_be_kept()) return;
  auto const key = detail::read_cache_key();
  for (char const* const part :
       {"/proc/sys/kernel/random/boot_id", "/sys/kernel/uevent_seqnum", "/proc/sys/kernel/osrelease"}) {
    std::string words;
    std::getline(std::ifstream{part}, words);
    CHECK_MESSAGE(has_text(key.text, words), part);
  }
  CHECK(has_text(key.text, to_string(bound_hardware_threads()) + '\n'));
  std::error_code code;
  auto const network = fs::read_symlink("/proc/self/ns/net", code).string();
  CHECK(has_text(key.text, network));
  setenv("NO_VARIABLE_OF_HWLOC", "0", 1);
  CHECK(detail::read_cache_key().text == key.text);
  unsetenv("NO_VARIABLE_OF_HWLOC");
  setenv("HWLOC_GROUPING", "0", 1);
  auto const other = detail::read_cache_key();
  unsetenv("HWLOC_GROUPING");
  CHECK(has_text(other.text, "HWLOC_GROUPING=0"));
  CHECK(other.name != key.name);
  setenv("HWLOC_SYNTHETIC", "", 1);
  CHECK(detail::read_cache_key().why_not == "HWLOC_SYNTHETIC says what the node is");
  unsetenv("HWLOC_SYNTHETIC");
  CHECK(detail::limits_of_cpuset().ends_with('\n')); // cores and memories, or the name
  unsigned long mask[64];
  bool const tells = syscall(SYS_get_mempolicy, nullptr, mask, 8 * sizeof mask, nullptr, MPOL_F_MEMS_ALLOWED) == 0;
  auto const memories = detail::allowed_memories();
  CHECK(memories.empty() != tells);
  CHECK_FALSE(memories.ends_with(' '));
  auto const all = bound_hardware_threads();
  if (all.size() < 2) return;
  detail::set_affinity(0, id_set{*all.begin()});
  auto const bound = detail::read_cache_key();
  detail::set_affinity(0, all);
  CHECK(bound.text != key.text);
  CHECK(bound.name != key.name);
}

TEST_CASE("topology: another machine in this one's stead is never kept, nor replaced by what is") {
  folder const f;
  auto const own = keel::test::own_machine("cores96.xml");
  setenv("HWLOC_SYNTHETIC", "package:3 core:5 pu:1", 1);
  for (int again = 0; again < 2; ++again) CHECK(node::here(f.path).cores().size() == 15);
  setenv("HWLOC_THISSYSTEM", "1", 1); // hwloc's word for: take it for this machine
  CHECK(node::here(f.path).source().starts_with("HWLOC_SYNTHETIC="));
  CHECK(f.files().empty());
  unsetenv("HWLOC_THISSYSTEM");
  unsetenv("HWLOC_SYNTHETIC");
  setenv("HWLOC_XMLFILE", own.c_str(), 1);
  for (int again = 0; again < 2; ++again) CHECK(node::here(f.path).cores().size() == 96);
  setenv("HWLOC_XMLFILE", "/no/such/file", 1);
  CHECK(has_text(message_from(f.path), "HWLOC_XMLFILE=/no/such/file cannot be read"));
  unsetenv("HWLOC_XMLFILE");
  CHECK(f.files().empty());
}

TEST_CASE("topology: a folder or file that others may write is refused, and so is what is no file") {
  folder const f;
  CHECK(has_text(message_from(f.path / "none"), "cannot keep the node (No such file or directory)"));
  CHECK(has_text(message_from("/dev/null"), "cannot keep the node (Not a directory)"));
  for (auto const right : {fs::perms::group_write, fs::perms::others_write}) {
    fs::permissions(f.path, fs::perms::owner_all | right);
    CHECK(has_text(message_from(f.path), f.path.string() + " cannot keep the node (others may write it)"));
  }
  fs::permissions(f.path, fs::perms::owner_all);
  if (geteuid() == 0) {
    REQUIRE(chown(f.path.c_str(), 1, 1) == 0);
    CHECK(has_text(message_from(f.path), "(it belongs to another user)"));
    REQUIRE(chown(f.path.c_str(), 0, 0) == 0);
  }
  if (nothing_can_be_kept()) return;
  (void)node::here(f.path);
  auto const file = f.files().at(0);
  fs::permissions(file, fs::perms::others_write, fs::perm_options::add);
  CHECK(has_text(message_from(f.path), file.string() + " cannot keep the node (others may write it)"));
  fs::permissions(file, fs::perms::others_write, fs::perm_options::remove);
  fs::rename(file, f.path / "elsewhere");
  fs::create_symlink(f.path / "elsewhere", file);
  CHECK(has_text(message_from(f.path), "cannot keep the node (Too many levels of symbolic links)"));
  fs::remove(file);
  REQUIRE(mkfifo(file.c_str(), S_IRUSR | S_IWUSR) == 0);
  CHECK(has_text(message_from(f.path), "(it is not a plain file)")); // and nobody waits for a writer
}

TEST_CASE("topology: of a file that is larger than any node nothing is read") {
  folder const f;
  write_file(f.path / "it", "");
  detail::cache_folder const kept{f.path};
  CHECK_FALSE(kept.read("none").has_value());
  CHECK(kept.read("it") == std::string{});
  CHECK(kept.replace("it", "1") == 0);
  CHECK(kept.read("it") == std::string{"1"});
  fs::resize_file(f.path / "it", detail::xml_bytes_max);
  CHECK(kept.read("it").value().size() == detail::xml_bytes_max);
  fs::resize_file(f.path / "it", detail::xml_bytes_max + 1);
  CHECK(kept.read("it") == std::string{});
}

TEST_CASE("topology: of a file that ends before its size only what is there is read") {
  fs::path const file{"/sys/kernel/uevent_seqnum"}; // the system calls it a page long
  if (geteuid() != 0) return keel::test::skip("not root");
  if (!fs::exists(file)) return keel::test::skip("no count of the system's events");
  auto const words = detail::cache_folder{file.parent_path()}.read(file.filename().string());
  REQUIRE(words.has_value());
  CHECK(words->size() < fs::file_size(file));
  CHECK(words->ends_with('\n'));
}

TEST_CASE("topology: where nothing can be written the node is read all the same, and says so") {
  if (nothing_can_be_kept()) return;
  folder const f;
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit const none{0, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &none);
  auto const source = node::here(f.path).source();
  setrlimit(RLIMIT_FSIZE, &before);
  CHECK(has_text(source, "this machine, not kept in "));
  CHECK(source.ends_with(": File too large"));
  CHECK(f.files().empty()); // nor is half a file left
}

TEST_CASE("topology: ranks that start together all have the node, whoever writes") {
  if (nothing_can_be_kept()) return;
  folder const f;
  auto const expected = cores_here();
  std::vector<pid_t> children;
  for (int rank = 0; rank < 6; ++rank)
    if (children.push_back(fork()); children.back() == 0) {
      bool good = true;
      for (int turn = 0; turn < 20; ++turn) {
        good = good && node::here(f.path).cores().size() == expected;
        if (rank % 2 == 0 && turn % 5 == 0)
          for (auto const& file : f.files()) unlink(file.c_str());
      }
      _exit(good ? 0 : 1);
    }
  for (auto const child : children) {
    int status = 1;
    waitpid(child, &status, 0);
    CHECK(status == 0);
  }
  (void)node::here(f.path);
  CHECK(was_kept(node::here(f.path)));
  CHECK(f.files().size() == 1);
}

TEST_CASE("topology: bytes of an enemy's making are refused or a node, never a crash") {
  std::string const good[]{
      detail::to_bytes(detail::discovery{detail::from_synthetic("package:2 numa:2 l3:1 core:2 pu:2", "it")}.take()),
      detail::to_bytes(
          detail::discovery{detail::from_xml_file(keel::test::own_machine("attributes.xml"), "it")}.take())};
  std::mt19937_64 random{23};
  int nodes = 0;
  for (int round = 0; round < 20000; ++round) {
    auto bytes = good[round % 2];
    for (auto changes = 1 + random() % 3; changes > 0; --changes) {
      auto const at = random() % bytes.size();
      switch (random() % 4) {
      case 0: bytes[at] = char(random()); break;
      case 1: bytes[at / 8 * 8] = char(random() % 16); break;
      case 2: bytes.erase(at / 8 * 8, 8); break;
      default: bytes.insert(at / 8 * 8, bytes.substr(random() % bytes.size() / 8 * 8, 8));
      }
    }
    auto const all = detail::from_bytes(bytes);
    if (!all) continue;
    ++nodes;
    for (int const ranks : {1, 3, 40}) REQUIRE(detail::place(*all, ranks, {}).size() == std::size_t(ranks));
    for (auto const& c : all->cores)
      for (auto const& m : all->memories)
        CHECK(all->distance_to_memory(c.id, m.id) >= all->steps_to_memory(c.id, m.id));
    for (auto const& caches : all->caches)
      for (int const at : caches) CHECK((at == -1 || all->tree[at].end_core <= int(all->cores.size())));
  }
  CHECK(nodes > 100); // some changes are only another speed or name
}
