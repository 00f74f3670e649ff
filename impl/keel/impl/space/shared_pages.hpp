// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Memory that several processes of a node map, each after a page of its own.

#include <keel/policy/file_limit.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string>
#include <utility>

namespace keel::space::detail {

/// An open file; closed at the end. -1 if there is none.
class open_file {
public:
  explicit open_file(int descriptor = -1) : descriptor_(descriptor) {}
  open_file(open_file&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  open_file& operator=(open_file&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~open_file() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  [[nodiscard]] int get() const { return descriptor_; }
  /// Until the process ends.
  void leave_open() { descriptor_ = -1; }

private:
  int descriptor_;
};

/// Where other processes of the node find a file without a name; bytes travel as they lie.
struct file_place {
  pid_t process = -1; ///< -1 if the file could not be made
  int descriptor = -1;
  dev_t device = 0;
  ino_t number = 0;

  /// The place of a file that this process holds open.
  [[nodiscard]] static file_place of(open_file const& file) {
    struct stat about{};
    if (fstat(file.get(), &about) != 0) return {};
    return {getpid(), file.get(), about.st_dev, about.st_ino};
  }
  /// Opens that file here. Without one, `errno` is the reason; processes with other numbers do not find it.
  [[nodiscard]] open_file open() const {
    auto const path = "/proc/" + std::to_string(process) + "/fd/" + std::to_string(descriptor);
    open_file file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    if (file.get() < 0) return file;
    if (auto const found = of(file); found.device == device && found.number == number) return file;
    file = open_file();
    errno = ENOENT;
    return file;
  }
};

/// One page of this process's own, then pages of a file. What lies `ahead` bytes before the file's first byte is
/// the pointer that is given out. Every function returns 0 or the number of an error.
class shared_pages {
public:
  shared_pages(std::size_t bytes, std::size_t ahead)
      : ahead_(ahead), shared_(bytes > ahead ? (bytes - ahead + page() - 1) / page() * page() : 0) {}
  shared_pages(shared_pages const&) = delete;
  ~shared_pages() {
    if (at_ != nullptr) munmap(at_, page() + shared_);
  }

  /// Takes the addresses. The system refuses here what is more than all its memory.
  [[nodiscard]] int reserve() {
    void* const at = mmap(nullptr, page() + shared_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) return errno;
    at_ = static_cast<std::byte*>(at);
    return 0;
  }
  /// A file that is large enough. It takes memory as it is written, and ends with the last process that maps it.
  [[nodiscard]] int create(open_file& file) const {
    file = open_file(memfd_create("keel::space::shared", MFD_CLOEXEC));
    policy::file_limit_refuses const longer;
    return file.get() < 0 || ftruncate(file.get(), static_cast<off_t>(shared_)) != 0 ? errno : 0;
  }
  [[nodiscard]] int map(open_file const& file) {
    if (file.get() < 0) return errno;
    if (shared_ == 0) return 0;
    void* const at = mmap(at_ + page(), shared_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file.get(), 0);
    return at == MAP_FAILED ? errno : 0;
  }

  /// The pointer to give out; `take_back` ends what it stands for.
  [[nodiscard]] void* give() { return std::exchange(at_, nullptr) + page() - ahead_; }
  void take_back(void* pointer) { at_ = static_cast<std::byte*>(pointer) + ahead_ - page(); }

private:
  static std::size_t page() {
    static auto const bytes = std::size_t(sysconf(_SC_PAGESIZE));
    return bytes;
  }
  std::size_t ahead_;
  std::size_t shared_;
  std::byte* at_ = nullptr;
};

} // namespace keel::space::detail
