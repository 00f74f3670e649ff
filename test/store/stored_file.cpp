// SPDX-License-Identifier: MIT
#include <keel/impl/store/read_file.hpp>
#include <keel/impl/store/stored_file.hpp>

#include <store/python.hpp>
#include <support/folder.hpp>
#include <support/test.hpp>

#include <filesystem>
#include <fstream>
#include <random>

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

using namespace keel::residency::detail;
using keel::test::content, keel::test::refuses;
namespace fs = std::filesystem;

namespace {

struct folder : keel::test::folder {
  folder() : keel::test::folder("keel-store") {}
  std::string operator/(char const* name) const { return path / name; }
};

std::vector<std::byte> bytes_of(auto const& values) {
  std::vector<std::byte> bytes(values.size() * sizeof values[0]);
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// Of everything one.
stored_file everything() {
  stored_file all;
  all.attributes = {{"title", std::string("waves")}, {"levels", std::vector<std::int64_t>{2, -3}}};
  all.groups = {{"/VTKHDF", {{"Type", std::string("ImageData")}, {"Version", std::vector<std::int64_t>{1, 0}}}},
                {"/eta", {{"axes", std::vector<std::string>{"x", "latitude", ""}}}}};
  all.datasets = {{.path = "/eta/0",
                   .extents = {3, 4},
                   .attributes = {{"unit", std::string("µm")},
                                  {"scale", std::vector<double>{0.5}},
                                  {"none", std::vector<double>{}}}},
                  {.path = "/eta/empty", .element_bytes = 4, .extents = {7, 0}},
                  {.path = "/ids",
                   .type = stored_type::integer,
                   .extents = {3},
                   .content = bytes_of(std::vector<std::int64_t>{5, -6, 1LL << 60})},
                  {.path = "/mask",
                   .type = stored_type::natural,
                   .element_bytes = 1,
                   .extents = {2},
                   .content = bytes_of(std::vector<std::uint8_t>{1, 255})},
                  {.path = "/pods",
                   .type = stored_type::opaque,
                   .element_bytes = 5,
                   .extents = {2},
                   .content = bytes_of(std::string("abcdefghij"))},
                  {.path = "/x/y/z", .extents = {}, .content = bytes_of(std::vector<double>{2.5})},
                  {.path = "/x/large", .element_bytes = 4, .extents = {100, 1000}}};
  return all;
}

/// Puts bytes into a file, as a rank does.
void put(std::string const& path, std::int64_t offset, std::vector<std::byte> const& bytes) {
  int const file = ::open(path.c_str(), O_WRONLY);
  REQUIRE(::pwrite(file, bytes.data(), bytes.size(), offset) == ssize_t(bytes.size()));
  ::close(file);
}

bool are_same(std::vector<stored_attribute> a, std::vector<stored_attribute> b) {
  for (auto* each : {&a, &b})
    std::sort(each->begin(), each->end(), [](auto const& x, auto const& y) { return x.name < y.name; });
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](auto const& x, auto const& y) { return x.name == y.name && x.value == y.value; });
}

} // namespace

#if KEEL_WITH_HDF5

TEST_CASE("store: a file that is made is read back") {
  folder const here;
  auto made = everything();
  make_file(here / "a", made);
  auto const read = read_file(here / "a", std::vector<std::string_view>{"/ids", "/pods", "/x/y/z", "/x/large", "/no"});
  CHECK(are_same(read.attributes, made.attributes));
  REQUIRE(read.groups.size() == 2);
  for (auto const& one : made.groups)
    for (auto const& other : read.groups) CHECK((other.first != one.first || are_same(one.second, other.second)));
  REQUIRE(read.datasets.size() == made.datasets.size());
  for (auto const& each : made.datasets) {
    auto const* const other = read.dataset(each.path);
    REQUIRE(other != nullptr);
    CHECK(other->type == each.type);
    CHECK(other->element_bytes == each.element_bytes);
    CHECK(other->extents == each.extents);
    CHECK(other->offset == each.offset);
    CHECK((each.offset >= 0) == (each.bytes() != 0));
    CHECK(are_same(each.attributes, other->attributes));
    CHECK((other->content.empty() || other->content == each.content));
  }
  CHECK(read.dataset("/ids")->content == made.dataset("/ids")->content);
  CHECK(read.dataset("/x/y/z")->content.size() == 8);
  CHECK(read.dataset("/mask")->content.empty());
  CHECK(read.dataset("/x/large")->content.empty());
  CHECK(made.dataset("/x/large")->offset % 4096 == 0);
  CHECK(read.dataset("/none") == nullptr);
  CHECK(*attribute_of<std::string>(read.attributes, "title") == "waves");
  CHECK(attribute_of<std::string>(read.attributes, "levels") == nullptr);
}

TEST_CASE("store: h5py reads a file whose bytes were put where they belong") {
  std::string const python = keel::test::python_with_h5py();
  if (python.empty()) return keel::test::skip("no h5py");
  folder const here;
  auto made = everything();
  make_file(here / "a", made);
  std::vector<double> eta(12);
  for (std::size_t i = 0; i < 12; ++i) eta[i] = 0.25 * double(i);
  put(here / "a", made.dataset("/eta/0")->offset, bytes_of(eta));
  CHECK(keel::test::said_by_h5py(python, here / "a", R"(
  e = f['eta/0']
  print(e.shape, e.dtype, float(e[2, 3]), e.attrs['unit'].decode(), *e.attrs['scale'], e.attrs['none'].shape)
  print(*f['ids'], *f['mask'], f['pods'][1].tobytes(), f['x/y/z'][()], f['eta/empty'].shape, f['x/large'].shape)
  v = f['VTKHDF'].attrs
  print(v['Type'].decode(), *v['Version'], *f['eta'].attrs['axes'], f.attrs['title'].decode())
)") == "(3, 4) float64 2.75 µm 0.5 (0,)\n5 -6 1152921504606846976 1 255 b'fghij' 2.5 (7, 0) (100, 1000)\n"
       "ImageData 1 0 b'x' b'latitude' b'' waves\n");
}

TEST_CASE("store: a file that cannot be made is refused, by its name and the reason") {
  folder const here;
  auto some = everything();
  auto const refused = [&](std::string const& path, std::string_view words) {
    return refuses([&] { make_file(path, some); }, words);
  };
  CHECK(refused(here / "none/a", "none/a cannot be made (No such file or directory)"));
  CHECK(refused(here.path, "cannot be made (Is a directory)"));
  std::string const path = here / "a";
  for (auto const& wrong : std::vector<std::pair<void (*)(stored_dataset&), std::string>>{
           {[](stored_dataset& d) { d.path = "/eta/0"; },
            "/eta/0 of the file " + path + " cannot be made (name already exists)"},
           {[](stored_dataset& d) { d.path = "/eta/0/below"; },
            "/eta/0/below of the file " + path + " cannot be made ("},
           {[](stored_dataset& d) { d.extents = {-1}; }, "an extent is negative"},
           {[](stored_dataset& d) { d.extents = {1LL << 40, 1LL << 40}; }, "less than 2^56 bytes"},
           {[](stored_dataset& d) { d.extents = std::vector<std::int64_t>(40, 1); }, "/more of the file"},
           {[](stored_dataset& d) { d.element_bytes = 3; }, "no element has 3 bytes"},
           {[](stored_dataset& d) { d.content.resize(3); }, "its content has 3 bytes, and not 80"},
           {[](stored_dataset& d) { d.attributes.push_back(d.attributes[0]); },
            "the attribute unit of /more of the file"}}) {
    some = everything();
    some.datasets.push_back({.path = "/more", .extents = {10}, .attributes = {{"unit", std::string("m")}}});
    wrong.first(some.datasets.back());
    CHECK(refused(path, wrong.second));
    CHECK_FALSE(fs::exists(path));
  }
  some = everything();
  make_file(path, some);
}

TEST_CASE("store: a file that may not be so long is refused, and can be made afterwards") {
  folder const here;
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit const least{.rlim_cur = 100000, .rlim_max = before.rlim_max};
  auto some = everything();
  setrlimit(RLIMIT_FSIZE, &least);
  bool const is_refused = refuses([&] { make_file(here / "a", some); }, "cannot be made (File too large)");
  setrlimit(RLIMIT_FSIZE, &before);
  CHECK(is_refused);
  CHECK_FALSE(fs::exists(here / "a"));
  make_file(here / "a", some);
  CHECK(read_file(here / "a").datasets.size() == some.datasets.size());
}

TEST_CASE("store: what is not such a file is refused, by its name and the reason") {
  folder const here;
  auto const refused = [&](std::string const& path, std::string_view words) {
    return refuses([&] { static_cast<void>(read_file(path)); }, words);
  };
  CHECK(refused(here / "none", "none cannot be read (No such file or directory)"));
  CHECK(refused(here.path, "cannot be read (it is not a plain file)"));
  std::ofstream(here / "text") << std::string(5000, 'x');
  CHECK(refused(here / "text", "text cannot be read (file signature not found)"));
  std::ofstream(here / "nothing");
  CHECK(refused(here / "nothing", "nothing cannot be read ("));
  std::string const python = keel::test::python_with_h5py();
  if (python.empty()) return keel::test::skip("no h5py");
  for (auto const& wrong : std::vector<std::pair<std::string, std::string>>{
           {"d = f.create_dataset('x', (100, 100), 'f4', chunks=(10, 10))", "/x of the file"},
           {"d = f.create_dataset('x', (100,), 'f4', chunks=(10,), compression='gzip')", "it is chunked, compact"},
           {"d = f.create_dataset('g/x', (100,), '>f8'); d[0] = 1", "they have 8 bytes, the highest first"},
           {"d = f.create_dataset('x', (100,), '>i2'); d[0] = 1", "they have 2 bytes, the highest first"},
           {"d = f.create_dataset('x', (100,), 'f2'); d[0] = 1", "they have 2 bytes)"},
           {"d = f.create_dataset('x', (100,), 'c16'); d[0] = 1", "neither numbers nor opaque bytes"},
           {"d = f.create_dataset('x', (100,), h5py.string_dtype()); d[0] = 'a'", "neither numbers nor opaque bytes"},
           {"d = f.create_dataset('x', (100,), 'f4')", "it was never written"},
           {"d = f.create_dataset('x', (10,), 'f4', external=[('/dev/zero', 0, 40)])", "in other files"},
           {"f['a/b/c'] = f.create_group('a')", "groups are in each other"},
           {"f['a/b'] = f.create_group('a'); f['a/c'] = f['a']", "groups are in each other"}}) {
    std::ofstream(here / "program") << "import h5py\nwith h5py.File('" << here / "h" << "', 'w') as f:\n  "
                                    << wrong.first << '\n';
    auto const done = keel::test::shell(python + " " + here / "program");
    CAPTURE(wrong.first);
    REQUIRE(done.err == "");
    CHECK(refused(here / "h", wrong.second));
  }
  // What others put beside is left out.
  std::ofstream(here / "program") << "import h5py, numpy\nwith h5py.File('" << here / "h"
                                  << "', 'w') as f:\n  f['x'] = numpy.arange(3); f['soft'] = h5py.SoftLink('/x')\n"
                                     "  f['out'] = h5py.ExternalLink('a', '/x'); f['type'] = numpy.dtype('f8')\n"
                                     "  f.attrs['text'] = 'é'; f.attrs['small'] = numpy.int16(7); f.attrs['c'] = 1j\n";
  REQUIRE(keel::test::shell(python + " " + here / "program").err == "");
  auto const read = read_file(here / "h", std::vector<std::string_view>{"/x"});
  REQUIRE(read.datasets.size() == 1);
  CHECK(read.datasets[0].content == bytes_of(std::vector<std::int64_t>{0, 1, 2}));
  CHECK(*attribute_of<std::vector<std::int64_t>>(read.attributes, "small") == std::vector<std::int64_t>{7});
  CHECK(read.attributes.size() == 1);
}

TEST_CASE("store: a file that was cut or changed anywhere is read as it was made, or refused") {
  folder const here;
  auto made = everything();
  make_file(here / "a", made);
  std::string const whole = content(here / "a");
  std::mt19937 random(1);
  int refused = 0;
  auto const is_right = [&](std::string const& bytes) {
    std::ofstream(here / "b", std::ios::binary) << bytes;
    try {
      auto const read = read_file(here / "b", std::vector<std::string_view>{"/ids"});
      for (auto const& each : read.datasets)
        if (each.offset + each.bytes() > std::int64_t(bytes.size())) return false;
    } catch (keel::error const& e) {
      ++refused;
      return std::string(e.what()).find("cannot be read (") != std::string::npos;
    }
    return true;
  };
  for (int n = 0; n < 200; ++n)
    CHECK(is_right(whole.substr(0, n < 100 ? whole.size() * std::size_t(n) / 100 : random() % whole.size())));
  CHECK(refused == 200);
  // All bytes outside arrays are those of HDF5.
  std::vector<std::size_t> places;
  for (std::size_t at = 0; at < whole.size(); ++at)
    if (std::none_of(made.datasets.begin(), made.datasets.end(), [&](auto const& d) {
          return d.offset >= 0 && at >= std::size_t(d.offset) && at < std::size_t(d.offset + d.bytes());
        }))
      if (at < 4096 || whole[at] != 0) places.push_back(at);
  CHECK(places.size() < 20000);
  for (std::size_t const at : places) {
    std::string bytes = whole;
    bytes[at] = char(bytes[at] ^ (random() % 255 + 1));
    CHECK(is_right(bytes));
  }
  MESSAGE(places.size() << " bytes changed, " << refused - 200 << " of the files refused");
}

TEST_CASE("store: a full disk is told when a file is made") {
  folder const here;
  std::string const disk = here / "disk";
  fs::create_directory(disk);
  if (::mount("none", disk.c_str(), "tmpfs", 0, "size=64k") != 0) return keel::test::skip("no tmpfs can be mounted");
  auto some = everything();
  some.datasets.push_back({.path = "/more", .extents = {8000}, .content = std::vector<std::byte>(64000)});
  auto const is_full = [&] {
    return refuses([&] { make_file(disk + "/a", some); }, "cannot be made (No space left on device)") &&
           !fs::exists(disk + "/a");
  };
  bool const has_no_contents = is_full();
  some.datasets.back().content.clear();
  make_file(disk + "/a", some); // its bytes are not on the disk yet
  CHECK(read_file(disk + "/a").datasets.size() == some.datasets.size());
  for (char const name : {'b', 'c', 'd'})
    some.groups.push_back({std::string("/") + name, {{"text", std::string(30000, name)}}});
  CHECK(is_full());
  ::umount(disk.c_str());
  CHECK(has_no_contents);
}

#else

TEST_CASE("store: without HDF5 files are refused, and the option is named") {
  CHECK_FALSE(has_hdf5());
  stored_file some;
  CHECK(refuses([&] { make_file("a", some); }, "configure keel with -Dhdf5=enabled"));
  CHECK(refuses([&] { static_cast<void>(read_file("a")); }, "the file a is one of HDF5"));
  keel::test::skip("no HDF5");
}

#endif
