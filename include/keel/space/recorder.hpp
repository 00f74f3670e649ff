// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What an instance of a device is given, recorded instead of run: as a graph of CUDA's or HIP's, or, on the simulated
/// device, as a list of tasks.

#include <keel/impl/space/kokkos_devices.hpp>
#include <keel/policy/error.hpp>
#include <keel/space/kokkos.hpp>
#include <keel/space/simulated.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace keel::space {

/// What an instance was given from a `begin` to an `end`, and the numbers of the parts that each has to follow.
using recorded_parts = std::span<std::shared_ptr<void const> const>;
using parts_before = std::span<std::vector<std::size_t> const>;

/// How the instances of a space record, launch and forget: `end` returns a part, null if that is empty, and `join`
/// makes of parts what `launch` takes. This one cannot; it is specialised for those that can.
template <class Space>
struct recorder {
  static constexpr bool can_record = false;
  static void begin(Space const&) {}
  static std::shared_ptr<void const> end(Space const&) { return {}; }
  static std::shared_ptr<void const> join(recorded_parts, parts_before) { return {}; }
  static void launch(Space const&, void const*) {}
};

template <>
struct recorder<simulated> {
  static constexpr bool can_record = true;
  static void begin(simulated const& space) { space.impl_record(); }
  static std::shared_ptr<void const> end(simulated const& space) {
    auto all = space.impl_recorded();
    return all ? std::make_shared<std::function<void()>>(std::move(all)) : nullptr;
  }
  /// Runs parts in another order than that of their numbers, if they allow one: so a lacking dependency is seen.
  static std::shared_ptr<void const> join(recorded_parts parts, parts_before before) {
    std::vector<std::shared_ptr<void const>> ordered;
    std::vector<bool> is_there(parts.size());
    while (ordered.size() < parts.size())
      for (std::size_t n = parts.size(); n-- > 0;)
        if (!is_there[n] && std::ranges::all_of(before[n], [&](std::size_t k) { return is_there[k]; })) {
          is_there[n] = true, ordered.push_back(parts[n]);
          break;
        }
    return std::make_shared<std::function<void()>>([all = std::move(ordered)] {
      for (auto const& one : all) (*static_cast<std::function<void()> const*>(one.get()))();
    });
  }
  static void launch(simulated const& space, void const* work) {
    space.impl_replay(*static_cast<std::function<void()> const*>(work));
  }
};

namespace detail {

#if defined(KOKKOS_ENABLE_CUDA)
struct cuda_graphs : cuda_errors {
  using graph = cudaGraph_t;
  using executable = cudaGraphExec_t;
  using node = cudaGraphNode_t;
  using node_kind = cudaGraphNodeType;
  static constexpr auto by_thread = cudaStreamCaptureModeThreadLocal;
  static constexpr auto kernel = cudaGraphNodeTypeKernel, empty = cudaGraphNodeTypeEmpty,
                        filling = cudaGraphNodeTypeMemset;
  static auto stream(Kokkos::Cuda const& space) { return space.cuda_stream(); }
  static constexpr auto begin = &cudaStreamBeginCapture;
  static constexpr auto end = &cudaStreamEndCapture;
  static constexpr auto create = &cudaGraphCreate;
  static constexpr auto add = &cudaGraphAddChildGraphNode;
  static constexpr auto nodes = &cudaGraphGetNodes;
  static constexpr auto kind = &cudaGraphNodeGetType;
  static auto instantiate(executable* made, graph of) { return cudaGraphInstantiateWithFlags(made, of, 0); }
  static constexpr auto launch = &cudaGraphLaunch;
  static constexpr auto destroy = &cudaGraphDestroy;
  static constexpr auto destroy_executable = &cudaGraphExecDestroy;
};
#endif
#if defined(KOKKOS_ENABLE_HIP)
struct hip_graphs : hip_errors {
  using graph = hipGraph_t;
  using executable = hipGraphExec_t;
  using node = hipGraphNode_t;
  using node_kind = hipGraphNodeType;
  static constexpr auto by_thread = hipStreamCaptureModeThreadLocal;
  static constexpr auto kernel = hipGraphNodeTypeKernel, empty = hipGraphNodeTypeEmpty,
                        filling = hipGraphNodeTypeMemset;
  static auto stream(auto const& space) { return space.hip_stream(); }
  static constexpr auto begin = &hipStreamBeginCapture;
  static constexpr auto end = &hipStreamEndCapture;
  static constexpr auto create = &hipGraphCreate;
  static constexpr auto add = &hipGraphAddChildGraphNode;
  static constexpr auto nodes = &hipGraphGetNodes;
  static constexpr auto kind = &hipGraphNodeGetType;
  static auto instantiate(executable* made, graph of) { return hipGraphInstantiateWithFlags(made, of, 0); }
  static constexpr auto launch = &hipGraphLaunch;
  static constexpr auto destroy = &hipGraphDestroy;
  static constexpr auto destroy_executable = &hipGraphExecDestroy;
};
#endif

/// By the calls of a GPU's vendor, which record what a stream gets.
template <class Space, class Calls>
struct stream_recorder {
  static constexpr bool can_record = true;

  static void begin(Space const& space) { require(Calls::begin(Calls::stream(space), Calls::by_thread)); }
  static std::shared_ptr<void const> end(Space const& space) {
    graph recorded{};
    auto const code = Calls::end(Calls::stream(space), &recorded);
    auto const held = kept(recorded);
    require(code);
    return require_kernels(recorded) == 0 ? nullptr : held;
  }
  static std::shared_ptr<void const> join(recorded_parts parts, parts_before before) {
    graph whole{};
    require(Calls::create(&whole, 0));
    auto const held = kept(whole);
    std::vector<typename Calls::node> nodes, after;
    for (std::size_t n = 0; n < parts.size(); ++n) {
      after.clear();
      for (std::size_t k : before[n]) after.push_back(nodes[k]);
      require(Calls::add(&nodes.emplace_back(), whole, after.data(), after.size(), graph_of(parts[n])));
    }
    typename Calls::executable made{};
    require(Calls::instantiate(&made, parts.size() == 1 ? graph_of(parts[0]) : whole));
    return {made, [](typename Calls::executable it) { (void)Calls::destroy_executable(it); }};
  }
  static void launch(Space const& space, void const* work) {
    require(Calls::launch(static_cast<typename Calls::executable>(const_cast<void*>(work)), Calls::stream(space)));
  }

private:
  using graph = typename Calls::graph;
  static std::shared_ptr<void const> kept(graph g) {
    return {g, [](graph it) { (void)Calls::destroy(it); }};
  }
  static graph graph_of(std::shared_ptr<void const> const& part) {
    return static_cast<graph>(const_cast<void*>(part.get()));
  }
  static void require(auto code) {
    if (std::string const why = reason_of_code<Calls>(code); !why.empty())
      throw error("space", "what a device was given cannot be recorded", why);
  }
  /// What is copied from memory of the host may be another thing when it is launched.
  static std::size_t require_kernels(graph recorded) {
    std::size_t count = 0;
    require(Calls::nodes(recorded, nullptr, &count));
    std::vector<typename Calls::node> all(count);
    require(Calls::nodes(recorded, all.data(), &count));
    for (auto const& one : all) {
      typename Calls::node_kind kind{};
      require(Calls::kind(one, &kind));
      if (kind != Calls::kernel && kind != Calls::empty && kind != Calls::filling)
        throw error("space", "what a device was given cannot be recorded",
                    "it copies from memory of the host, or has a kernel with more than 512 bytes of arguments",
                    "Take keel's loops, or require Kokkos' HintLightWeight of the policy");
    }
    return count;
  }
};

} // namespace detail

#if defined(KOKKOS_ENABLE_CUDA)
template <>
struct recorder<Kokkos::Cuda> : detail::stream_recorder<Kokkos::Cuda, detail::cuda_graphs> {};
#endif
#if defined(KOKKOS_ENABLE_HIP)
template <>
struct recorder<detail::hip_calls::execution_space>
    : detail::stream_recorder<detail::hip_calls::execution_space, detail::hip_graphs> {};
#endif

} // namespace keel::space
