// SPDX-License-Identifier: MIT
#include <keel/impl/machine/self_requests.hpp>
#include <keel/policy/error.hpp>

#include <algorithm>
#include <cstring>
#include <string>

namespace keel::machine::detail {

KEEL_INLINE void self_requests::receive(void* to, std::size_t bytes, int tag) { receives_.push_back({to, bytes, tag}); }
KEEL_INLINE void self_requests::send(void const* from, std::size_t bytes, int tag) {
  sends_.push_back({from, bytes, tag});
}
KEEL_INLINE void self_requests::wait() {
  auto const by_tag = [](auto const& a, auto const& b) { return a.tag < b.tag; };
  std::stable_sort(sends_.begin(), sends_.end(), by_tag);
  std::stable_sort(receives_.begin(), receives_.end(), by_tag);
  auto const pairs = [](sent const& s, received const& r) { return s.tag == r.tag && s.bytes == r.bytes; };
  bool const all = std::equal(sends_.begin(), sends_.end(), receives_.begin(), receives_.end(), pairs);
  for (std::size_t i = 0; all && i != sends_.size(); ++i)
    if (sends_[i].bytes != 0) std::memcpy(receives_[i].to, sends_[i].from, sends_[i].bytes);
  auto const counts = std::to_string(sends_.size()) + " sent, " + std::to_string(receives_.size()) + " received";
  sends_.clear();
  receives_.clear();
  if (!all)
    throw error("machine::messages", "a message of this rank to itself has no partner, or one of another length",
                counts, "Give each send a receive of the same tag and size");
}

} // namespace keel::machine::detail
