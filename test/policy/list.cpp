// SPDX-License-Identifier: MIT
#include <keel/policy/list.hpp>

#include <keel/policy/tags.hpp>

#include <boost/hana/tuple.hpp>
#include <support/test.hpp>

namespace {

/// As VTK-m and its relatives have it.
template <class... Ts>
struct foreign_list {};

template <class Tag>
struct is_host {
  static constexpr bool value = std::same_as<Tag, keel::serial> || std::same_as<Tag, keel::openmp>;
};

using ours = keel::list<keel::serial, keel::cuda>;

} // namespace

TEST_CASE("policy: every variadic list of types becomes a keel::list") {
  namespace kp = keel::policy;
  CHECK(std::same_as<kp::to_list<ours>, ours>);
  CHECK(std::same_as<kp::to_list<std::tuple<keel::serial, keel::cuda>>, ours>);
  CHECK(std::same_as<kp::to_list<foreign_list<keel::serial, keel::cuda> const&>, ours>);
  CHECK(std::same_as<kp::to_list<boost::hana::tuple<keel::serial, keel::cuda>>, ours>);
  CHECK(std::same_as<kp::to_list<decltype(boost::hana::tuple_t<keel::serial, keel::cuda>)>, ours>);
  CHECK(std::same_as<kp::to_list<std::tuple<>>, keel::list<>>);
  CHECK_FALSE(kp::TypeList<int>);
}

TEST_CASE("policy: a list knows what stands in it and where") {
  namespace kp = keel::policy;
  CHECK(kp::contains<ours, keel::cuda>);
  CHECK_FALSE(kp::contains<ours, keel::hip>);
  CHECK(kp::index_of<ours, keel::serial> == 0);
  CHECK(kp::index_of<ours, keel::cuda> == 1);
  CHECK(kp::index_of<ours, keel::hip> == kp::size<ours>);
  CHECK(kp::is_unique<ours>);
  CHECK_FALSE(kp::is_unique<std::tuple<keel::cuda, keel::serial, keel::cuda>>);
}

TEST_CASE("policy: a filter keeps the order and may leave nothing") {
  namespace kp = keel::policy;
  using all = keel::list<keel::openmp, keel::cuda, keel::serial>;
  CHECK(std::same_as<kp::filter<all, is_host>, keel::list<keel::openmp, keel::serial>>);
  CHECK(std::same_as<kp::filter<std::tuple<keel::cuda>, is_host>, keel::list<>>);
  CHECK(std::same_as<kp::filter<keel::list<>, is_host>, keel::list<>>);
}
