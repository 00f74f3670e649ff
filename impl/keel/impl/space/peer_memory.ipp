// SPDX-License-Identifier: MIT
#include <keel/space/peer_memory.hpp>
#include <keel/impl/space/shared_pages.hpp>
#include <keel/policy/error.hpp>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <system_error>

namespace keel::space {

namespace detail {

/// Pages of a file without a name.
struct host_peers {
  static std::string failed(int error) { return std::system_category().message(error); }
  static std::string make(std::size_t bytes, void*& at, peer_handle& handle) {
    shared_pages pages(bytes, 0);
    open_file file;
    if (int const error = pages.reserve(); error != 0) return failed(error);
    if (int const error = pages.create(file); error != 0) return failed(error);
    if (int const error = pages.map(file); error != 0) return failed(error);
    file_place const place = file_place::of(file);
    static_assert(sizeof(place) <= sizeof(handle.bytes));
    std::memcpy(handle.bytes.data(), &place, sizeof place);
    at = pages.give();
    file.leave_open(); // others open it by its number
    return {};
  }
  static std::string map(peer_handle const& handle, void*& at) {
    file_place place;
    std::memcpy(&place, handle.bytes.data(), sizeof place);
    open_file const file = place.open();
    if (file.get() < 0) return failed(errno);
    shared_pages pages(handle.size, 0);
    if (int const error = pages.reserve(); error != 0) return failed(error);
    if (int const error = pages.map(file); error != 0) return failed(error);
    at = pages.give();
    return {};
  }
  static void unmap(void* at, std::size_t bytes) { shared_pages(bytes, 0).take_back(at); }
  static constexpr peer_kind all{"host", &make, &map, &unmap, nullptr};
};

} // namespace detail

KEEL_INLINE peer_memory& peer_memory::of_host() {
  static peer_memory all(detail::host_peers::all);
  return all;
}

KEEL_INLINE std::size_t peer_memory::rounded(std::size_t bytes) {
  return bytes < slab_bytes ? std::max(std::bit_ceil(bytes), std::size_t{256})
                            : (bytes + slab_bytes - 1) / slab_bytes * slab_bytes;
}

KEEL_INLINE peer_memory::chunk peer_memory::take(std::size_t bytes) {
  std::scoped_lock const lock(mutex_);
  bytes = rounded(bytes);
  auto const same = std::find_if(free_.begin(), free_.end(), [&](chunk const& p) { return p.bytes == bytes; });
  if (same != free_.end()) {
    chunk const found = *same;
    free_.erase(same);
    return found;
  }
  if (slabs_.empty() || slabs_.back().handle.size - slabs_.back().used < bytes) {
    slab made{};
    void* at = nullptr;
    made.handle.size = std::max(bytes, slab_bytes);
    if (std::string const why = how_->make(made.handle.size, at, made.handle); !why.empty())
      throw out_of_memory_error("residency::peer",
                                std::to_string(made.handle.size) + " bytes for messages cannot be had", why,
                                "Take another transport");
    made.at = static_cast<std::byte*>(at);
    slabs_.push_back(made);
  }
  slab& from = slabs_.back();
  chunk const made{from.at + from.used, bytes, from.handle, from.used};
  from.used += bytes;
  return made;
}

KEEL_INLINE void peer_memory::give_back(chunk const& one) {
  std::scoped_lock const lock(mutex_);
  free_.push_back(one);
}

KEEL_INLINE std::byte* peer_memory::map(peer_handle const& handle, std::uint64_t offset, std::string& why) {
  std::scoped_lock const lock(mutex_);
  for (auto const* const known : {&mapped_, &slabs_}) // a rank that exchanges with itself has its own
    for (slab const& s : *known)
      if (s.handle == handle) return s.at + offset;
  void* at = nullptr;
  why = how_->map(handle, at);
  if (!why.empty()) return nullptr;
  mapped_.push_back({static_cast<std::byte*>(at), handle});
  return mapped_.back().at + offset;
}

KEEL_INLINE void peer_memory::close() {
  std::scoped_lock const lock(mutex_);
  for (slab const& s : mapped_) how_->unmap(s.at, s.handle.size);
  for (slab const& s : slabs_)
    if (how_->free != nullptr) how_->free(s.at);
    else how_->unmap(s.at, s.handle.size);
  mapped_.clear(), slabs_.clear(), free_.clear();
}

} // namespace keel::space
