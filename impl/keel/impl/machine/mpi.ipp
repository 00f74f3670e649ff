// SPDX-License-Identifier: MIT
#include <keel/machine/mpi.hpp>
#include <keel/impl/machine/launcher.hpp>
#include <keel/machine/host.hpp>
#include <keel/policy/error.hpp>

#include <array>
#include <string_view>

#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

namespace keel::machine {

namespace detail {

/// An `MPI_Group` for the length of a block.
class mpi_group {
public:
  mpi_group() = default;
  ~mpi_group() {
    if (group_ != MPI_GROUP_NULL) MPI_Group_free(&group_);
  }
  mpi_group(mpi_group const&) = delete;
  mpi_group& operator=(mpi_group const&) = delete;

  [[nodiscard]] MPI_Group get() const noexcept { return group_; }
  [[nodiscard]] MPI_Group* out() noexcept { return &group_; }

private:
  MPI_Group group_ = MPI_GROUP_NULL;
};

/// Collective over the ranks of the group only.
template <class Include>
mpi_communicator of_group(mpi_communicator const& c, char const* call, Include const& include) {
  auto const guard = c.guarded();
  mpi_group all;
  mpi_group some;
  MPI_Comm made = MPI_COMM_NULL;
  require(MPI_Comm_group(c.get(), all.out()), "MPI_Comm_group", c.get());
  require(include(all.get(), some.out()), call, c.get());
  require(MPI_Comm_create_group(c.get(), some.get(), 0, &made), "MPI_Comm_create_group", c.get());
  return mpi_communicator::adopt(made);
}

/// Why a world of one process is not what was launched; empty if it may be. Nothing is communicated.
inline std::optional<error> why_alone() {
  int world = 0;
  auto const said = said_by_launcher();
  if (!said || said->ranks == 1 || MPI_Comm_size(MPI_COMM_WORLD, &world) != MPI_SUCCESS || world != 1)
    return std::nullopt;
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  std::string_view library{text.data(), std::size_t(length)};
  library = library.substr(0, library.find_first_of(",\n"));
  return each_alone(*said,
                    ", MPI_COMM_WORLD does not: this program's MPI is " + std::string{library} +
                        ", and its launcher another's",
                    "Start it with the mpiexec of its own MPI");
}

} // namespace detail

KEEL_INLINE bool mpi::start(int* argc, char*** argv, thread_level wanted) {
  int begun = 0;
  MPI_Initialized(&begun);
  if (begun != 0) {
    if (!is_running()) throw error("machine::session", "MPI has ended", "it starts once a process");
    if (auto const why = detail::why_alone()) throw *why;
    return false;
  }
  constexpr int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};
  int obtained = 0;
  detail::require(MPI_Init_thread(argc, argv, levels[int(wanted)], &obtained), "MPI_Init_thread", null());
  if (auto const why = detail::why_alone()) {
    stop();
    throw *why;
  }
  return true;
}
KEEL_INLINE void mpi::stop() {
  if (is_running()) MPI_Finalize();
}
KEEL_INLINE thread_level mpi::level() {
  int obtained = MPI_THREAD_SINGLE;
  detail::require(MPI_Query_thread(&obtained), "MPI_Query_thread", null());
  return obtained == MPI_THREAD_MULTIPLE     ? thread_level::multiple
         : obtained == MPI_THREAD_SERIALIZED ? thread_level::serialized
         : obtained == MPI_THREAD_FUNNELED   ? thread_level::funneled
                                             : thread_level::single;
}

KEEL_INLINE bool mpi::reaches_device_memory() {
  bool can = false;
#if defined(MPIX_CUDA_AWARE_SUPPORT)
  can = can || MPIX_Query_cuda_support() != 0;
#endif
#if defined(MPIX_ROCM_AWARE_SUPPORT)
  can = can || MPIX_Query_rocm_support() != 0;
#endif
  return can;
}
KEEL_INLINE mpi::communicator mpi::world() {
  if (!is_running())
    throw error("machine", "MPI is not running", "it has not started, or has ended",
                "Make a keel::runtime or a keel::machine::session first");
  return communicator::borrow(MPI_COMM_WORLD);
}
KEEL_INLINE mpi::communicator mpi::borrow(handle h) {
  int is_inter = 0;
  if (h != null()) detail::require(MPI_Comm_test_inter(h, &is_inter), "MPI_Comm_test_inter", h);
  if (is_inter != 0)
    throw error("machine::environment", "the parent is an intercommunicator", "its ranks are of two groups",
                "Merge it with MPI_Intercomm_merge first");
  return communicator::borrow(h);
}
KEEL_INLINE mpi::communicator mpi::duplicate(communicator const& c) {
  auto const guard = c.guarded();
  MPI_Comm made = null();
  detail::require(MPI_Comm_dup(c.get(), &made), "MPI_Comm_dup", c.get());
  return communicator::adopt(made);
}
KEEL_INLINE mpi::communicator mpi::subset(communicator const& c, strided const& s) {
  int range[][3] = {{s.begin, s.rank_in_parent(s.size - 1), s.stride}};
  return detail::of_group(c, "MPI_Group_range_incl",
                          [&](MPI_Group all, MPI_Group* some) { return MPI_Group_range_incl(all, 1, range, some); });
}
KEEL_INLINE mpi::communicator mpi::subset(communicator const& c, chosen const& s) {
  return detail::of_group(c, "MPI_Group_incl", [&](MPI_Group all, MPI_Group* some) {
    return MPI_Group_incl(all, s.count(), s.ranks().data(), some);
  });
}
KEEL_INLINE mpi::communicator mpi::split(communicator const& c, std::optional<int> color, int key) {
  auto const guard = c.guarded();
  MPI_Comm made = null();
  detail::require(MPI_Comm_split(c.get(), color.value_or(MPI_UNDEFINED), key, &made), "MPI_Comm_split", c.get());
  return communicator::adopt(made);
}
KEEL_INLINE mpi::communicator mpi::by_identity(communicator const& c, std::uint64_t identity) {
  constexpr std::uint64_t color_bits = 0x7fffffff;
  auto made = split(c, int(identity & color_bits), 0);
  if (!all_equal(made, identity)) made = split(made, int(identity >> 31 & color_bits), 0);
  return made;
}
KEEL_INLINE mpi::communicator mpi::by_node(communicator const& c) {
  auto const guard = c.guarded();
  MPI_Comm made = null();
  detail::require(MPI_Comm_split_type(c.get(), MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made), "MPI_Comm_split_type",
                  c.get());
  auto const sharing = communicator::adopt(made);
  std::uint64_t const mine = node_identity();
  std::uint64_t least = 0;
  detail::require(MPI_Allreduce(&mine, &least, 1, MPI_UINT64_T, MPI_MIN, made), "MPI_Allreduce", made);
  return by_identity(c, least);
}
KEEL_INLINE std::pair<mpi::communicator, int> mpi::lead_nodes(communicator const& c, communicator const& node) {
  bool const leads = rank(node) == 0;
  auto made = split(c, leads ? 0 : 1, 0);
  int const leaders = leads ? size(made) : size(c) - size(made);
  return {leads ? std::move(made) : communicator{}, leaders};
}
KEEL_INLINE int mpi::rank(communicator const& c) {
  int rank = -1;
  detail::require(MPI_Comm_rank(c.get(), &rank), "MPI_Comm_rank", c.get());
  return rank;
}
KEEL_INLINE int mpi::size(communicator const& c) {
  int size = 0;
  detail::require(MPI_Comm_size(c.get(), &size), "MPI_Comm_size", c.get());
  return size;
}

static_assert(CommunicatingRanks<mpi>);

} // namespace keel::machine
