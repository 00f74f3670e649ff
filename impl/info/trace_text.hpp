// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The text of a trace, line by line.

#include "shown.hpp"

#include <keel/policy/error.hpp>
#include <keel/impl/store/whole_file.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <string>
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace keel::info {

inline constexpr std::size_t trace_line_max = std::size_t{1} << 20; ///< bytes, a thousand times what keel writes
inline constexpr std::chrono::seconds trace_writer_wait_max{3};     ///< for a process that writes to a pipe

namespace detail {

/// The lines of a file, which may be a pipe.
class trace_text {
public:
  explicit trace_text(std::string const& path)
      : path_(path), file_(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)) {
    struct stat about{};
    if (file_.number < 0 || ::fstat(file_.number, &about) != 0) refuse(errno);
    if (S_ISDIR(about.st_mode)) refuse(EISDIR);
    if (S_ISFIFO(about.st_mode)) await_writer();
    ::fcntl(file_.number, F_SETFL, 0);
  }

  /// False at the end. Throws if a line has no end.
  [[nodiscard]] bool next(std::string& line) {
    line.clear();
    for (;;) {
      auto const end = std::find(block_.begin() + std::ptrdiff_t(at_), block_.end(), '\n');
      line.append(block_.begin() + std::ptrdiff_t(at_), end);
      if (line.size() > trace_line_max)
        throw error("info", "it is longer than " + std::to_string(trace_line_max >> 20) + " MiB");
      bool const is_whole = end != block_.end();
      at_ = std::size_t(end - block_.begin()) + (is_whole ? 1 : 0);
      if (is_whole) return true;
      if (!fill()) return !line.empty();
    }
  }

private:
  [[noreturn]] void refuse(int code) {
    throw error("info", shown(path_) + " is not read", std::strerror(code), "Is this the name", code);
  }
  bool fill() {
    block_.resize(std::size_t{1} << 16);
    ssize_t got = 0;
    while ((got = ::read(file_.number, block_.data(), block_.size())) < 0)
      if (errno != EINTR) refuse(errno);
    block_.resize(std::size_t(got));
    at_ = 0;
    return got > 0;
  }
  // Without a writer a read answers at once that this is the end; with one that is slow, EAGAIN.
  void await_writer() {
    auto const until = std::chrono::steady_clock::now() + trace_writer_wait_max;
    char first = 0;
    ssize_t got = 0;
    while ((got = ::read(file_.number, &first, 1)) == 0) {
      if (std::chrono::steady_clock::now() > until)
        throw error("info", shown(path_) + " is not read", "no process writes to this pipe", "Start its writer first",
                    EPIPE);
      std::this_thread::sleep_for(std::chrono::milliseconds{10});
    }
    if (got == 1) block_ = first;
  }

  std::string path_, block_;
  std::size_t at_ = 0;
  policy::detail::open_file file_;
};

} // namespace detail

} // namespace keel::info
