// SPDX-License-Identifier: MIT
#include <keel/impl/store/frame_list.hpp>
#include <keel/impl/store/stored_file.hpp>
#include <keel/policy/log.hpp>

#include <support/folder.hpp>
#include <support/test.hpp>

#include <filesystem>
#include <fstream>

namespace fs = std::filesystem;
using namespace keel::residency::detail;
using keel::test::content;

namespace {

std::vector<std::string> said;
void note(keel::policy::log_level, std::string_view line) { said.emplace_back(line); }

/// A movie of steps 0 and 20, whose list says so.
struct movie {
  keel::test::folder in{"keel-frame-list"};
  std::string stem = in.path / "movie", path = stem + ".vtkhdf.series";
  frame_list list;

  movie() {
    for (int const step : {0, 20}) list.frames[step] = text_of_frame(stem, step, step / 3.);
    put(text_of(list));
    said.clear();
    keel::policy::set_log_sink(&note);
  }
  ~movie() { keel::policy::set_log_sink(nullptr); }
  void put(std::string const& text) const { std::ofstream{path} << text; }
  [[nodiscard]] frame_list read() const { return read_frame_list(stem); }
};

} // namespace

#if KEEL_COMPILED && __has_include(<nlohmann/json.hpp>) // headers alone do not read it
TEST_CASE("store: a list of frames is JSON, in whatever form, and keeps what others put into it") {
  movie const m;
  CHECK(
      text_of(m.list) ==
      "{\n  \"file-series-version\": \"1.0\",\n  \"files\": [\n    {\"name\": \"movie.000000.vtkhdf\", \"time\": 0},\n"
      "    {\"name\": \"movie.000020.vtkhdf\", \"time\": 6.666666666666667}\n  ]\n}\n");
  CHECK(m.read().frames.size() == 2);
  m.put(R"({"by":["x",{"y":1e3}],"files":[{"time":7,"name":"movie.000020.vtkhdf","colour":"red"},)"
        "\n\n"
        R"({ "name" : "movie\u002e1000000.vtkhdf" , "time" : 1 }, {"name": "movie.face0.000020.vtkhdf"}, 3]})");
  frame_list const found = m.read();
  CHECK(found.frames.size() == 4);
  CHECK(found.frames.at(20) == R"({"time":7,"name":"movie.000020.vtkhdf","colour":"red"})");
  CHECK(found.frames.contains(1000000));
  CHECK(found.others == std::vector<std::string>{R"("by": ["x",{"y":1000.0}])"});
  m.put(text_of(found));
  CHECK(m.read().frames == found.frames);
  CHECK(said.empty());
}
#endif

TEST_CASE("store: what is no list of frames is set aside, and the frames that are there make one") {
  movie m;
  std::string const whole = text_of(m.list);
  for (std::string const& text : {whole.substr(0, whole.size() / 2), std::string("\xff{"), std::string("[]"),
                                  std::string(R"({"files": 3})"), std::string()}) {
    CAPTURE(text);
    m.put(text);
    std::ofstream{m.stem + ".000010.vtkhdf"} << "no frame";
    stored_file frame;
    frame.datasets.push_back({.path = "/VTKHDF/FieldData/time", .extents = {1}, .content = std::vector<std::byte>(8)});
    double const time = 0.5;
    std::memcpy(frame.datasets[0].content.data(), &time, sizeof time);
    if (has_hdf5()) make_file(m.stem + ".000020.vtkhdf", frame);
    frame.datasets[0].path = "/VTKHDF/other";
    if (has_hdf5()) make_file(m.stem + ".000030.vtkhdf", frame);
    said.clear();
    frame_list const found = m.read();
    CHECK(content(m.path + ".broken") == text);
    CHECK_FALSE(fs::exists(m.path));
    REQUIRE(said.size() == 1);
    CHECK(said[0].find(m.path + " is no list of frames that can be read") != std::string::npos);
    if (!has_hdf5()) continue;
    CHECK(found.frames.size() == 2);
    CHECK(found.frames.at(20) == text_of_frame(m.stem, 20, 0.5));
    CHECK(found.frames.at(30) == text_of_frame(m.stem, 30, 30));
    CHECK(m.read().frames == found.frames);      // as where there is no list
    m.list.frames = {{20, found.frames.at(20)}}; // the run ended before it wrote the list
    m.put(text_of(m.list));
    CHECK(m.read().frames.contains(20));
    CHECK(said.size() == 1);
    m.list.frames.clear();
  }
}
