// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The part of `fields` that depends on no type of the application: four objects, each of which has references to those
/// that it needs, and the ranks. It is compiled once: users' sources compile what routines ask of arrays, no ledger,
/// transport or message.

#include <keel/impl/residency/arrays.hpp>
#include <keel/impl/residency/book.hpp>
#include <keel/impl/residency/executor.hpp>
#include <keel/impl/validity/observers.hpp>
#include <keel/machine/agreement.hpp>
#include <keel/policy/macros.hpp>

#include <initializer_list>
#include <memory>
#include <span>
#include <vector>

namespace keel::residency {
class messenger;
}

namespace keel::residency::detail {

class agreement;
class checkpoint_files;
class exchanger;
class relocation;
class any_transport;

inline constexpr machine::failing_call making_fields{"residency::fields", "the fields", "are not made",
                                                     "Take smaller arrays, or more ranks"};

struct fields_state {
  /// For one of `ranks`; `memories` counts the host's.
  fields_state(grid const& whole, std::span<grid const> further, int ranks, int rank, int memories, int components,
               tracking_choice const& how);
  ~fields_state();
  fields_state(fields_state const&) = delete;
  fields_state& operator=(fields_state const&) = delete;

  /// Adds a variable, whose owner makes its arrays.
  void add(variable_info const& about, array_kind const& kind, std::initializer_list<lengths_given> given,
           arrays::allocator make, void* owner) {
    arrays_.add(about, kind, given, make, owner);
    book_.add_variable();
  }
  /// Messages between these ranks; what changes sizes is only for those of the policy. Collective. The body stands in
  /// join.hpp, which compiles it for other ranks than keel's.
  template <class Ranks>
  void join(machine::basic_environment<Ranks> const& of, bool are_policys);
  [[nodiscard]] bool has_other_ranks() const;
  /// Gets ready to exchange ghosts, in two steps of all ranks: the first finds the memory for it.
  void prepare_to_connect();
  void connect();

  arrays arrays_;
  book book_;
  std::unique_ptr<exchanger> exchanger_;
  executor executor_;
  std::unique_ptr<messenger> ranks_;
  std::unique_ptr<agreement> agreement_;    // of the environment, if there is one
  std::shared_ptr<void const> environment_; // of the policy's `ranks`; null if the run has another
  memory exchanges_in_ = host;
  /// Makes the transports of the policy; null for those of this build.
  void (*own_transports_)(messenger const&, std::vector<std::unique_ptr<any_transport>>&) = nullptr;
  std::shared_ptr<relocation> relocation_; // once there was one
  std::shared_ptr<void> talk_;             // messages to ranks that do not expect them, once there were some
  std::unique_ptr<checkpoint_files> checkpoints_;
};

#if KEEL_COMPILED
extern template void fields_state::join(machine::basic_environment<machine::alone> const&, bool);
#if KEEL_WITH_MPI
extern template void fields_state::join(machine::basic_environment<machine::mpi> const&, bool);
#endif
#endif

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/residency/executor.ipp>
#include <keel/impl/residency/fields_state.ipp>
#include <keel/impl/residency/join.hpp>
#endif
