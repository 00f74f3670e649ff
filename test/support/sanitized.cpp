// SPDX-License-Identifier: MIT
/// @file
/// For programs of tests under a sanitizer: oneTBB before 2022 loads its binding library with RTLD_DEEPBIND, which
/// sanitizers refuse, because the library would have an allocator of its own. It is loaded without. And in the child of
/// a fork no leak is looked for: it leaves to its parent what the parent's threads hold. HDF5 (1.10)
/// loses some memory where a file is damaged.

#include <dlfcn.h>
#include <pthread.h>

extern "C" void* __interceptor_dlopen(char const* file, int mode);
extern "C" void* dlopen(char const* file, int mode) noexcept {
  return __interceptor_dlopen(file, mode & ~RTLD_DEEPBIND);
}

namespace {

int is_child = 0;
[[maybe_unused]] int const registered = pthread_atfork(nullptr, nullptr, [] { is_child = 1; });

} // namespace

/// Asked by LeakSanitizer when the process ends.
extern "C" int __lsan_is_turned_off() { return is_child; }
extern "C" char const* __lsan_default_suppressions() { return "leak:libhdf5"; }
