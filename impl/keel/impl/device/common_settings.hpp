// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How text becomes a value of the knobs of a program, whatever its devices are, and what there is to say about it.

#include <keel/impl/device/device_knobs.hpp>
#include <keel/impl/device/read.hpp>
#include <keel/policy/macros.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace keel::device {

/// Something to say when the program has started, because only then it is known how much is said, and by which rank.
struct remark {
  log_level level;
  std::string text;
  std::string hint = {};
};

/// The program's own knobs, and remarks on all of its knobs.
class common_settings {
public:
  common_settings();
  common_settings(common_settings const&) = delete;
  common_settings& operator=(common_settings const&) = delete;
  ~common_settings();

  program_settings program;

  /// Takes over every value that another one, and its devices, were given.
  void take(common_settings const& other, std::span<changeable_knobs const> into, std::span<device_knobs const> from);

  /// Takes a knob of the code, by its name and its text. Throws if there is none, or the text is wrong.
  void take(option_names const& names, std::string_view name, std::string_view text,
            std::span<changeable_knobs const> devices);

  /// Parses those that are for the program, the weakest first.
  void apply_to_program(std::vector<assignment> const& all, bool has_ledger);

  /// Parses those that are for devices, the weakest first, and of one source what is for one device after what is for
  /// all. A malformed value is an error, and so is one that the device `chosen`, or the one that it was written for,
  /// cannot take. The others get the nearest that they can. A knob that no device has is only remarked on.
  void apply_to_devices(std::span<changeable_knobs const> devices, std::vector<assignment> all,
                        std::string_view chosen);

  /// Remarks on variables that no knob has, if one is meant or unknown ones are not to be; and on options of keel's
  /// that stay in argv because the program's prefix is another.
  void remark_on_unknown(option_names const& names, std::vector<std::string> const& variables,
                         std::vector<std::string> const& options);

  /// To be said at the start, if the level admits it.
  void note(log_level level, std::string text, std::string hint = {});
  /// In strict mode refuses what there is a warning of.
  void check_remarks() const;
  /// Says them, and which values of the devices are more than this machine has.
  void log_remarks(std::span<device_knobs const> devices) const;
  [[nodiscard]] std::vector<remark> const& remarks() const { return remarks_; }

private:
  void apply(std::span<changeable_knobs const> devices, assignment const& a, std::string_view chosen);
  void without_effect(std::string const& where, std::string const& why);
  void too_late(std::string const& what);

  std::vector<remark> remarks_;
};

} // namespace keel::device

#if !KEEL_COMPILED
#include <keel/impl/device/common_settings.ipp>
#endif
