// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Slips in the names of an application policy's members.

namespace keel::device {

/// Refuses members that look like one of `keel::defaults` and are none, because they would do nothing. C++20 cannot
/// list the members of a class, so these are the slips that are looked for.
template <class App>
consteval bool require_known_members() {
  static_assert(!(
                    requires { typename App::device; } || requires { typename App::devise; } ||
                    requires { typename App::devises; } || requires { typename App::Devices; } ||
                    requires { typename App::device_list; }),
                "keel::device: a member of the policy looks like devices "
                "(keel::defaults has none of its name, so it does nothing). Did you mean devices?");
  static_assert(!(
                    requires { typename App::rank; } || requires { typename App::Ranks; }),
                "keel::device: a member of the policy looks like ranks "
                "(keel::defaults has none of its name, so it does nothing). Did you mean ranks?");
  static_assert(!(
                    requires { typename App::tracing; } || requires { typename App::track; } ||
                    requires { typename App::trackings; } || requires { typename App::tracked; } ||
                    requires { typename App::traking; } || requires { typename App::Tracking; }),
                "keel::device: a member of the policy looks like tracking "
                "(keel::defaults has none of its name, so it does nothing). Did you mean tracking?");
  static_assert(!(
                    requires { typename App::exchanges; } || requires { typename App::exchanging; } ||
                    requires { typename App::Exchange; }),
                "keel::device: a member of the policy looks like exchange "
                "(keel::defaults has none of its name, so it does nothing). Did you mean exchange?");
  static_assert(!(
                    requires { typename App::transport; } || requires { typename App::Transports; }),
                "keel::device: a member of the policy looks like transports "
                "(keel::defaults has none of its name, so it does nothing). Did you mean transports?");
  static_assert(!(
                    requires { typename App::layouts; } || requires { typename App::array_layout; } ||
                    requires { typename App::Layout; }),
                "keel::device: a member of the policy looks like layout "
                "(keel::defaults has none of its name, so it does nothing). Did you mean layout?");
  static_assert(!(
                    requires { typename App::execution_space; } || requires { typename App::default_exec_space; }),
                "keel::device: a member of the policy looks like default_execution_space "
                "(keel::defaults has none of its name, so it does nothing). Did you mean default_execution_space?");
  static_assert(!(requires { typename App::host_execution_space; }),
                "keel::device: a member of the policy looks like default_host_execution_space "
                "(keel::defaults has none of its name, so it does nothing). "
                "Did you mean default_host_execution_space?");
  static_assert(!(requires { typename App::memory_space; }),
                "keel::device: a member of the policy looks like default_memory_space "
                "(keel::defaults has none of its name, so it does nothing). Did you mean default_memory_space?");
  static_assert(!(requires { typename App::host_memory_space; }),
                "keel::device: a member of the policy looks like default_host_memory_space "
                "(keel::defaults has none of its name, so it does nothing). Did you mean default_host_memory_space?");
  static_assert(!(
                    requires { App::prefx; } || requires { App::prefixes; } || requires { App::perfix; } ||
                    requires { App::Prefix; } || requires { App::option_prefix; }),
                "keel::device: a member of the policy looks like prefix "
                "(keel::defaults has none of its name, so it does nothing). Did you mean prefix?");
  static_assert(!(
                    requires { App::vector_size; } || requires { App::vector_lenght; } ||
                    requires { App::vector_len; } || requires { App::vectorlength; }),
                "keel::device: a member of the policy looks like vector_length "
                "(keel::defaults has none of its name, so it does nothing). Did you mean vector_length?");
  static_assert(!(
                    requires { App::use_ledger; } || requires { App::has_ledger; }),
                "keel::device: a member of the policy looks like uses_ledger "
                "(keel::defaults has none of its name, so it does nothing). Did you mean uses_ledger?");
  static_assert(!(
                    requires { App::end_mpi; } || requires { App::ends_MPI; } || requires { App::finalizes_mpi; }),
                "keel::device: a member of the policy looks like ends_mpi "
                "(keel::defaults has none of its name, so it does nothing). Did you mean ends_mpi?");
  static_assert(!(
                    requires { App::strict; } || requires { App::isStrict; }),
                "keel::device: a member of the policy looks like is_strict "
                "(keel::defaults has none of its name, so it does nothing). Did you mean is_strict?");
  static_assert(!(
                    requires { App::require_device; } || requires { App::required_device; }),
                "keel::device: a member of the policy looks like requires_device "
                "(keel::defaults has none of its name, so it does nothing). Did you mean requires_device?");
  return true;
}

} // namespace keel::device
