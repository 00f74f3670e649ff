// SPDX-License-Identifier: MIT
#include <keel/impl/device/bound_rank.hpp>
#include <keel/impl/device/table.hpp>
#include <keel/policy/error.hpp>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace keel::device {

KEEL_INLINE thread_bits own_bits() {
  thread_bits own{};
  for (int const t : topology::bound_hardware_threads())
    if (auto const at = std::size_t(t); at / 64 < own.size()) own[at / 64] |= std::uint64_t{1} << at % 64;
  return own;
}
KEEL_INLINE topology::id_set threads_of_any(std::span<char const> all) {
  topology::id_set together;
  for (; !all.empty(); all = all.subspan(sizeof(thread_bits))) {
    thread_bits one;
    std::memcpy(one.data(), all.data(), sizeof one);
    for (std::size_t i = 0; i < one.size(); ++i)
      for (auto bits = one[i]; bits != 0; bits &= bits - 1) together.insert(int(i * 64) + std::countr_zero(bits));
  }
  return together;
}

KEEL_INLINE topology::placing placing_of(bind_rule const& rule, topology::id_set allowed) {
  return {.order = rule.gpu ? topology::order::by_device : topology::order::spread,
          .hardware_threads = std::move(allowed),
          .threads_per_core = rule.smt,
          .greedy = rule.greedy};
}

KEEL_INLINE bound_rank::bound_rank(topology::node const& node, topology::placement const& to) : threads_(node, to) {
  text_ = "hardware threads " + to_string(to.hardware_threads);
  auto const is_nearer = [&](int core, topology::memory const& m) {
    return m.type == node.memories()[std::size_t(to.memory)].type &&
           node.distance_to_memory(core, m.id) < node.distance_to_memory(core, to.memory);
  };
  bool const has_one = to.memory >= 0 && std::none_of(to.cores.begin(), to.cores.end(), [&](int core) {
                         return std::any_of(node.memories().begin(), node.memories().end(),
                                            [&](topology::memory const& m) { return is_nearer(core, m); });
                       });
  if (has_one) {
    int const system = node.memories()[std::size_t(to.memory)].os_index;
    memory_.emplace(system);
    text_ += ", memory " + std::to_string(system);
    if (auto const why = memory_->why_not(); !why.empty()) text_ += " (not bound: " + why + ")";
  } else {
    text_ += ", memory where it is touched first";
  }
  if (to.device >= 0) text_ += ", device " + node.devices()[std::size_t(to.device)].name;
}

KEEL_INLINE char const* bound_rank::openmp_variable() {
  for (char const* name : {"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY"})
    if (char const* const value = std::getenv(name); value != nullptr && std::string_view{value} != "false")
      return name;
  return nullptr;
}

KEEL_INLINE std::string placed_rank::go(program_ranks const& ranks, std::string_view prefix, bind_rule const& rule,
                                        own_node const& node) {
  char const wanted = rule.place ? 1 : 0;
  auto const all = ranks.bytes_of_all(&wanted, 1);
  auto const count = std::count(all.begin(), all.end(), char{1});
  if (count == 0) return {};
  auto const own = own_bits();
  auto const here = ranks.bytes_of_node(&own, sizeof own);
  try {
    if (count != std::ptrdiff_t(all.size()))
      throw error("device", "some ranks are to be bound and others not", "each has its own environment",
                  "Give all the same " + option_prefix(prefix) + "bind");
    int const size = int(here.bytes.size() / sizeof(thread_bits));
    auto const places = node.get().place(size, placing_of(rule, threads_of_any(here.bytes)));
    place_ = places.at(std::size_t(here.rank));
    bound_.emplace(node.get(), *place_);
    return {};
  } catch (error const& e) {
    return e.what();
  }
}

KEEL_INLINE void placed_rank::note_places(program_ranks const& ranks, common_settings& common) const {
  if (!place_) return;
  constexpr std::size_t length = 1024;
  std::string line = "rank " + std::to_string(ranks.rank()) + " is bound to " + text();
  line.resize(length);
  auto const here = ranks.bytes_of_node(line.data(), length);
  if (here.rank != 0) return;
  for (auto lines = std::span(here.bytes); !lines.empty(); lines = lines.subspan(length))
    common.note(log_level::information, {lines.data(), strnlen(lines.data(), length)});
  if (auto const* const name = bound_rank::openmp_variable())
    common.note(log_level::warning,
                std::string{name} + " is set, so OpenMP binds its threads by itself, to what main started with",
                "Unset it");
}

} // namespace keel::device
