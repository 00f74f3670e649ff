// SPDX-License-Identifier: MIT
/// @file
/// Bytes as a program of a ledger, beside the oracle: every kernel reads what was written last, a read of what nothing
/// wrote is refused, and where no copy was begun early no byte moves that need not.
#include <validity/trial.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

/// Numbers out of the bytes; zeros behind their end.
class input {
public:
  input(std::uint8_t const* data, std::size_t size) : at_(data), end_(data + size) {}
  [[nodiscard]] bool is_empty() const { return at_ == end_; }
  int below(int n) { return at_ == end_ ? 0 : int(*at_++) % n; }
  bool flag() { return below(2) != 0; }
  /// A set of regions.
  unsigned regions() { return unsigned(1 + below(15)); }

private:
  std::uint8_t const* at_;
  std::uint8_t const* end_;
};

void require(bool good, char const* what) {
  if (good) return;
  std::fprintf(stderr, "schedules: %s\n", what);
  std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  input from(data, size);
  int const memories = 1 + from.below(4), count = 1 + from.below(4);
  std::vector<oracle::variable> variables;
  for (int v = 0; v < count; ++v) {
    oracle::variable one{1 + from.below(3), {}};
    for (auto& bytes : one.bytes) bytes = std::uint64_t(from.below(4)) * 7; // often none
    variables.push_back(one);
  }
  test::trial t(memories, variables, from.flag());
  bool begins_early = false;
  while (!from.is_empty()) {
    int const v = from.below(count), levels = variables[std::size_t(v)].levels;
    t.prepares = from.flag();
    switch (from.below(9)) {
    case 0: t.cycle(v); break;
    case 1: t.rewind(v); break;
    case 2: require(t.exchange(v, from.below(levels)), "an exchange"); break;
    case 3:
      if (levels > 1) t.copy_from_past(v);
      break;
    case 4: require(t.copy_back({v}, from.flag()), "output that declares nothing"); break;
    case 5:
      begins_early = true;
      t.begin_to_host(v, from.below(levels), from.regions() & 15U);
      break;
    case 6: require(t.settle(), "a kernel on a device"); break;
    default: {
      std::vector<oracle::access> list;
      for (int k = 0; k < count; ++k) {
        int const how = from.below(4); // nothing, reads, writes, updates
        if (how == 0) continue;
        unsigned const where = from.regions();
        list.push_back({k, from.below(variables[std::size_t(k)].levels), how != 2 ? where : 0, how != 1 ? where : 0});
      }
      require(t.run(from.below(memories), list), "a routine");
    }
    }
  }
  require(t.settle(), "a kernel on a device");
  require(begins_early || t.is_minimal(), "more bytes than necessary");
  return 0;
}
