// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// This machine's node, kept in a folder from one start to the next.

#include <keel/policy/file_limit.hpp>
#include <keel/impl/topology/bytes.hpp>
#include <keel/impl/topology/cache_key.hpp>
#include <keel/impl/topology/discover.hpp>
#include <keel/policy/error.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

namespace keel::topology::detail {

/// A file of the system's, for the length of a scope.
class descriptor {
public:
  explicit descriptor(int number) noexcept : number_(number) {}
  descriptor(descriptor const&) = delete;
  descriptor& operator=(descriptor const&) = delete;
  ~descriptor() {
    if (number_ >= 0) close(number_);
  }
  [[nodiscard]] operator int() const noexcept { return number_; }

private:
  int number_;
};

/// A folder of this user's that no other user may write. Throws `keel::error` for any other, because a user who
/// writes there decides where this process runs.
class cache_folder {
public:
  explicit cache_folder(std::filesystem::path const& path)
      : path_(path), folder_(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (auto const why = why_not_mine(folder_); !why.empty()) refuse(path_.string(), why);
  }

  /// Why the constructor would throw; else empty.
  [[nodiscard]] static std::string why_not(std::filesystem::path const& path) {
    return why_not_mine(descriptor{open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)});
  }

  /// The bytes of a file; empty if there is none.
  [[nodiscard]] std::optional<std::string> read(std::string const& name) const {
    descriptor const file{openat(folder_, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
    if (file < 0 && errno == ENOENT) return std::nullopt;
    if (auto const why = why_not_mine(file); !why.empty()) refuse(shown(name), why);
    struct stat facts{};
    if (fstat(file, &facts) != 0 || !S_ISREG(facts.st_mode)) refuse(shown(name), "it is not a plain file");
    std::string bytes(facts.st_size > off_t{xml_bytes_max} ? 0 : std::size_t(facts.st_size), '\0');
    std::size_t have = 0;
    for (ssize_t got = 1; have < bytes.size() && got > 0; have += std::size_t(got > 0 ? got : 0))
      got = ::read(file, bytes.data() + have, bytes.size() - have);
    bytes.resize(have);
    return bytes;
  }

  /// Puts a whole file in the place of what has this name, or changes nothing: 0, or errno's code. Others may
  /// do the same at the same time; one of them stays.
  [[nodiscard]] int replace(std::string const& name, std::string_view bytes) const {
    std::uint64_t random = 0;
    if (getrandom(&random, sizeof random, 0) < 0) return errno;
    auto const part = name + '.' + std::to_string(random);
    int code = 0;
    {
      descriptor const file{openat(folder_, part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR)};
      if (file < 0) return errno;
      policy::file_limit_refuses const longer;
      for (auto rest = bytes; !rest.empty() && code == 0;)
        if (auto const put = write(file, rest.data(), rest.size()); put > 0) rest.remove_prefix(std::size_t(put));
        else code = put < 0 ? errno : ENOSPC;
    }
    if (code == 0 && renameat(folder_, part.c_str(), folder_, name.c_str()) != 0) code = errno;
    if (code != 0) unlinkat(folder_, part.c_str(), 0);
    return code;
  }

  [[nodiscard]] std::string shown(std::string const& name) const { return (path_ / name).string(); }

private:
  [[noreturn]] static void refuse(std::string const& what, std::string const& why) {
    throw error("topology", what + " cannot keep the node", why, "Name a folder that only you may write", EACCES);
  }
  static std::string why_not_mine(descriptor const& opened) {
    struct stat facts{};
    if (opened < 0 || fstat(opened, &facts) != 0) return std::generic_category().message(errno);
    if (facts.st_uid != geteuid()) return "it belongs to another user";
    return (facts.st_mode & (S_IWGRP | S_IWOTH)) != 0 ? "others may write it" : "";
  }

  std::filesystem::path path_;
  descriptor folder_;
};

inline constexpr std::string_view cache_begin = "keel node\n";

/// A file: its first line, a digest of the rest, the length of the key, the key, the inventory.
inline std::string cache_file(std::string const& key, std::string const& inventory) {
  byte_writer rest, head;
  rest(key);
  auto const all = rest.bytes() + inventory;
  head(digest(all));
  return std::string{cache_begin} + head.bytes() + all;
}

enum class cache_state { absent, damaged, stale, good };

/// Reads a file back; with any state but `good` the inventory is empty.
inline std::pair<cache_state, inventory> from_cache_file(std::string_view file, std::string_view key) {
  auto const number = [&](std::size_t at) {
    std::uint64_t value = 0;
    std::memcpy(&value, file.data() + at, sizeof value);
    return value;
  };
  std::pair<cache_state, inventory> read{cache_state::damaged, {}};
  auto const head = cache_begin.size() + 2 * sizeof(std::uint64_t);
  if (file.size() < head || !file.starts_with(cache_begin)) return read;
  if (number(cache_begin.size()) != digest(file.substr(cache_begin.size() + sizeof(std::uint64_t)))) return read;
  auto const length = number(head - sizeof(std::uint64_t));
  if (length > file.size() - head) return read;
  if (file.substr(head, length) != key) return {cache_state::stale, {}};
  if (auto all = from_bytes(file.substr(head + length))) read = {cache_state::good, std::move(*all)};
  return read;
}

/// This machine as `folder` keeps it, if nothing has changed since; else read anew, and kept. What became of the
/// folder stands in `source`.
inline inventory from_here_kept(std::filesystem::path const& path) {
  cache_folder const folder{path};
  auto const key = read_cache_key(); // before the node is read: what changes meanwhile makes it stale
  auto state = cache_state::absent;
  if (key.why_not.empty())
    if (auto const bytes = folder.read(key.name)) {
      auto [found, all] = from_cache_file(*bytes, key.text);
      if (found == cache_state::good) {
        all.here = true;
        all.source = "this machine, as kept in " + folder.shown(key.name);
        return std::move(all);
      }
      state = found;
    }
  auto all = discovery{from_here()}.take();
  if (!all.here) return all;
  if (!key.why_not.empty()) {
    all.source += ", not kept, because " + key.why_not;
  } else if (int const code = folder.replace(key.name, cache_file(key.text, to_bytes(all))); code != 0) {
    all.source += ", not kept in " + folder.shown(key.name) + ": " + std::generic_category().message(code);
  } else {
    all.source +=
        ", now kept in " + folder.shown(key.name) + (state == cache_state::damaged ? ", which was damaged" : "");
  }
  return all;
}

} // namespace keel::topology::detail
