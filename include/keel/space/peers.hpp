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
struct cuda_peers {
  static std::string reason(cudaError_t code) {
    if (code == cudaSuccess) return {};
    (void)cudaGetLastError(); // so that no later call reports it
    return cudaGetErrorString(code);
  }
  static std::string make(std::size_t bytes, void*& at, peer_handle& handle) {
    cudaIpcMemHandle_t mine;
    std::string why = reason(cudaMalloc(&at, bytes));
    if (!why.empty()) return why;
    if (why = reason(cudaIpcGetMemHandle(&mine, at)); !why.empty()) return free(at), why;
    static_assert(sizeof mine <= sizeof handle.bytes);
    std::memcpy(handle.bytes.data(), &mine, sizeof mine);
    return {};
  }
  static std::string map(peer_handle const& handle, void*& at) {
    cudaIpcMemHandle_t other;
    std::memcpy(&other, handle.bytes.data(), sizeof other);
    return reason(cudaIpcOpenMemHandle(&at, other, cudaIpcMemLazyEnablePeerAccess));
  }
  static void unmap(void* at, std::size_t) { (void)reason(cudaIpcCloseMemHandle(at)); }
  static void free(void* at) { (void)reason(cudaFree(at)); }
  static constexpr peer_kind all{"cuda", &make, &map, &unmap, &free};
};
#endif

#if defined(KOKKOS_ENABLE_HIP)
struct hip_peers {
  static std::string reason(hipError_t code) {
    if (code == hipSuccess) return {};
    (void)hipGetLastError();
    return hipGetErrorString(code);
  }
  static std::string make(std::size_t bytes, void*& at, peer_handle& handle) {
    hipIpcMemHandle_t mine;
    std::string why = reason(hipMalloc(&at, bytes));
    if (!why.empty()) return why;
    if (why = reason(hipIpcGetMemHandle(&mine, at)); !why.empty()) return free(at), why;
    static_assert(sizeof mine <= sizeof handle.bytes);
    std::memcpy(handle.bytes.data(), &mine, sizeof mine);
    return {};
  }
  static std::string map(peer_handle const& handle, void*& at) {
    hipIpcMemHandle_t other;
    std::memcpy(&other, handle.bytes.data(), sizeof other);
    return reason(hipIpcOpenMemHandle(&at, other, hipIpcMemLazyEnablePeerAccess));
  }
  static void unmap(void* at, std::size_t) { (void)reason(hipIpcCloseMemHandle(at)); }
  static void free(void* at) { (void)reason(hipFree(at)); }
  static constexpr peer_kind all{"hip", &make, &map, &unmap, &free};
};
#endif

} // namespace detail

/// The pieces of one kind; Kokkos' end closes them.
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
  else if constexpr (std::is_same_v<Memory, Kokkos::CudaSpace>) return &peers_of_kind<detail::cuda_peers>();
#endif
#if defined(KOKKOS_ENABLE_HIP)
  else if constexpr (std::is_same_v<Memory, detail::hip_calls::execution_space::memory_space>)
    return &peers_of_kind<detail::hip_peers>();
#endif
  else return nullptr;
}

} // namespace keel::space
