// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The folder that files go to, and the dump, which the master rank writes; what fails on a rank is refused on all.

#include "start.hpp"

#include <keel/impl/store/whole_file.hpp>
#include <keel/machine/collectives.hpp>
#include <keel/machine/reductions.hpp>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <unistd.h>

namespace bench {

/// Throws on every rank if one has something to refuse, with what the first of them says.
inline void settle(keel::machine::environment const& env, std::string const& wrong) {
  if (!keel::machine::any_of(env, !wrong.empty())) return;
  for (std::string const& text : keel::machine::gather_texts(env, wrong, env.master_rank()))
    if (!text.empty()) throw refusal(text);
  throw refusal(wrong);
}

class output_folder {
public:
  /// On the master makes the folder if it is missing, and asks whether it and that of `dump` can be written, so that a
  /// run does not find out at its end. Empty names are not tried.
  output_folder(std::string_view program, keel::machine::environment const& env, std::string const& folder,
                std::string const& dump)
      : program_(program), env_(env), folder_(folder), home_(std::filesystem::current_path()) {
    std::string wrong;
    if (env.is_master() && !folder.empty()) {
      std::error_code failed;
      std::filesystem::create_directories(folder, failed);
      wrong = failed ? unwritable(folder, failed.message()) : tried(folder);
    }
    if (env.is_master() && !dump.empty() && wrong.empty()) wrong = tried(std::filesystem::path(dump).parent_path());
    settle(env, wrong);
    check_output(program, folder);
  }

  /// Makes the folder the current one of this process, unless it is empty: files have names there.
  void enter() const {
    if (!folder_.empty()) std::filesystem::current_path(folder_);
  }
  /// Writes the master's `bytes` whole or not at all.
  void dump(std::string const& path, std::string_view bytes) const {
    std::string wrong;
    if (env_.is_master())
      if (auto const failure = keel::policy::write_whole_file((home_ / path).string(), bytes))
        wrong = unwritable(path, failure.why);
    settle(env_, wrong);
  }

private:
  [[nodiscard]] std::string unwritable(std::string const& path, std::string_view why) const {
    return refusal(program_, path + " cannot be written", why, "Name a folder that can").what();
  }
  // Asks, and makes no file there that a killed program would leave.
  [[nodiscard]] std::string tried(std::filesystem::path const& folder) const {
    if (access((folder / ".").c_str(), W_OK | X_OK) == 0) return {};
    return unwritable(folder.empty() ? "." : folder.string(), std::strerror(errno));
  }

  std::string program_;
  keel::machine::environment const& env_;
  std::string folder_;
  std::filesystem::path home_;
};

} // namespace bench
