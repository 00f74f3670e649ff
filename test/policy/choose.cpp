// SPDX-License-Identifier: MIT
#include <keel/policy/choose.hpp>

#include <support/test.hpp>

namespace {

struct mine {
  static constexpr std::string_view name = "mine";
};
using devices = std::tuple<keel::serial, mine, keel::cuda>;

} // namespace

TEST_CASE("policy: for_each_device visits every device once, in order") {
  std::vector<std::string_view> seen;
  keel::for_each_device<devices>([&]<class Tag>(Tag) { seen.push_back(Tag::name); });
  CHECK(seen == std::vector<std::string_view>{"serial", "mine", "cuda"});
  keel::for_each_device<keel::list<>>([&](auto) { seen.clear(); });
  CHECK(seen.size() == 3);
}

TEST_CASE("policy: with_device calls for the named one and says whether there was one") {
  std::string called;
  auto const note = [&]<class Tag>(Tag) { called += Tag::name; };
  CHECK(keel::with_device<devices>("cuda", note));
  CHECK(keel::with_device<devices>("mine", note));
  CHECK(called == "cudamine");
  CHECK_FALSE(keel::with_device<devices>("hip", note));
  CHECK(keel::with_device<devices>("CuDA", note));
  CHECK_FALSE(keel::with_device<devices>("cud", note));
  CHECK_FALSE(keel::with_device<devices>("", note));
  CHECK(called == "cudaminecuda");
}

TEST_CASE("policy: the choice is made at compile time where the name is known") {
  constexpr int index = [] {
    int at = -1;
    keel::with_device<devices>("mine", [&]<class Tag>(Tag) { at = int(keel::policy::index_of<devices, Tag>); });
    return at;
  }();
  static_assert(index == 1);
  CHECK(index == 1);
  CHECK(keel::policy::names<devices>() == "serial, mine, cuda");
  CHECK(keel::policy::names<keel::list<>>().empty());
}
