// SPDX-License-Identifier: MIT
#include <keel/device/read.hpp>

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace {

/// A command line that can be changed like main's.
struct arguments {
  explicit arguments(std::vector<std::string> words) : words_(std::move(words)) {
    for (auto& w : words_) pointers_.push_back(w.data());
    pointers_.push_back(nullptr);
    count = static_cast<int>(words_.size());
  }
  char** data() { return pointers_.data(); }
  std::vector<std::string> left() const {
    std::vector<std::string> all;
    for (int i = 0; i < count; ++i) all.emplace_back(pointers_[static_cast<std::size_t>(i)]);
    return all;
  }
  bool ends_with_null() const { return pointers_[static_cast<std::size_t>(count)] == nullptr; }
  int count;

private:
  std::vector<std::string> words_;
  std::vector<char*> pointers_;
};

using words = std::vector<std::string>;
using keel::device::knob;

std::string refusal(words all) {
  arguments a{all};
  try {
    static_cast<void>(keel::device::take_arguments("keel", a.count, a.data()));
    return "accepted";
  } catch (keel::error const& e) {
    CHECK(a.left() == all);
    return e.what();
  }
}

} // namespace

TEST_CASE("device: only keel's and Kokkos' options leave the command line") {
  arguments a{{"app", "in.txt", "--keel-num-threads", "4", "-v", "--keel-device=cuda", "--kokkos-print-configuration",
               "--keel", "--keel-help", "out.txt"}};
  auto const taken = keel::device::take_arguments("keel", a.count, a.data());
  CHECK(a.left() == words{"app", "in.txt", "-v", "--keel", "out.txt"});
  CHECK(a.ends_with_null());
  REQUIRE(taken.knobs.size() == 3);
  CHECK(taken.knobs[0].id == knob::threads);
  CHECK(taken.knobs[0].text == "4");
  CHECK(taken.knobs[0].where == "--keel-num-threads");
  CHECK(taken.knobs[0].from == keel::device::source::command_line);
  CHECK(taken.knobs[1].id == knob::device);
  CHECK(taken.knobs[1].text == "cuda");
  CHECK(taken.knobs[2].id == knob::help);
  CHECK(taken.for_kokkos == words{"--kokkos-print-configuration"});
}

TEST_CASE("device: two dashes end the reading and stay") {
  arguments a{{"app", "--keel-num-threads=2", "--", "--keel-num-threads=3", "--kokkos-threads=4"}};
  auto const taken = keel::device::take_arguments("keel", a.count, a.data());
  CHECK(taken.knobs.size() == 1);
  CHECK(taken.for_kokkos.empty());
  CHECK(a.left() == words{"app", "--", "--keel-num-threads=3", "--kokkos-threads=4"});
  CHECK(a.ends_with_null());
}

TEST_CASE("device: an empty command line and one without options are left alone") {
  arguments none{{}};
  CHECK(keel::device::take_arguments("keel", none.count, none.data()).knobs.empty());
  CHECK(none.count == 0);
  arguments a{{"app", "x"}};
  CHECK(keel::device::take_arguments("keel", a.count, a.data()).knobs.empty());
  CHECK(a.left() == words{"app", "x"});
  CHECK(a.ends_with_null());
}

TEST_CASE("device: the policy's prefix makes the names") {
  arguments a{{"app", "--my-app-num-threads=2", "--keel-num-threads=3"}};
  auto const taken = keel::device::take_arguments("my-app", a.count, a.data());
  CHECK(taken.knobs.size() == 1);
  CHECK(a.left() == words{"app", "--keel-num-threads=3"});
  CHECK(keel::device::variable_prefix("my-app") == "MY_APP_");
}

TEST_CASE("device: a value may be written apart, be empty, or look like an option") {
  arguments a{{"app", "--keel-device", "--keel-device", "--keel-num-threads="}};
  auto const taken = keel::device::take_arguments("keel", a.count, a.data());
  REQUIRE(taken.knobs.size() == 2);
  CHECK(taken.knobs[0].text == "--keel-device");
  CHECK(taken.knobs[1].text.empty());
}

TEST_CASE("device: a wrong option is an error that leaves the command line as it was") {
  CHECK(refusal({"app", "--keel-num-thread=4", "x"}) ==
        "keel::device: unknown option --keel-num-thread (no knob has this name). Did you mean --keel-num-threads?");
  CHECK(refusal({"app", "--keel-device=cuda", "--keel-"}).find("unknown option --keel-") != std::string::npos);
  CHECK(refusal({"app", "--keel-num-threads"}) ==
        "keel::device: --keel-num-threads has no value (it is the last argument). Write --keel-num-threads=N?");
  CHECK(refusal({"app", "--keel-help=yes"}).find("is a switch") != std::string::npos);
}

TEST_CASE("device: the environment is read by name, an empty value counts") {
  setenv("READTEST_NUM_THREADS", "3", 1);
  setenv("READTEST_DEVICE", "", 1);
  auto const found = keel::device::read_environment("readtest");
  unsetenv("READTEST_NUM_THREADS");
  unsetenv("READTEST_DEVICE");
  REQUIRE(found.size() == 2);
  CHECK(found[0].id == knob::threads);
  CHECK(found[0].text == "3");
  CHECK(found[0].where == "READTEST_NUM_THREADS");
  CHECK(found[0].from == keel::device::source::environment);
  CHECK(found[1].text.empty());
  CHECK(keel::device::read_environment("readtest").empty());
}

TEST_CASE("device: the help names every option and every variable") {
  std::string const help = keel::device::help_text("app");
  for (auto const& k : keel::device::all_knobs) {
    CHECK(help.find("--app-" + std::string{k.option}) != std::string::npos);
    CHECK(help.find("[APP_" + std::string{k.variable} + "]") != std::string::npos);
  }
}
