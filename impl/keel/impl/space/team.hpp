// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Teams on keel's own execution spaces: leagues run in parallel, and the threads of a team at the same time.

#include <keel/impl/space/engine.hpp>
#include <keel/impl/space/items.hpp>
#include <keel/space/kokkos.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

namespace Kokkos::Impl {

/// The team policy as Kokkos wants it of an execution space. A team of more threads than the instance has aborts.
template <keel::space::detail::Engine Space, class... Properties>
class TeamPolicyInternal<Space, Properties...> : public PolicyTraits<Properties...> {
public:
  using traits = PolicyTraits<Properties...>;
  using execution_policy = TeamPolicyInternal;
  using execution_space = Space;
  using member_type = HostThreadTeamMember<Space>;

  /// `team` and the length of vectors, which is not used, are numbers or `Kokkos::AUTO`.
  template <class Team, class Vector = int>
  TeamPolicyInternal(Space const& space, int league, Team const& team, Vector const& = 1)
      : space_(space), league_(league) {
    if constexpr (!std::is_same_v<Team, AUTO_t>) team_ = int(team);
    if (team_ > space.impl_threads())
      Kokkos::abort("keel::space: a team of more threads was asked for than the instance has (a team's threads run at "
                    "the same time). Use Kokkos::AUTO, or team_size_max.");
  }
  template <class Team, class Vector = int>
  TeamPolicyInternal(int league, Team const& team, Vector const& vector = 1)
      : TeamPolicyInternal(Space(), league, team, vector) {}

  template <class... Other>
  TeamPolicyInternal(TeamPolicyInternal<Space, Other...> const& other)
      : space_(other.space_), league_(other.league_), team_(other.team_), chunk_(other.chunk_) {
    for (int level : {0, 1}) {
      per_team_[level] = other.per_team_[level];
      per_thread_[level] = other.per_thread_[level];
    }
  }
  /// Kokkos 5 (graphs) puts a copy on another instance with a tag of its own.
  template <class Update>
    requires(!std::convertible_to<Update, Space> && !std::convertible_to<Update, int>)
  TeamPolicyInternal(Update const&, TeamPolicyInternal const& other, Space const& space) : TeamPolicyInternal(other) {
    space_ = space;
  }

  [[nodiscard]] Space const& space() const { return space_; }
  [[nodiscard]] int league_size() const { return league_; }
  [[nodiscard]] int team_size() const { return team_; }
  template <class... Any>
  [[nodiscard]] int team_size_max(Any const&...) const {
    return std::min<int>(space_.impl_threads(), HostThreadTeamData::max_team_members);
  }
  /// One: leagues keep all threads busy, and a team of one thread waits for no other.
  template <class... Any>
  [[nodiscard]] int team_size_recommended(Any const&...) const {
    return 1;
  }
  // Nothing to tune.
  [[nodiscard]] bool impl_auto_team_size() const { return false; }
  [[nodiscard]] bool impl_auto_vector_length() const { return false; }
  void impl_set_team_size(std::size_t size) { team_ = int(size); }
  void impl_set_vector_length(std::size_t) {}
  [[nodiscard]] int impl_vector_length() const { return 1; }
  [[nodiscard]] static int vector_length_max() { return 1024; }
  [[nodiscard]] static int scratch_size_max(int level) { return level == 0 ? 32 * 1024 : 20 * 1024 * 1024; }
  [[nodiscard]] std::size_t scratch_size(int level) const { return scratch_size(level, team_); }
  [[nodiscard]] std::size_t scratch_size(int level, int team) const {
    return per_team_[level] + std::size_t(team) * per_thread_[level];
  }
  [[nodiscard]] int chunk_size() const { return chunk_; }

  TeamPolicyInternal& set_chunk_size(typename traits::index_type size) {
    chunk_ = int(size);
    return *this;
  }
  TeamPolicyInternal& set_scratch_size(int level, PerTeamValue const& team) {
    per_team_[level] = std::size_t(team.value);
    return *this;
  }
  TeamPolicyInternal& set_scratch_size(int level, PerThreadValue const& thread) {
    per_thread_[level] = std::size_t(thread.value);
    return *this;
  }
  TeamPolicyInternal& set_scratch_size(int level, PerTeamValue const& team, PerThreadValue const& thread) {
    return set_scratch_size(level, team).set_scratch_size(level, thread);
  }

private:
  template <class, class...>
  friend class TeamPolicyInternal;

  Space space_;
  int league_;
  int team_ = 1;
  int chunk_ = 1;
  std::size_t per_team_[2]{};
  std::size_t per_thread_[2]{};
};

} // namespace Kokkos::Impl

namespace keel::space::detail {

/// A number for parameters that are an `int` in old versions of Kokkos and a `std::size_t` in newer ones.
struct any_integer {
  std::size_t value;
  template <std::integral I>
  constexpr operator I() const { // NOLINT(google-explicit-constructor): made to be passed
    return static_cast<I>(value);
  }
};

/// One thread of a team, with memory to reduce in; the team's first has the team's scratch memory.
class team_thread {
public:
  explicit team_thread(std::size_t scratch, bool is_first = true)
      : bytes_(Kokkos::Impl::HostThreadTeamData::scratch_size(0, reduce_bytes, any_integer{is_first ? scratch : 0}, 0)),
        memory_(std::aligned_alloc(64, (bytes_ + 63) / 64 * 64), &std::free) {
    if (!memory_) throw std::bad_alloc();
    data_.scratch_assign(memory_.get(), bytes_, 0, reduce_bytes, any_integer{scratch}, 0);
  }
  team_thread(team_thread const&) = delete;
  team_thread& operator=(team_thread const&) = delete;
  [[nodiscard]] Kokkos::Impl::HostThreadTeamData& data() { return data_; }

private:
  static constexpr int reduce_bytes = 512; // as Kokkos' own host spaces have

  std::size_t bytes_;
  std::unique_ptr<void, void (*)(void*)> memory_;
  Kokkos::Impl::HostThreadTeamData data_;
};

/// Makes a team of `size` threads, all of it on the calling one. Kokkos' `organize_team` is for each thread and waits
/// for the others; a Kokkos library that was built for one thread counts them with plain additions there, loses some,
/// and all wait forever. So all arrive at that barrier beforehand: the first releases it, and none waits.
inline void organize_team(Kokkos::Impl::HostThreadTeamData* members[], int size) {
  using data = Kokkos::Impl::HostThreadTeamData;
  data::organize_pool(members, size);
  std::int64_t* const barrier =
      members[0]->pool_reduce() - int(data::max_team_rendezvous) - int(data::max_pool_rendezvous);
  for (int rank = 0, step = 0; rank < size; ++rank)
    Kokkos::Impl::HostBarrier::split_arrive(reinterpret_cast<int*>(barrier), size, step);
  for (int rank = 0; rank < size; ++rank) members[rank]->organize_team(size);
}

/// Bytes of scratch memory that a team has, of both levels.
template <class... T, class F>
std::size_t team_scratch(Kokkos::TeamPolicy<T...> const& p, F const& f) {
  return p.scratch_size(0, p.team_size()) + p.scratch_size(1, p.team_size()) +
         std::size_t(Kokkos::Impl::FunctorTeamShmemSize<F>::value(f, p.team_size()));
}

template <class... T>
struct items<Kokkos::TeamPolicy<T...>> {
  using policy = Kokkos::TeamPolicy<T...>;

  static std::int64_t count(policy const& p) { return p.league_size(); }

  /// Runs teams of one thread.
  template <class F, class... Update>
  static void run(policy const& p, F const& f, std::int64_t begin, std::int64_t end, Update&&... update) {
    team_thread thread(team_scratch(p, f));
    Kokkos::Impl::HostThreadTeamData* team[] = {&thread.data()};
    organize_team(team, 1);
    for (std::int64_t league = begin; league < end; ++league)
      call<typename policy::work_tag>(f, typename policy::member_type(thread.data(), int(league), p.league_size()),
                                      update...);
  }
};

/// Leagues, cut over teams: a chunk is one thread of a team. Teams of one thread are chunks like others.
template <class... T>
class cut<Kokkos::TeamPolicy<T...>> {
  using policy = Kokkos::TeamPolicy<T...>;

public:
  template <class F>
  cut(policy const& p, F const& f) : policy_(p), size_(p.team_size()) {
    std::int64_t const teams = size_ > 1 ? std::min(p.league_size(), p.space().impl_threads() / size_) : 0;
    count_ = std::max<std::int64_t>(1, size_ > 1 ? teams * size_ : chunks_of(p, p.league_size()));
    std::size_t const scratch = team_scratch(p, f);
    for (std::int64_t t = 0; t < teams; ++t) {
      std::vector<Kokkos::Impl::HostThreadTeamData*> members;
      for (int rank = 0; rank < size_; ++rank)
        members.push_back(&threads_.emplace_back(std::make_unique<team_thread>(scratch, rank == 0))->data());
      organize_team(members.data(), size_);
    }
  }

  [[nodiscard]] bool empty() const { return policy_.league_size() == 0; }
  [[nodiscard]] std::int64_t count() const { return count_; }
  template <class Each>
  void for_all(Each const& each) const {
    if (threads_.empty()) policy_.space().impl_for_chunks(count_, each);
    else policy_.space().impl_run_together(int(count_), [&](int c) { each(c); });
  }
  template <class F, class... Update>
  void run(std::int64_t c, F const& f, Update&&... update) const {
    if (!threads_.empty()) return run_thread(c, f, update...);
    auto const [begin, end] = part(policy_.league_size(), count_, c);
    items<policy>::run(policy_, f, begin, end, update...);
  }

private:
  template <class F, class... Update>
  void run_thread(std::int64_t c, F const& f, Update&... update) const {
    auto& data = threads_[std::size_t(c)]->data();
    auto const [begin, end] = part(policy_.league_size(), count_ / size_, c / size_);
    for (std::int64_t league = begin; league < end; ++league) {
      call<typename policy::work_tag>(f, typename policy::member_type(data, int(league), policy_.league_size()),
                                      update...);
      if (data.team_rendezvous()) data.team_rendezvous_release(); // all leave before one uses the scratch memory again
    }
  }

  policy const& policy_;
  int size_;
  std::int64_t count_ = 1;
  std::vector<std::unique_ptr<team_thread>> threads_;
};

} // namespace keel::space::detail
