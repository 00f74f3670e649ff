// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The copy queue of a Kokkos space.

#include <keel/impl/exchange/copy_queue_of_space.hpp>
#include <keel/space/recorder.hpp>
#include <keel/space/peers.hpp>
#include <keel/space/kokkos.hpp>
#include <keel/space/pinned.hpp>
#include <keel/space/simulated.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace keel::residency::detail {

/// The queue of an instance of `Space`, with all kernels that keel has of its own.
template <class Space>
class kokkos_queue final : public queue_model {
public:
  explicit kokkos_queue(Space const& space) : space_(space) {}

  using policy = Kokkos::RangePolicy<Space>;
  using words_count = typename policy::member_type;
  static constexpr int lanes = 256; // of a team, four of which share a multiprocessor at most
  using teams = Kokkos::TeamPolicy<Space, Kokkos::LaunchBounds<lanes, 4>>;
  static constexpr bool has_lanes =
      requires(Space const& s) { s.cuda_stream(); } || requires(Space const& s) { s.hip_stream(); };
  using device_memory = typename Space::memory_space;

  template <class Memory>
  static std::shared_ptr<std::byte> bytes_in(char const* label, std::size_t bytes) {
    return {static_cast<std::byte*>(Kokkos::kokkos_malloc<Memory>(label, bytes)), &Kokkos::kokkos_free<Memory>};
  }
  /// What `Kokkos::deep_copy` does with two arrays of bytes. Its kernels for other arrays cost the compiler time.
  template <class To, class From>
  void copy_bytes(void* to, void const* from, std::size_t bytes) const {
    if (bytes == 0) return;
    bool const is_shown = Kokkos::Tools::profileLibraryLoaded();
    if (is_shown) [[unlikely]]
      Kokkos::Tools::beginDeepCopy(Kokkos::Tools::make_space_handle(To::name()), {}, to,
                                   Kokkos::Tools::make_space_handle(From::name()), {}, from, bytes);
    (void)Kokkos::Impl::DeepCopy<To, From, Space>(space_, to, from, bytes);
    if (is_shown) [[unlikely]]
      Kokkos::Tools::endDeepCopy();
  }
  /// A thread as a team.
  struct thread {
    [[nodiscard]] KEEL_FUNCTION static int team_rank() { return 0; }
    KEEL_FUNCTION static void team_barrier() {}
  };
  /// Each has a share of pieces that follow on each other, so that those that come later may run later.
  template <bool Extends>
  struct move_by_threads {
    move_words words;
    std::int32_t share;
    KEEL_FUNCTION void operator()(words_count i) const {
      std::int32_t const begin = std::int32_t(i) * share, left = words.pieces - begin;
      words.run<Extends, 1>(thread{}, begin, left < share ? words.pieces : begin + share, 1);
    }
  };
  /// The first ones pack, if some of the pieces are packed and some awaited.
  template <bool Extends>
  struct move_by_teams {
    move_words words;
    std::int32_t packing;
    KEEL_FUNCTION void operator()(typename teams::member_type const& team) const {
      std::int32_t const t = team.league_rank(), packed = packing != 0 ? words.raised : 0;
      if (t < packing) words.run<Extends, lanes>(team, t, packed, packing);
      else words.run<Extends, lanes>(team, packed + t - packing, words.pieces, team.league_size() - packing);
    }
  };
  /// On a GPU by teams, as many as have work; if there are flags, as many as run at once in half of it, which leaves
  /// the other half to others while they wait.
  void move(move_words const& words) const override {
    if (words.extends) move_by<true>("keel: walls", words);
    else
      move_by<false>(words.listed == nullptr && words.jobs[0].how >= motion::raise ? "keel: flags" : "keel: regions",
                     words);
  }
  template <bool Extends>
  void move_by(char const* label, move_words const& words) const {
    std::int32_t const threads = space_.concurrency(), pieces = words.pieces;
    if constexpr (has_lanes) {
      bool const has_flags = words.raises || words.awaits;
      int const count = has_flags ? std::min(pieces, std::max(2, threads / 2 / lanes)) : pieces;
      int const packing = words.raises && words.awaits ? std::min(words.raised, count / 2) : 0;
      Kokkos::parallel_for(label, keel::space::detail::light(teams(space_, count, lanes)),
                           move_by_teams<Extends>{words, packing});
    } else {
      std::int32_t const count = std::max(1, std::min((pieces + 15) / 16, threads)),
                         share = (pieces + count - 1) / count;
      Kokkos::parallel_for(label, keel::space::detail::light(policy(space_, 0, words_count(count))),
                           move_by_threads<Extends>{words, share});
    }
  }
  std::uint64_t digest(void const* array, strip const& which) const override {
    std::uint64_t sum = 0;
    Kokkos::parallel_reduce("keel: digest", policy(space_, 0, words_count(which.words)), digest_words{array, which},
                            sum);
    return sum;
  }
  std::shared_ptr<std::byte> allocate(char const* label, std::size_t bytes) const override {
    return bytes_in<device_memory>(label, bytes);
  }
  std::shared_ptr<std::byte> allocate_on_host(char const* label, std::size_t bytes) const override {
    return bytes_in<keel::space::pinned>(label, bytes);
  }
  void to_device(void* to, void const* host_from, std::size_t bytes) const override {
    copy_bytes<device_memory, Kokkos::HostSpace>(to, host_from, bytes);
  }
  void to_host(void* host_to, void const* from, std::size_t bytes) const override {
    copy_bytes<Kokkos::HostSpace, device_memory>(host_to, from, bytes);
  }
  void copy(void* to, void const* from, std::size_t bytes) const override {
    copy_bytes<device_memory, device_memory>(to, from, bytes);
  }
  void fence() const override { space::detail::wait_for(space_); }
  bool is_reached_by_host() const override {
    if constexpr (std::is_same_v<device_memory, keel::space::simulated_memory>)
      return keel::space::chosen_guard() != keel::space::guard::pages;
    else return false;
  }
  bool waits_in_kernels() const override { return !has_lanes || keel::space::runs_one_process<Space>(); }
  keel::space::peer_memory* peers() const override { return keel::space::peers_of<device_memory>(); }
  void* native() const override {
    if constexpr (requires { space_.cuda_stream(); }) return space_.cuda_stream();
    else if constexpr (requires { space_.hip_stream(); }) return space_.hip_stream();
    else return nullptr;
  }
  using recorder = keel::space::recorder<Space>;
  bool can_record() const override { return recorder::can_record; }
  void record() const override { recorder::begin(space_); }
  std::shared_ptr<void const> recorded() const override { return recorder::end(space_); }
  std::shared_ptr<void const> joined(keel::space::recorded_parts parts,
                                     keel::space::parts_before before) const override {
    return recorder::join(parts, before);
  }
  void replay(void const* work) const override { recorder::launch(space_, work); }
  std::shared_ptr<queue_model const> beside() const override {
    if (Kokkos::Tools::profileLibraryLoaded()) return nullptr;
    if constexpr (requires { requires std::is_same_v<decltype(Space::new_instance()), Space>; }) {
      static Space const other = Space::new_instance();
      return std::make_shared<kokkos_queue>(other);
    }
#if KOKKOS_VERSION >= 30700
    else if constexpr (has_lanes)
      return std::make_shared<kokkos_queue>(Kokkos::Experimental::partition_space(space_, 1)[0]);
#endif
    else return nullptr;
  }

private:
  Space space_;
};

template <class Space>
copy_queue kokkos_copy_queue(Space const& queue) {
  return copy_queue(std::make_shared<kokkos_queue<Space>>(queue));
}

} // namespace keel::residency::detail
