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

/// Numbers out of the bytes; zeros after their end.
class input {
public:
  input(std::uint8_t const* data, std::size_t size) : at_(data), end_(data + size) {}
  [[nodiscard]] bool is_empty() const { return at_ == end_; }
  int operator()(int n) { return at_ == end_ ? 0 : int(*at_++) % n; }

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
  auto const below = [&](int n) { return from(n); };
  int const memories = 1 + below(4), count = 1 + below(4);
  std::vector<oracle::variable> variables;
  for (int v = 0; v < count; ++v) {
    oracle::variable one{1 + below(3), {}};
    for (auto& bytes : one.bytes) bytes = std::uint64_t(below(4)) * 7; // often none
    variables.push_back(one);
  }
  test::trial t(memories, variables, below(2) != 0);
  t.begins = test::trial::early(below(3));
  while (!from.is_empty()) require(t.play(below), "an operation");
  require(t.settle(), "a kernel on a device");
  require(t.begins == test::trial::early::any || t.is_minimal(), "more bytes than necessary");
  return 0;
}
