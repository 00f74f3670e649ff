// SPDX-License-Identifier: MIT
/// @file
/// Loaded before a program with LD_PRELOAD: lets one allocation, or one call that writes a file, fail.
///
/// KEEL_TEST_CALLS names a file of three numbers, which processes that fork share: what fails (1 allocations, 2 files),
/// the number of the call that does, from 1, and how many calls there were so far. With 3 only what goes to plain files
/// counts, because an MPI whose pipes fail waits for ever. glibc alone.

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
}

namespace {

struct shared_numbers {
  std::uint64_t kind, failing;
  std::atomic<std::uint64_t> calls;
};
shared_numbers* numbers = nullptr;

__attribute__((constructor)) void begin() {
  char const* const path = std::getenv("KEEL_TEST_CALLS");
  int const file = path == nullptr ? -1 : ::open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return;
  void* const at = ::mmap(nullptr, sizeof(shared_numbers), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  if (at != MAP_FAILED) numbers = static_cast<shared_numbers*>(at);
}

bool fails(std::uint64_t kind, int code) {
  if (numbers == nullptr || numbers->kind != kind || ++numbers->calls != numbers->failing) return false;
  errno = code;
  return true;
}

/// The same for what a file is written with; `file` is below zero where it is known by name.
bool file_fails(int code, int file = -1) {
  if (numbers == nullptr || numbers->kind < 2) return false;
  struct stat about {};
  if (numbers->kind == 3 && file >= 0 && (fstat(file, &about) != 0 || !S_ISREG(about.st_mode))) return false;
  return fails(numbers->kind, code);
}

template <class F>
F* next(char const* name) {
  return reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
}

} // namespace

extern "C" {
void* malloc(std::size_t size) { return fails(1, ENOMEM) ? nullptr : __libc_malloc(size); }
void* calloc(std::size_t count, std::size_t size) { return fails(1, ENOMEM) ? nullptr : __libc_calloc(count, size); }
void* realloc(void* at, std::size_t size) { return fails(1, ENOMEM) ? nullptr : __libc_realloc(at, size); }
void* aligned_alloc(std::size_t by, std::size_t size) { return fails(1, ENOMEM) ? nullptr : __libc_memalign(by, size); }
int posix_memalign(void** to, std::size_t by, std::size_t size) {
  if (fails(1, ENOMEM)) return ENOMEM;
  *to = __libc_memalign(by, size);
  return *to == nullptr ? ENOMEM : 0;
}

ssize_t write(int file, void const* bytes, std::size_t count) {
  return file_fails(ENOSPC, file) ? -1 : next<ssize_t(int, void const*, std::size_t)>("write")(file, bytes, count);
}
int fsync(int file) { return file_fails(EIO, file) ? -1 : next<int(int)>("fsync")(file); }
int linkat(int a, char const* from, int b, char const* to, int flags) {
  return file_fails(EIO) ? -1 : next<int(int, char const*, int, char const*, int)>("linkat")(a, from, b, to, flags);
}
int rename(char const* from, char const* to) {
  return file_fails(EIO) ? -1 : next<int(char const*, char const*)>("rename")(from, to);
}
}
