// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Where Kokkos' parallel patterns meet keel's own execution spaces; the same for every Kokkos.

#include <keel/impl/space/engine.hpp>
#include <keel/impl/space/containers.hpp>
#include <keel/impl/space/memory_hooks.hpp>
#include <keel/impl/space/reductions.hpp>
#include <keel/impl/space/team.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

namespace Kokkos::Impl {

template <class F, class Policy, keel::space::detail::Engine Space>
class ParallelFor<F, Policy, Space> {
public:
  ParallelFor(F const& functor, Policy const& policy) : closure_(functor, policy) {}
  void execute() const { closure_.execute(); }
  template <class... Any>
  static int max_tile_size_product(Any const&...) {
    return 1024;
  }

private:
  keel::space::detail::for_closure<F, Policy> const closure_;
};

template <class F, class Policy, keel::space::detail::Engine Space>
class ParallelScan<F, Policy, Space> {
public:
  ParallelScan(F const& functor, Policy const& policy)
      : closure_(policy, keel::space::detail::scan_reduction<F, Policy, void>(functor), nullptr) {}
  void execute() const { closure_.execute(); }

private:
  keel::space::detail::scan_closure<Policy, keel::space::detail::scan_reduction<F, Policy, void>> const closure_;
};

template <class F, class Policy, class Total, keel::space::detail::Engine Space>
class ParallelScanWithTotal<F, Policy, Total, Space> {
public:
  template <class Result>
  ParallelScanWithTotal(F const& functor, Policy const& policy, Result&& total)
      : closure_(policy, keel::space::detail::scan_reduction<F, Policy, Total>(functor),
                 keel::space::detail::address_of_total(total)) {}
  void execute() const { closure_.execute(); }

private:
  keel::space::detail::scan_closure<Policy, keel::space::detail::scan_reduction<F, Policy, Total>> const closure_;
};

/// Scratch memory is plain memory of the thread that runs the kernel. To itself it stands as every space does.
template <class Memory, keel::space::detail::Engine Space>
  requires(!std::is_same_v<Memory, ScratchMemorySpace<Space>>)
struct MemorySpaceAccess<Memory, ScratchMemorySpace<Space>> {
  enum : bool { assignable = false };
  enum : bool {
    accessible = std::is_same_v<Memory, HostSpace> || std::is_same_v<Memory, typename Space::memory_space>
  };
  enum : bool { deepcopy = false };
};

#if KOKKOS_VERSION >= 40000
/// A team's threads share a multidimensional range as those of Kokkos' own host spaces do.
template <class Rank, keel::space::detail::Engine Space, TeamMDRangeThreadAndVector Both>
struct ThreadAndVectorNestLevel<Rank, Space, Both> : HostBasedNestLevel<Rank, Both> {};
#endif

/// Copies between host memories, on an instance that may touch them; Kokkos has it only for its own spaces.
template <keel::space::detail::Engine Space>
  requires std::is_same_v<typename Space::memory_space, HostSpace>
struct DeepCopy<HostSpace, HostSpace, Space> {
  DeepCopy(void* to, void const* from, std::size_t bytes) : DeepCopy(Space(), to, from, bytes) {}
  DeepCopy(Space const& space, void* to, void const* from, std::size_t bytes) {
    keel::space::detail::copy_bytes(space, to, from, bytes);
  }
};

/// A value copied into a view without dimensions. Kokkos' own reads the caller's value, which may have ended when an
/// asynchronous kernel runs.
template <class View, class Layout, keel::space::detail::Engine Space, class Index>
  requires Space::impl_is_asynchronous
struct ViewFill<View, Layout, Space, 0, Index> {
  using value_type = typename View::non_const_value_type;
  ViewFill(View const& view, value_type const& value, Space const& space) {
    space.impl_launch(keel::space::detail::value_closure<value_type>{view.data(), value});
  }
};

} // namespace Kokkos::Impl

namespace Kokkos::Tools::Experimental {

template <keel::space::detail::Engine Space>
struct DeviceTypeTraits<Space> {
  static constexpr DeviceType id = DeviceType::Unknown;
  static int device_id(Space const&) { return 0; }
};

} // namespace Kokkos::Tools::Experimental

namespace keel::space::detail {

/// The number with which a fence of all instances of a space is shown.
inline constexpr std::uint32_t all_instances = 0;

/// Notifies Kokkos' tools of the end of a fence, also of one that throws what a kernel threw.
struct end_of_fence {
  std::uint64_t id;
  ~end_of_fence() { Kokkos::Tools::endFence(id); }
};

/// Calls `wait()` as the fence of an instance, or of all, and notifies Kokkos' tools of its begin and end.
template <Engine Space, class Wait>
void shown_fence(std::uint32_t instance, std::string const& label, Wait const& wait) {
  if (!Kokkos::Tools::profileLibraryLoaded()) return wait();
  auto const type = std::uint32_t(Kokkos::Tools::Experimental::DeviceTypeTraits<Space>::id);
  static std::string const of_all = std::string(Space::name()) + ": Unnamed Global Fence",
                           of_one = std::string(Space::name()) + "::fence: Unnamed Instance Fence";
  std::string const& unnamed = instance == all_instances ? of_all : of_one;
  std::uint64_t id = 0;
  Kokkos::Tools::beginFence(label.empty() ? unnamed : label, (type << 24) + instance, &id);
  end_of_fence const end{id};
  wait();
}

} // namespace keel::space::detail
