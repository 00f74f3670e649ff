// SPDX-License-Identifier: MIT
#include <keel/impl/device/option_names.hpp>

namespace keel::device {

KEEL_INLINE std::string option_prefix(std::string_view prefix) { return "--" + std::string{prefix} + "-"; }
KEEL_INLINE std::string variable_prefix(std::string_view prefix) { return detail::in_capitals(prefix) + "_"; }
KEEL_INLINE std::string variable_name(std::string_view prefix, std::string_view option) {
  return variable_prefix(prefix) + detail::in_capitals(option);
}

} // namespace keel::device
