// SPDX-License-Identifier: MIT
// Words of listed elements, moved on the host and by the kernel of devices, beside the same words moved one by one.
#include <keel/impl/layout/mesh/mesh_share.hpp>
#include <keel/exchange.hpp>
#include <keel/impl/layout/grid/grid_share.hpp>
#include <keel/impl/exchange/packing.hpp>
#include <keel/layout/grid.hpp>

#include <support/test.hpp>

namespace kr = keel::residency;
namespace kd = keel::residency::detail;

namespace {

constexpr int elements = 11, inner = 3;

/// An array of elements of a mesh, `inner` of so many bytes each.
kd::shape lies_as(bool is_left, int inner_count, int bytes) {
  kd::shape lies;
  lies.rank = 1;
  lies.inner = inner_count;
  lies.stride[0] = is_left ? 1 : inner_count, lies.inner_stride = is_left ? elements : 1;
  lies.element_bytes = bytes, lies.elements = elements * inner_count;
  lies.added_as = bytes % 8 == 0 ? kd::addend::int64 : kd::addend::int32;
  return lies;
}
std::vector<std::uint8_t> numbered(kd::shape const& lies) {
  std::vector<std::uint8_t> bytes(std::size_t(lies.elements * lies.element_bytes));
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = std::uint8_t(7 * i + 3);
  return bytes;
}
/// What the kernel of a device does, by one of its threads after another.
struct team {
  int rank;
  [[nodiscard]] KEEL_FUNCTION int team_rank() const { return rank; }
  KEEL_FUNCTION static void team_barrier() {}
};
template <int Threads>
void run(kd::move_words const& words) {
  for (int rank = 0; rank != Threads; ++rank) words.run<false, Threads>(team{rank}, 0, words.pieces, 1);
}
void move(kd::job const& what, bool by_kernel) {
  if (!by_kernel) return kd::move_on_host(what);
  kd::move_words words;
  CHECK(words.add({&what, 1}) == 1);
  run<64>(words);
}
/// Where the first byte of an element is.
std::size_t place(kd::shape const& lies, int element, int k) {
  return std::size_t((element * lies.stride[0] + k * lies.inner_stride) * lies.element_bytes);
}

} // namespace

TEST_CASE("residency: listed elements are packed, unpacked, copied and poisoned in the order of the list") {
  kd::element_list const list({9, 2, 5, 4, 1, 7, 10, 0});
  kd::index_set const some(list, 0, 4), one(list, 2, 1), none(list, 1, 0);
  for (bool const by_kernel : {false, true})
    for (bool const is_left : {false, true})
      for (int const inner_count : {1, inner})
        for (int const bytes : {1, 4, 8, 16, 24})
          for (kd::index_set const& which : {some, one, none}) {
            CAPTURE(by_kernel);
            CAPTURE(is_left);
            CAPTURE(inner_count);
            CAPTURE(bytes);
            kd::shape const lies = lies_as(is_left, inner_count, bytes);
            auto const before = numbered(lies);
            auto array = before;
            std::vector<std::uint8_t> packed(std::size_t(bytes_of(lies, which)) + 8, 0);
            auto const each = [&](auto const& f) {
              for (int e = 0; e < int(which.end[0]); ++e)
                for (int k = 0; k < inner_count; ++k) f(place(lies, which.numbers()[e], k), e, k);
            };
            auto const n = std::size_t(bytes);
            move(job_of(kd::motion::gather, lies, array.data(), packed.data(), which, which.numbers()), by_kernel);
            CHECK(array == before);
            std::size_t found = 0;
            each([&](std::size_t at, int e, int k) { // elements run faster if they are neighbours in memory
              std::size_t const to = is_left && inner_count > 1 ? std::size_t(k * int(which.end[0]) + e)
                                                                : std::size_t(e * inner_count + k);
              found += std::memcmp(&packed[to * n], &before[at], n) == 0 ? 1 : 0;
            });
            CHECK(found == packed.size() / n - 8 / n);
            move(job_of(kd::motion::poison, lies, array.data(), nullptr, which, which.numbers()), by_kernel);
            auto poisoned = before;
            each([&](std::size_t at, int, int) { std::memset(&poisoned[at], 0xff, n); });
            CHECK(array == poisoned);
            move(job_of(kd::motion::scatter, lies, array.data(), packed.data(), which, which.numbers()), by_kernel);
            CHECK(array == before);
            if (which.end[0] == 4) { // the other half of the list is where words come from
              move(job_of(kd::motion::copy, lies, array.data(), array.data(), which, which.numbers()), by_kernel);
              auto copied = before;
              each([&](std::size_t at, int e, int k) {
                std::memcpy(&copied[at], &before[place(lies, list.all()[std::size_t(4 + e)], k)], n);
              });
              CHECK(array == copied);
              CHECK(kd::digest_on_host(lies, before.data(), which) != kd::digest_on_host(lies, array.data(), which));
            }
            if (bytes < 4) continue;
            auto sum = before;
            move(job_of(kd::motion::add, lies, sum.data(), packed.data(), which, which.numbers()), by_kernel);
            auto wanted = before; // twice
            each([&](std::size_t at, int, int) {
              for (std::size_t w = 0; w < n; w += n % 8 == 0 ? 8 : 4) {
                std::uint64_t x = 0;
                std::memcpy(&x, &before[at + w], n % 8 == 0 ? 8 : 4);
                x *= 2;
                std::memcpy(&wanted[at + w], &x, n % 8 == 0 ? 8 : 4);
              }
            });
            CHECK(sum == wanted);
          }
}

TEST_CASE("residency: pieces that share an element are added in different turns, the others in the first") {
  kd::element_list const list({1, 2, 3, 3, 4, 5, 7, 8, 5, 1});
  auto const part = [&](int component, int first, int count) {
    return kd::segment{component, kd::index_set(list, first, count)};
  };
  kd::decomposition cut;
  cut.partners.push_back(
      {1, {part(0, 0, 3), part(0, 3, 3), part(1, 3, 3), part(0, 6, 2), part(0, 8, 2), part(0, 5, 1)}, {}});
  CHECK(kd::turns_of(cut) == std::vector<int>{0, 1, 0, 0, 2, 0});
}

TEST_CASE("residency: elements move in the longest words that divide them") {
  std::pair<int, int> const words[]{{1, 1}, {2, 1}, {4, 4}, {8, 8}, {9, 1}, {12, 4}, {16, 8}, {18, 1}, {24, 8}};
  for (auto const& pair : words) {
    int const bytes = pair.first;
    CAPTURE(bytes);
    kd::shape lies;
    lies.element_bytes = bytes;
    kd::strip const all = kd::strip_of(lies, {});
    CHECK(all.word_bytes == pair.second);
    CHECK(all.words * all.word_bytes == bytes);
  }
}

TEST_CASE("residency: a kernel moves each word of long and short boxes once") {
  kd::shape lies;
  lies.rank = 1, lies.stride[0] = 1, lies.element_bytes = 8, lies.added_as = kd::addend::int64;
  std::vector<std::int64_t> sum(262144, 1), ones = sum;
  std::vector<kd::job> all;
  for (std::int64_t begin = 0; std::int64_t const end : {200000, 200001, 200300, 262144})
    all.push_back(job_of(kd::motion::add, lies, sum.data(), ones.data(), {{{begin}}, {{end}}})), begin = end;
  kd::move_words words;
  CHECK(words.add(all) == all.size());
  run<1>(words), run<256>(words);
  CHECK(sum == std::vector<std::int64_t>(sum.size(), 3));
  std::copy_n(words.jobs, all.size(), all.begin());
  auto const starts = kd::starts_of(all);
  words.listed = all.data(), words.starts = starts.data();
  run<1>(words), run<64>(words), run<256>(words);
  CHECK(sum == std::vector<std::int64_t>(sum.size(), 6));
}

TEST_CASE("residency: more boxes than a kernel takes are left for the next one") {
  kd::shape lies;
  double element = 0, packed = 0;
  std::vector<kd::job> const all(40, job_of(kd::motion::scatter, lies, &element, &packed, {}));
  kd::move_words words;
  CHECK(words.add(all) == std::size_t{kd::move_words::most});
  CHECK(words.pieces == kd::move_words::most); // one each
}

TEST_CASE("residency: an exchange without neighbours touches nothing") {
  kr::share const s = kr::share_of(kr::grid{{4, 3}, kr::ghost_width{1}}, 1, 0);
  auto const cut = kd::decomposition_of({&s, 1}, 1, 0);
  kd::halo_plan plan;
  kd::shape lies;
  lies.rank = 2;
  lies.stride[0] = s.extents[1], lies.stride[1] = 1;
  lies.element_bytes = 8, lies.elements = s.extents[0] * s.extents[1];
  kd::halo_array const nowhere{&lies, nullptr, &cut, 0};
  kd::packing where;
  plan.lay_out({&nowhere, 1});
  plan.pack({&nowhere, 1}, where);
  plan.unpack({&nowhere, 1}, where);
  CHECK(plan.sends().empty());
  CHECK(kd::bytes_sent(nowhere, kd::combine::replace) == 0);
}

TEST_CASE("residency: room for messages stays where it is until more is wanted") {
  kd::packing where;
  auto* const first = where.out(64);
  CHECK(where.out(64) == first);
  CHECK(where.out(8) == first);
  CHECK(where.in(64) != first);
}
