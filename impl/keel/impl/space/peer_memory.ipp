// SPDX-License-Identifier: MIT
#include <keel/space/peer_memory.hpp>
#include <keel/policy/error.hpp>
#include <keel/policy/file_limit.hpp>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace keel::space {

namespace detail {

/// Where other processes of the node find a file without a name.
struct file_place {
  pid_t process = -1;
  int descriptor = -1;
  dev_t device = 0;
  ino_t number = 0;

  /// That of a file which this process holds open until it ends.
  explicit file_place(int file) : process(getpid()), descriptor(file) {
    struct stat about{};
    if (fstat(file, &about) == 0) device = about.st_dev, number = about.st_ino;
  }
  explicit file_place(peer_handle const& handle) { std::memcpy(this, &handle.bytes, sizeof *this); }
  /// Opens it; -1, and `errno` has the reason. Processes that number processes otherwise do not find it.
  [[nodiscard]] int open() const {
    auto const path = "/proc/" + std::to_string(process) + "/fd/" + std::to_string(descriptor);
    int const file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (file < 0) return file;
    if (file_place const found(file); found.device == device && found.number == number) return file;
    ::close(file);
    errno = ENOENT;
    return -1;
  }
};

/// Pages of a file without a name, which takes memory as it is written, and ends with the last process that maps it.
struct host_peers {
  static std::string failed() { return std::system_category().message(errno); }
  static void* pages(int file, std::size_t bytes) {
    return mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  }
  static std::string make(std::size_t bytes, void*& at, peer_handle& handle) {
    // The system refuses here what is more than all its memory.
    void* const tried = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (tried == MAP_FAILED) return failed();
    munmap(tried, bytes);
    policy::file_limit_refuses const longer;
    int const file = memfd_create("keel::space::peer", MFD_CLOEXEC);
    if (file < 0) return failed();
    at = ftruncate(file, off_t(bytes)) == 0 ? pages(file, bytes) : MAP_FAILED;
    if (at == MAP_FAILED) {
      std::string why = failed();
      ::close(file);
      return why;
    }
    file_place const place(file); // others open it by its number
    static_assert(sizeof(place) <= sizeof(handle.bytes));
    std::memcpy(handle.bytes.data(), &place, sizeof place);
    return {};
  }
  static std::string map(peer_handle const& handle, void*& at) {
    int const file = file_place(handle).open();
    if (file < 0) return failed();
    at = pages(file, handle.size);
    std::string why = at == MAP_FAILED ? failed() : "";
    ::close(file);
    return why;
  }
  static void unmap(void* at, std::size_t bytes) { munmap(at, bytes); }
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
  auto const is_before = [](chunk const& a, chunk const& b) { return a.at < b.at; };
  free_.insert(std::lower_bound(free_.begin(), free_.end(), one, is_before), one);
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
