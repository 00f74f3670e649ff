// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Whether the calling thread executes for a simulated device. Depends only on the standard library.

namespace keel::space::detail {

/// True while this thread runs a kernel or a copy of a device that executes on the host.
inline constinit thread_local bool plays_device = false;

/// True while what this thread launches on a queue is recorded instead of run.
inline constinit thread_local bool is_recording = false;

/// Makes the calling thread play the device as long as it lives.
class device_scope {
public:
  device_scope() : before_(plays_device) { plays_device = true; }
  ~device_scope() { plays_device = before_; }
  device_scope(device_scope const&) = delete;
  device_scope& operator=(device_scope const&) = delete;

private:
  bool before_;
};

} // namespace keel::space::detail
