// SPDX-License-Identifier: MIT
/// @file
/// For programs of tests under a sanitizer: oneTBB before 2022 loads its binding library with RTLD_DEEPBIND, which
/// sanitizers refuse, because the library would have an allocator of its own. It is loaded without.

#include <dlfcn.h>

extern "C" void* __interceptor_dlopen(char const* file, int mode);
extern "C" void* dlopen(char const* file, int mode) noexcept {
  return __interceptor_dlopen(file, mode & ~RTLD_DEEPBIND);
}
