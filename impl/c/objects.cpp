// SPDX-License-Identifier: MIT
/// @file
/// Start and end, objects, and where elements are, for C.

#include "objects.hpp"

#include <keel/machine/agreement.hpp>
#include <keel/machine/reductions.hpp>
#include <keel/policy/choose.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <set>

namespace keel::c {

namespace {

thread_local std::array<char, 2048> message{}; // which needs no memory
std::unique_ptr<keel::start<c_app>> before;
std::unique_ptr<runtime> running;

struct element {
  std::int64_t bytes, alignment;
  kr::detail::addend added_as;
};
constexpr std::array<element, 7> elements{{{},
                                           {4, 4, kr::detail::addend::int32},
                                           {8, 8, kr::detail::addend::int64},
                                           {4, 4, kr::detail::addend::float32},
                                           {8, 8, kr::detail::addend::float64},
                                           {8, 4, kr::detail::addend::float32},
                                           {16, 8, kr::detail::addend::float64}}};
static_assert(elements.size() == KEEL_COMPLEX_DOUBLE + 1);

void require_number(bool is_good, std::string_view what, std::int64_t number, std::string_view hint) {
  if (!is_good)
    throw error("c", std::string(what) + " is " + std::to_string(number), "that is none that there is", hint);
}

auto parent_of(int communicator) {
#if KEEL_WITH_MPI
  return MPI_Comm_f2c(communicator);
#else
  return machine::alone::handle(communicator == 0 ? 0 : 1);
#endif
}

template <class Make>
int start(int* argc, char*** argv, Make const& make) {
  return guarded([&] {
    if (running) throw coded(KEEL_NOT_RUNNING, "keel_start is called again", "keel runs", "Call keel_end first");
    if (!before) before = std::make_unique<keel::start<c_app>>();
    static int no_words = 0;
    static char* none = nullptr;
    bool const has_words = argc != nullptr && argv != nullptr;
    running = make(has_words ? *argc : no_words, has_words ? *argv : &none);
    before = nullptr;
  });
}

} // namespace

runtime& run() {
  if (!running)
    throw coded(KEEL_NOT_RUNNING, "keel does not run", "it was not started, or has ended", "Call keel_start");
  return *running;
}

int caught(std::exception_ptr const& what) noexcept {
  auto const said = [](char const* text, int code) {
    *std::copy_n(text, std::min(std::strlen(text), message.size() - 1), message.begin()) = 0;
    return code;
  };
  try {
    std::rethrow_exception(what);
  } catch (coded const& e) {
    return said(e.what(), e.code_of_c);
  } catch (error const& e) {
    return said(e.what(), KEEL_REFUSED);
  } catch (std::bad_alloc const&) {
    return said("keel::c: there is not enough memory.", KEEL_NO_MEMORY);
  } catch (std::exception const& e) {
    return said(e.what(), KEEL_FAILED);
  } catch (...) {
    return said("keel::c: an exception of an unknown type.", KEEL_FAILED);
  }
}

std::vector<slot>& slots() {
  static std::vector<slot> all;
  return all;
}

int add(std::string_view const* kind, std::shared_ptr<void> it) {
  constexpr int most = 0x7fff;
  auto& all = slots();
  auto at = std::find_if(all.begin(), all.end(), [](slot const& s) { return s.kind == nullptr && s.taken < most; });
  if (at == all.end()) {
    if (all.size() > 0xffff) throw error("c", "there are 65536 objects", "a handle counts no more", "Free some");
    at = all.insert(at, slot{});
  }
  at->kind = kind, at->it = std::move(it), ++at->taken;
  return at->taken << 16 | int(at - all.begin());
}

void refuse(int handle, std::string_view wanted) {
  (void)run();
  auto const at = std::size_t(handle & 0xffff);
  bool const is_known = handle > 0 && at < slots().size() && slots()[at].taken >= handle >> 16 && handle >> 16 > 0;
  bool const is_there = is_known && slots()[at].taken == handle >> 16 && slots()[at].kind != nullptr;
  throw coded(KEEL_BAD_HANDLE, "handle " + std::to_string(handle) + " is not " + std::string(wanted),
              is_there   ? "it is " + std::string(*slots()[at].kind)
              : is_known ? "it was freed"
                         : "no call gave it",
              "Pass what the call that makes it gave");
}

void require(void const* pointer, std::string_view what) {
  if (pointer == nullptr) throw error("c", std::string(what) + " is null", "it is needed", "Pass its address");
}

void require_length(std::int64_t count, std::string_view what) {
  if (count < 0) throw error("c", std::string(what) + " has a negative length", "none has", "Say 0 for none");
}

std::string_view kept(std::string_view name) {
  static std::set<std::string, std::less<>> all;
  auto const at = all.find(name);
  return at != all.end() ? *at : *all.emplace(name).first;
}

kr::detail::array_memory const* device_memory() {
  static std::size_t of = 0;
  static kr::detail::array_memory const* found = nullptr;
  if (of == run().number()) return found;
  run().start_devices();
  with_device<runtime::devices>(run().device_name(), []<class Tag>(Tag) {
    found = kr::detail::memory_of_space<kr::detail::space_of<Tag>, kr::detail::memory_space_of<Tag>>();
  });
  of = run().number();
  return found;
}

void const* type_of(int type) {
  static constexpr std::array<char, 32> addresses{};
  return &addresses[std::size_t(type < KEEL_BYTES ? type : type - KEEL_BYTES + 8) % addresses.size()];
}

kr::detail::array_ref ref_of(keel_array const& a) {
  kr::detail::array_ref made;
  bool const is_number = a.type > 0 && a.type < int(elements.size());
  require_number(is_number || (a.type > KEEL_BYTES && a.type <= KEEL_BYTES + 16), "the type of an array", a.type,
                 "Say KEEL_DOUBLE");
  require_number(a.memory == KEEL_HOST || a.memory == KEEL_DEVICE, "the memory of an array", a.memory,
                 "Say KEEL_HOST or KEEL_DEVICE");
  require_number(a.rank >= 0 && a.rank <= kr::max_rank, "the rank of an array", a.rank, "Say 1 to 8");
  require_number(a.indexed >= 0 && a.indexed <= kr::max_grid_rank, "the number of its indices that count", a.indexed,
                 "Say 0 to 4");
  require_number(a.layers >= 0, "the number of layers", a.layers, "Say 0 for all");
  element const e =
      is_number ? elements[std::size_t(a.type)] : element{a.type - KEEL_BYTES, 1, kr::detail::addend::none};
  made.element_bytes = e.bytes, made.alignment = e.alignment, made.added_as = e.added_as;
  made.data = a.data;
  made.rank = a.rank;
  if (a.mesh != nullptr && *a.mesh != 0) made.on.mesh = kept(a.mesh);
  made.on.longer = std::uint8_t(a.longer & (KEEL_OTHER_SIGN - 1));
  made.on.changes_sign = (a.longer & KEEL_OTHER_SIGN) != 0, made.on.along = std::uint8_t(a.along);
  for (int d = 0; d < a.indexed; ++d) {
    require_number(a.index[d] >= 0 && a.index[d] < kr::max_rank, "an index that counts", a.index[d], "Say 0 to 7");
    made.index_of[std::size_t(d)] = std::int8_t(a.index[d]);
  }
  made.indexed = a.indexed, made.layers = a.layers, made.says_layers = a.layers > 0;
  if (a.memory == KEEL_DEVICE) made.where = device_memory();
  std::span const lengths(a.extents, std::size_t(a.rank)), steps(a.strides, std::size_t(a.rank));
  bool const has_steps = std::any_of(steps.begin(), steps.end(), [](std::int64_t s) { return s != 0; });
  if (a.rank > 0) made.set(lengths, has_steps ? steps : std::span<std::int64_t const>());
  return made;
}

places places_of(environment const& ranks, int grid, int count, int const* partitions, int const* made) {
  places found;
  machine::agreement(ranks).all_alike({"c", "an object", "is not made", "Mend that one"}, [&] {
    require(made, "what is made");
    if (grid != 0) found.whole = &get<grid_object>(grid).it;
    for (int const handle : listed(count, partitions, "the list of partitions")) {
      auto const& one = get<partition_object>(handle);
      found.meshes.push_back({one.mesh, kr::detail::mesh_space(one.mesh, one.it)});
    }
  });
  return found;
}

double sum_of(environment const& ranks, kr::detail::array_ref const& a, int type) {
  machine::exact_sum mine;
  bool const is_double = type == KEEL_DOUBLE;
  machine::agreement(ranks).all_alike({"c", "a sum", "is not made", "Mend that one"}, [&] {
    if (!is_double && type != KEEL_FLOAT)
      throw error("c", "elements of another type are to be summed", "sums are of float or double", "Convert them");
    std::int64_t count = 1;
    for (int d = 0; d < a.rank; ++d) {
      require_length(a.extents[d], "what is summed");
      count *= a.extents[d];
    }
    if (count != 0) require(a.data, "what is summed");
    require_reached(a, "c", "what is summed");
    std::array<std::int64_t, kr::max_rank> at{};
    for (std::int64_t n = 0; n < count; ++n) {
      std::int64_t place = 0;
      for (int d = 0; d < a.rank; ++d) place += at[std::size_t(d)] * a.strides[d];
      mine += is_double ? static_cast<double const*>(a.data)[place] : static_cast<float const*>(a.data)[place];
      for (int d = 0; d < a.rank && ++at[std::size_t(d)] == a.extents[d]; ++d) at[std::size_t(d)] = 0;
    }
  });
  return machine::sum(ranks, mine, machine::ordered);
}

} // namespace keel::c

using namespace keel::c;
namespace kr = keel::residency;

char const* keel_message() { return message.data(); }
char const* keel_device() { return running ? running->device_name().data() : ""; }

int keel_set(char const* knob, char const* text) {
  return guarded([&] {
    if (running) throw coded(KEEL_NOT_RUNNING, "a knob is set too late", "keel runs", "Set it before keel_start");
    require(knob, "the knob"), require(text, "its text");
    if (!before) before = std::make_unique<keel::start<c_app>>();
    before->set(knob, text);
  });
}
int keel_start(int* argc, char*** argv) {
  return start(argc, argv, [](int& c, char** v) { return std::make_unique<runtime>(c, v, *before); });
}
int keel_start_on(int* argc, char*** argv, int communicator) {
  return start(argc, argv,
               [&](int& c, char** v) { return std::make_unique<runtime>(c, v, *before, parent_of(communicator)); });
}
int keel_end() {
  return guarded([] {
    (void)run();
    auto& all = slots();
    for (std::size_t n = all.size(); n-- > 0;) all[n].kind = nullptr, all[n].it = nullptr;
    running = nullptr;
  });
}
int keel_free(int handle) {
  return guarded([&] {
    (void)run();
    auto const at = std::size_t(handle & 0xffff);
    if (handle <= 0 || at >= slots().size() || slots()[at].taken != handle >> 16 || slots()[at].kind == nullptr)
      refuse(handle, "an object");
    slots()[at].kind = nullptr;
    auto const last = std::move(slots()[at].it); // may free others
  });
}

int keel_world(int* made) {
  return guarded([&] {
    require(made, "the environment");
    *made = add(std::make_shared<ranks_object>(
        ranks_object{std::shared_ptr<environment const>(std::shared_ptr<void>(), &run().environment())}));
  });
}
int keel_environment(int communicator, int* made) {
  return guarded([&] {
    (void)run(), require(made, "the environment");
    *made =
        add(std::make_shared<ranks_object>(ranks_object{std::make_shared<environment const>(parent_of(communicator))}));
  });
}
int keel_rank(int ranks, int* rank, int* size) {
  return guarded([&] {
    auto const& env = *get<ranks_object>(ranks).it;
    if (rank != nullptr) *rank = env.rank();
    if (size != nullptr) *size = env.size();
  });
}
int keel_ordered_sum(int ranks, std::int64_t n, double const* values, double* sum) {
  return guarded([&] {
    auto const& env = *get<ranks_object>(ranks).it;
    require(sum, "the sum");
    kr::detail::array_ref a;
    a.data = const_cast<double*>(values), a.rank = 1, a.extents[0] = n, a.strides[0] = 1;
    *sum = sum_of(env, a, KEEL_DOUBLE);
  });
}

namespace {
int make_partition(kr::detail::search_for what, int ranks, char const* mesh, std::int64_t owned_count,
                   std::int64_t const* owned, int layers, std::int64_t const* counts, std::int64_t const* ghosts,
                   int* made) {
  return guarded([&] {
    auto const& env = *get<ranks_object>(ranks).it;
    std::span<std::int64_t const> mine;
    std::vector<std::span<std::int64_t const>> all;
    keel::machine::agreement(env).all_alike({"c", "a partition", "is not made", "Mend that one"}, [&] {
      require(mesh, "the name of the mesh"), require(made, "the partition");
      mine = listed(owned_count, owned, "the list of owned elements");
      for (std::int64_t const n : listed(layers, counts, "the list of layers")) {
        all.push_back(listed(n, ghosts, "a layer of ghosts"));
        ghosts += n;
      }
    });
    auto const name = kept(mesh);
    *made = add(std::make_shared<partition_object>(
        partition_object{name, kr::detail::find_owners(env, name, mine, all, what)}));
  });
}
} // namespace

int keel_partition(int ranks, char const* mesh, std::int64_t owned_count, std::int64_t const* owned, int layers,
                   std::int64_t const* counts, std::int64_t const* ghosts, int* made) {
  return make_partition(kr::detail::search_for::owners, ranks, mesh, owned_count, owned, layers, counts, ghosts, made);
}
int keel_partition_with_images(int ranks, char const* mesh, std::int64_t owned_count, std::int64_t const* owned,
                               int layers, std::int64_t const* counts, std::int64_t const* ghosts, int* made) {
  return make_partition(kr::detail::search_for::images, ranks, mesh, owned_count, owned, layers, counts, ghosts, made);
}
int keel_partition_size(int of, std::int64_t* owned, std::int64_t* all) {
  return guarded([&] {
    auto const& part = *get<partition_object>(of).it;
    if (owned != nullptr) *owned = part.owned;
    if (all != nullptr) *all = std::int64_t(part.ids.size());
  });
}
int keel_partition_ids(int of, std::int64_t* ids) {
  return guarded([&] {
    auto const& part = *get<partition_object>(of).it;
    if (!part.ids.empty()) require(ids, "the list of ids");
    std::copy(part.ids.begin(), part.ids.end(), ids);
  });
}

namespace {
kr::grid grid_of(int rank, std::int64_t const* extents, auto const&... options) {
  auto const make = [&](auto... d) { return kr::grid({kr::extent(extents[d])...}, options...); };
  return rank == 1 ? make(0) : rank == 2 ? make(0, 1) : rank == 3 ? make(0, 1, 2) : make(0, 1, 2, 3);
}
kr::grid grid_as(kr::grid const& whole, std::vector<std::vector<std::int64_t>> cuts, kr::folding const& folds) {
  kr::ghost_width width;
  kr::periodic wraps;
  width.given = wraps.given = whole.rank();
  for (int d = 0; d < whole.rank(); ++d)
    width.values[std::size_t(d)] = whole.width(d), wraps.values[std::size_t(d)] = whole.is_periodic(d);
  return grid_of(whole.rank(), whole.extents().values, width, wraps, kr::cuts(std::move(cuts)), folds);
}
} // namespace

int keel_grid(int rank, std::int64_t const* extents, int const* ghosts, int const* periodic, int* made) {
  return guarded([&] {
    (void)run(), require(extents, "the list of extents"), require(ghosts, "the list of ghosts"),
        require(made, "the grid");
    require_number(rank >= 1 && rank <= kr::max_grid_rank, "the rank of a grid", rank, "Say 1 to 4");
    kr::ghost_width width;
    kr::periodic wraps;
    width.given = wraps.given = rank;
    for (int d = 0; d < rank; ++d)
      width.values[std::size_t(d)] = ghosts[d], wraps.values[std::size_t(d)] = periodic != nullptr && periodic[d] != 0;
    *made = add(std::make_shared<grid_object>(grid_object{grid_of(rank, extents, width, wraps)}));
  });
}
int keel_cut_grid(int grid, int const* counts, std::int64_t const* positions, int* made) {
  return guarded([&] {
    auto const& whole = get<grid_object>(grid).it;
    require(counts, "the numbers of positions"), require(positions, "the list of positions"), require(made, "the grid");
    std::vector<std::vector<std::int64_t>> all;
    for (int d = 0; d < whole.rank(); ++d) {
      auto const here = listed(counts[d], positions, "the list of positions");
      all.emplace_back(here.begin(), here.end());
      positions += counts[d];
    }
    *made = add(std::make_shared<grid_object>(grid_object{grid_as(whole, std::move(all), whole.folds())}));
  });
}
int keel_fold_grid(int grid, int dimension, int along, int pivot, int* made) {
  return guarded([&] {
    auto const& whole = get<grid_object>(grid).it;
    require(made, "the grid");
    require_number(dimension >= 0 && along >= 0, "a dimension", std::min(dimension, along), "Count from 0");
    std::vector<std::vector<std::int64_t>> cuts;
    for (int d = 0; d < whole.rank(); ++d)
      cuts.push_back(whole.cuts_in(d) ? *whole.cuts_in(d) : std::vector<std::int64_t>());
    kr::folding const folds{dimension, along, std::uint8_t(pivot)};
    *made = add(std::make_shared<grid_object>(grid_object{grid_as(whole, std::move(cuts), folds)}));
  });
}
int keel_share(int grid, int ranks, std::int64_t* extents, std::int64_t* begin, std::int64_t* end,
               std::int64_t* first) {
  return guarded([&] {
    auto const& whole = get<grid_object>(grid).it;
    auto const& env = *get<ranks_object>(ranks).it;
    kr::share const here = kr::share_of(whole, env.size(), env.rank());
    kr::bounds const owned = here.owned();
    for (int d = 0; d < here.rank; ++d) {
      if (extents != nullptr) extents[d] = here.extents[d];
      if (begin != nullptr) begin[d] = owned.begin[d];
      if (end != nullptr) end[d] = owned.end[d];
      if (first != nullptr) first[d] = here.global_begin[d];
    }
  });
}

int keel_allocate(std::int64_t bytes, void** data, int* handle) {
  return guarded([&] {
    require_length(bytes, "memory");
    require(data, "the address"), require(handle, "the handle");
    auto const* const where = device_memory();
    auto made = std::make_shared<memory_object>();
    if (where->make_queue != nullptr) {
      made->queue = where->make_queue();
      made->it = made->queue.allocate("keel_allocate", std::size_t(bytes));
    } else
      made->it = {static_cast<std::byte*>(::operator new(std::size_t(bytes))),
                  [](std::byte* p) { ::operator delete(p); }};
    *data = made->it.get();
    *handle = add(std::move(made));
  });
}
