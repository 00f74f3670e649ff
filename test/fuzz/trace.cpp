// SPDX-License-Identifier: MIT
/// @file
/// A trace, read, added up and drawn. What is drawn is JSON.
#include "../../impl/info/trace.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  static int const file = memfd_create("trace", 0);
  static std::string const path = "/proc/self/fd/" + std::to_string(file);
  if (ftruncate(file, 0) != 0 || pwrite(file, data, size, 0) != ssize_t(size)) std::abort();
  try {
    auto const all = keel::info::read_traces({path}, keel::info::runs::one);
    auto const text = keel::info::summary(all);
    for (char const c : text)
      if ((c >= 0 && c < 0x20 && c != '\n') || c == 0x7f) std::abort(); // a terminal would obey it
    if (!nlohmann::json::accept(keel::info::chrome_document(all))) std::abort();
  } catch (keel::error const& e) {
    if (std::string{e.what()}.rfind("keel::info: ", 0) != 0) std::abort();
  }
  return 0;
}
