// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Memory of a device that other processes of the node map.

#include <keel/impl/space/kokkos_devices.hpp>
#include <keel/space/kokkos.hpp>
#include <keel/space/peer_memory.hpp>
#include <keel/space/simulated_memory.hpp>

#include <cstddef>
#include <cstring>
#include <string>
#include <type_traits>

namespace keel::space {

namespace detail {

#if defined(KOKKOS_ENABLE_CUDA)
struct cuda_ipc : cuda_errors {
  using handle = cudaIpcMemHandle_t;
  static constexpr char const* name = "cuda";
  static constexpr auto flags = cudaIpcMemLazyEnablePeerAccess;
  static constexpr auto allocate = static_cast<cudaError_t (*)(void**, std::size_t)>(&cudaMalloc);
  static constexpr auto free = &cudaFree;
  static constexpr auto get = &cudaIpcGetMemHandle;
  static constexpr auto open = &cudaIpcOpenMemHandle;
  static constexpr auto close = &cudaIpcCloseMemHandle;
};
#endif

#if defined(KOKKOS_ENABLE_HIP)
struct hip_ipc : hip_errors {
  using handle = hipIpcMemHandle_t;
  static constexpr char const* name = "hip";
  static constexpr auto flags = hipIpcMemLazyEnablePeerAccess;
  static constexpr auto allocate = static_cast<hipError_t (*)(void**, std::size_t)>(&hipMalloc);
  static constexpr auto free = &hipFree;
  static constexpr auto get = &hipIpcGetMemHandle;
  static constexpr auto open = &hipIpcOpenMemHandle;
  static constexpr auto close = &hipIpcCloseMemHandle;
};
#endif

/// Memory of a GPU, by the calls of its vendor.
template <class Ipc>
struct ipc_peers {
  static std::string reason(auto code) { return reason_of_code<Ipc>(code); }
  static std::string make(std::size_t bytes, void*& at, peer_handle& handle) {
    typename Ipc::handle mine;
    std::string why = reason(Ipc::allocate(&at, bytes));
    if (!why.empty()) return why;
    if (why = reason(Ipc::get(&mine, at)); !why.empty()) return free(at), why;
    static_assert(sizeof mine <= sizeof handle.bytes);
    std::memcpy(handle.bytes.data(), &mine, sizeof mine);
    return {};
  }
  static std::string map(peer_handle const& handle, void*& at) {
    typename Ipc::handle other;
    std::memcpy(&other, handle.bytes.data(), sizeof other);
    return reason(Ipc::open(&at, other, Ipc::flags));
  }
  static void unmap(void* at, std::size_t) { (void)reason(Ipc::close(at)); }
  static void free(void* at) { (void)reason(Ipc::free(at)); }
  static constexpr peer_kind all{Ipc::name, &make, &map, &unmap, &free};
};

} // namespace detail

/// The chunks of one kind; Kokkos' end closes them.
template <class Kind>
peer_memory& peers_of_kind() {
  static peer_memory all = (Kokkos::push_finalize_hook([] { peers_of_kind<Kind>().close(); }), peer_memory(Kind::all));
  return all;
}

/// Those of a memory space; null if its memory cannot be mapped by others.
template <class Memory>
peer_memory* peers_of() {
  if constexpr (std::is_same_v<Memory, Kokkos::HostSpace> || std::is_same_v<Memory, simulated_memory>)
    return &peer_memory::of_host();
#if defined(KOKKOS_ENABLE_CUDA)
  else if constexpr (std::is_same_v<Memory, Kokkos::CudaSpace>)
    return &peers_of_kind<detail::ipc_peers<detail::cuda_ipc>>();
#endif
#if defined(KOKKOS_ENABLE_HIP)
  else if constexpr (std::is_same_v<Memory, detail::hip_calls::execution_space::memory_space>)
    return &peers_of_kind<detail::ipc_peers<detail::hip_ipc>>();
#endif
  else return nullptr;
}

/// Whether kernels of this process never share a device with those of another that run at the same time, as they do by
/// CUDA's MPS. False if that is not known.
template <class Space>
bool runs_one_process() {
#if defined(KOKKOS_ENABLE_CUDA) && CUDART_VERSION >= 12040
  if constexpr (std::is_same_v<Space, Kokkos::Cuda>) {
    static int const is_shared = [] {
      int yes = 1;
      return cudaDeviceGetAttribute(&yes, cudaDevAttrMpsEnabled, Space().cuda_device()) == cudaSuccess ? yes : 1;
    }();
    return is_shared == 0;
  }
#endif
  return false;
}

} // namespace keel::space
