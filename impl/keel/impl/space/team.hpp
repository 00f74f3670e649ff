// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Teams on keel's own execution spaces: a team is one thread, leagues run in parallel.

#include <keel/impl/space/engine.hpp>
#include <keel/impl/space/items.hpp>
#include <keel/space/kokkos.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

namespace Kokkos::Impl {

/// The team policy as Kokkos wants it of an execution space. A team of more than one thread aborts.
template <keel::space::detail::Engine Space, class... Properties>
class TeamPolicyInternal<Space, Properties...> : public PolicyTraits<Properties...> {
public:
  using traits = PolicyTraits<Properties...>;
  using execution_policy = TeamPolicyInternal;
  using execution_space = Space;
  using member_type = HostThreadTeamMember<Space>;

  TeamPolicyInternal(Space const& space, int league, int team, int = 1) : space_(space), league_(league) {
    if (team > 1)
      Kokkos::abort("keel::space: a team of more than one thread was asked for (teams here are one thread wide). "
                    "Use Kokkos::AUTO?");
  }
  TeamPolicyInternal(Space const& space, int league, AUTO_t const&, int = 1) : space_(space), league_(league) {}
  TeamPolicyInternal(Space const& space, int league, AUTO_t const&, AUTO_t const&) : space_(space), league_(league) {}
  TeamPolicyInternal(Space const& space, int league, int team, AUTO_t const&)
      : TeamPolicyInternal(space, league, team) {}
  template <class Team>
  TeamPolicyInternal(int league, Team const& team, int vector = 1)
      : TeamPolicyInternal(Space(), league, team, vector) {}
  template <class Team, class Vector>
    requires std::same_as<Vector, AUTO_t>
  TeamPolicyInternal(int league, Team const& team, Vector const& vector)
      : TeamPolicyInternal(Space(), league, team, vector) {}

  template <class... Other>
  TeamPolicyInternal(TeamPolicyInternal<Space, Other...> const& other)
      : space_(other.space_), league_(other.league_), chunk_(other.chunk_) {
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
  [[nodiscard]] int team_size() const { return 1; }
  template <class... Any>
  [[nodiscard]] int team_size_max(Any const&...) const {
    return 1;
  }
  template <class... Any>
  [[nodiscard]] int team_size_recommended(Any const&...) const {
    return 1;
  }
  // Nothing to tune: the size of a team is fixed.
  [[nodiscard]] bool impl_auto_team_size() const { return false; }
  [[nodiscard]] bool impl_auto_vector_length() const { return false; }
  void impl_set_team_size(std::size_t) {}
  void impl_set_vector_length(std::size_t) {}
  [[nodiscard]] int impl_vector_length() const { return 1; }
  [[nodiscard]] static int vector_length_max() { return 1024; }
  [[nodiscard]] static int scratch_size_max(int level) { return level == 0 ? 32 * 1024 : 20 * 1024 * 1024; }
  [[nodiscard]] std::size_t scratch_size(int level, int = 0) const { return per_team_[level] + per_thread_[level]; }
  [[nodiscard]] int chunk_size() const { return chunk_; }

  TeamPolicyInternal& set_chunk_size(typename traits::index_type size) {
    chunk_ = static_cast<int>(size);
    return *this;
  }
  TeamPolicyInternal& set_scratch_size(int level, PerTeamValue const& team) {
    per_team_[level] = static_cast<std::size_t>(team.value);
    return *this;
  }
  TeamPolicyInternal& set_scratch_size(int level, PerThreadValue const& thread) {
    per_thread_[level] = static_cast<std::size_t>(thread.value);
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
  int chunk_ = 1;
  std::size_t per_team_[2]{};
  std::size_t per_thread_[2]{};
};

} // namespace Kokkos::Impl

namespace keel::space::detail {

/// One thread of a team, with its scratch memory. Not shared, so no other thread can disturb it.
class team_of_one {
public:
  explicit team_of_one(std::size_t scratch)
      : bytes_(Kokkos::Impl::HostThreadTeamData::scratch_size(0, reduce_bytes, static_cast<int>(scratch), 0)),
        memory_(std::aligned_alloc(64, (bytes_ + 63) / 64 * 64), &std::free) {
    if (!memory_) throw std::bad_alloc();
    data_.scratch_assign(memory_.get(), bytes_, 0, reduce_bytes, static_cast<int>(scratch), 0);
    Kokkos::Impl::HostThreadTeamData* pool[] = {&data_};
    Kokkos::Impl::HostThreadTeamData::organize_pool(pool, 1);
    data_.organize_team(1);
  }
  team_of_one(team_of_one const&) = delete;
  team_of_one& operator=(team_of_one const&) = delete;
  ~team_of_one() {
    data_.disband_team();
    data_.disband_pool();
  }
  [[nodiscard]] Kokkos::Impl::HostThreadTeamData& data() { return data_; }

private:
  static constexpr int reduce_bytes = 512; // as Kokkos' own host spaces have

  std::size_t bytes_;
  std::unique_ptr<void, void (*)(void*)> memory_;
  Kokkos::Impl::HostThreadTeamData data_;
};

template <class... T>
struct items<Kokkos::TeamPolicy<T...>> {
  using policy = Kokkos::TeamPolicy<T...>;

  static std::int64_t count(policy const& p) { return p.league_size(); }

  template <class F, class... Update>
  static void run(policy const& p, F const& f, std::int64_t begin, std::int64_t end, Update&&... update) {
    team_of_one team(p.scratch_size(0) + p.scratch_size(1) +
                     static_cast<std::size_t>(Kokkos::Impl::FunctorTeamShmemSize<F>::value(f, 1)));
    for (std::int64_t league = begin; league < end; ++league)
      call<typename policy::work_tag>(
          f, typename policy::member_type(team.data(), static_cast<int>(league), p.league_size()), update...);
  }
};

} // namespace keel::space::detail
