// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The calls of the system that the writer of a file makes, as a table, so that tests can make each of them fail.

#include <cstddef>
#include <cstdio>

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

namespace keel::residency::detail {

/// Each sets errno, as the system's own.
struct file_calls {
  int (*open)(char const* path, int flags) = [](char const* path, int flags) { return ::open(path, flags); };
  ssize_t (*pwrite)(int, void const*, std::size_t, off_t) = ::pwrite;
  int (*fsync)(int) = ::fsync;
  int (*rename)(char const* from, char const* to) = ::rename;
  int (*link)(char const* from, char const* to) = ::link;
  int (*unlink)(char const* path) = ::unlink;
};

inline constexpr file_calls system_calls = {};

} // namespace keel::residency::detail
