// SPDX-License-Identifier: MIT
#include <keel/impl/device/rank_place.hpp>
#include <keel/impl/device/runtime_core.hpp>
#include <keel/impl/device/table.hpp>
#include <keel/policy/error.hpp>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

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

KEEL_INLINE std::optional<int> map_device(device_mapping how, mapping_facts const& facts) {
  int count = int(facts.visible.size());
  if (facts.limit) count = std::min(count, *facts.limit);
  if (how == device_mapping::none || count == 0) return std::nullopt;
  if (how == device_mapping::nearest && !facts.nearest.empty()) {
    auto const usable = facts.visible.first(std::size_t(count));
    auto const found = std::find(usable.begin(), usable.end(), facts.nearest);
    if (found != usable.end()) return int(found - usable.begin());
  }
  return facts.node_rank % count;
}

KEEL_INLINE int nearest_gpu(topology::node const& node, std::span<int const> threads, std::size_t mine) {
  std::vector<int> takers(node.devices().size(), 0);
  int taken = -1;
  for (std::size_t rank = 0; rank <= mine; ++rank) {
    auto const at = std::find_if(node.cores().begin(), node.cores().end(),
                                 [&](topology::core const& c) { return c.hardware_threads.contains(threads[rank]); });
    taken = -1;
    std::array<int, 3> best{};
    for (auto const& d : node.devices()) {
      if (d.type != topology::device_type::gpu) continue;
      int const users = takers[std::size_t(d.id)];
      if (d.contexts > 0 && users >= d.contexts) continue;
      std::array const cost{d.contexts > 0 ? 0 : users,
                            at == node.cores().end() ? 0 : node.distance_to_device(at->id, d.id), users};
      if (taken < 0 || cost < best) taken = d.id, best = cost;
    }
    if (taken >= 0) ++takers[std::size_t(taken)];
  }
  return taken;
}

namespace detail {

/// A rank among those of its node.
struct neighbours {
  int rank, size;
  int sharing_cores = 0;          ///< ranks that may run on the very same hardware threads, this one included
  std::vector<int> first_threads; ///< the first hardware thread of each rank of the node

  neighbours(int own_rank, std::span<char const> told) : rank(own_rank), size(int(told.size() / sizeof(thread_bits))) {
    auto const of = [&](int r) { return told.subspan(std::size_t(r) * sizeof(thread_bits), sizeof(thread_bits)); };
    for (int r = 0; r < size; ++r) {
      sharing_cores += std::equal(of(r).begin(), of(r).end(), of(rank).begin());
      auto const threads = threads_of_any(of(r));
      first_threads.push_back(threads.empty() ? -1 : *threads.begin());
    }
  }
};

/// The accelerator of a device that this rank takes if no knob chose one.
[[nodiscard]] inline std::optional<int> mapped_instance(device_facts const& device, neighbours const& here,
                                                        placed_rank const& placed, program_settings const& program,
                                                        own_node const& own) {
  std::vector<std::string> visible;
  for (int i = 0; i < device.max_devices(); ++i) visible.push_back(device.pci_id(i));
  auto const how = program.map_device_by;
  mapping_facts facts{.node_rank = here.rank, .visible = visible, .limit = program.num_devices};
  if (how == device_mapping::nearest && !visible.empty()) {
    auto const& node = own.get();
    auto const me = std::size_t(here.rank);
    bool const is_bound = here.sharing_cores < here.size;
    int const id = placed.place() ? placed.place()->device
                   : is_bound     ? nearest_gpu(node, here.first_threads, me)
                                  : node.place(here.size)[me].device;
    if (id >= 0) facts.nearest = node.devices()[std::size_t(id)].pci_id;
  }
  return map_device(how, facts);
}

} // namespace detail

KEEL_INLINE void propose(std::span<changeable_knobs const> devices, int rank, std::span<char const> told,
                         placed_rank const& placed, program_settings const& program, own_node const& node) {
  detail::neighbours const here{rank, told};
  for (auto const& d : devices) {
    if (d.device->default_threads != nullptr)
      d.propose(knob::threads, share_of_threads(d.device->default_threads(), here.sharing_cores));
    d.propose(knob::numa_regions, 1);
    if (d.device->max_devices != nullptr)
      if (auto const instance = detail::mapped_instance(*d.device, here, placed, program, node))
        d.propose(knob::device_instance, *instance);
  }
}

} // namespace keel::device
