// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A progress bar on standard error, where that is a terminal; nothing anywhere else.

#include <cstdio>
#include <unistd.h>

namespace ocean {

class progress {
public:
  /// `shown` is false on all ranks but one.
  progress(long steps, bool shown) : steps_(steps), shown_(shown && isatty(STDERR_FILENO) != 0) {}
  progress(progress const&) = delete;
  progress& operator=(progress const&) = delete;
  ~progress() {
    if (shown_) std::fprintf(stderr, "\r%*s\r", width + 8, "");
  }

  /// Draws only where the bar or the percentage changes.
  void at(long step) {
    if (!shown_ || step * 100 / steps_ == percent_) return;
    percent_ = step * 100 / steps_;
    int const full = int(step * width / steps_);
    std::fprintf(stderr, "\r[%.*s%*s] %3ld %%", full, bar, width - full, "", percent_);
  }

private:
  static constexpr int width = 50;
  static constexpr char bar[] = "##################################################";
  long steps_;
  bool shown_;
  long percent_ = -1;
};

} // namespace ocean
