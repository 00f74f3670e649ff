// SPDX-License-Identifier: MIT
/// @file
/// Loaded before a program with LD_PRELOAD: lets one allocation, one call that writes a file, one message or one copy
/// fail.
///
/// KEEL_TEST_CALLS names a file of three numbers, which processes that fork, and the ranks of a job, share: what fails
/// (failing_call in failing.hpp), the number of the call that does, from 1, and how many calls there were so far. A
/// copy is one of Kokkos', which tells of it where this is its tool; it fails by an exception, as those of a GPU do.
/// With 6 the open communicators of all ranks are counted, and nothing fails. With 7 an allocation fails that is
/// neither MPI's nor OpenMP's, nor HDF5's, nor hwloc's while it reads this machine, nor Kokkos 5's while it gives back
/// memory or ends, because these end the program where they have no memory (Open MPI 4.1, libgomp, HDF5 1.10, hwloc
/// 2.9, Kokkos 5). glibc alone.

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#if KEEL_WITH_MPI
#include <mpi.h>
#endif

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
}

namespace {

struct shared_numbers {
  std::uint64_t kind, failing;
  std::atomic<std::uint64_t> calls;
};
shared_numbers* numbers = nullptr;
std::atomic<int> foreign = 0; ///< calls under way that 7 does not count

__attribute__((constructor)) void begin() {
  char const* const path = std::getenv("KEEL_TEST_CALLS");
  int const file = path == nullptr ? -1 : ::open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return;
  void* const at = ::mmap(nullptr, sizeof(shared_numbers), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  if (at != MAP_FAILED) numbers = static_cast<shared_numbers*>(at);
}

bool fails(std::uint64_t kind, int code) {
  if (numbers == nullptr || numbers->kind != kind || ++numbers->calls != numbers->failing) return false;
  errno = code;
  return true;
}

/// Whether a part of MPI, what it stands on, OpenMP's library or HDF5's asks for memory.
bool is_foreign(void const* caller) {
  Dl_info about{};
  if (dladdr(caller, &about) == 0 || about.dli_fname == nullptr) return false;
  for (char const* part : {"/libmpi", "/libopen-", "/openmpi/", "/libpmix", "/pmix", "/libuc", "/libevent",
                           "/libfabric", "/libgomp", "/libhdf5"})
    if (std::strstr(about.dli_fname, part) != nullptr) return true;
  return false;
}

bool memory_fails(void const* caller) {
  if (numbers == nullptr) return false;
  return fails(1, ENOMEM) || (numbers->kind == 7 && foreign == 0 && !is_foreign(caller) && fails(7, ENOMEM));
}

struct uncounted {
  uncounted() { ++foreign; }
  ~uncounted() { --foreign; }
};

template <class F>
F* next(char const* name) {
  return reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
}

} // namespace

extern "C" {
#define KEEL_CALLER __builtin_return_address(0)
void* malloc(std::size_t size) noexcept { return memory_fails(KEEL_CALLER) ? nullptr : __libc_malloc(size); }
void* calloc(std::size_t count, std::size_t size) noexcept {
  return memory_fails(KEEL_CALLER) ? nullptr : __libc_calloc(count, size);
}
void* realloc(void* at, std::size_t size) noexcept {
  return memory_fails(KEEL_CALLER) ? nullptr : __libc_realloc(at, size);
}
void* aligned_alloc(std::size_t by, std::size_t size) noexcept {
  return memory_fails(KEEL_CALLER) ? nullptr : __libc_memalign(by, size);
}
char* strdup(char const* text) noexcept { // of the caller, not of glibc
  std::size_t const size = std::strlen(text) + 1;
  void* const to = memory_fails(KEEL_CALLER) ? nullptr : __libc_malloc(size);
  return static_cast<char*>(to == nullptr ? nullptr : std::memcpy(to, text, size));
}
int posix_memalign(void** to, std::size_t by, std::size_t size) noexcept {
  if (memory_fails(KEEL_CALLER)) return ENOMEM;
  *to = __libc_memalign(by, size);
  return *to == nullptr ? ENOMEM : 0;
}

int hwloc_topology_init(void** topology) {
  uncounted const call;
  return next<int(void**)>("hwloc_topology_init")(topology);
}
int hwloc_topology_load(void* topology) {
  uncounted const call;
  return next<int(void*)>("hwloc_topology_load")(topology);
}

ssize_t write(int file, void const* bytes, std::size_t count) {
  return fails(2, ENOSPC) ? -1 : next<ssize_t(int, void const*, std::size_t)>("write")(file, bytes, count);
}
int fsync(int file) { return fails(2, EIO) ? -1 : next<int(int)>("fsync")(file); }
int linkat(int a, char const* from, int b, char const* to, int flags) noexcept {
  return fails(2, EIO) ? -1 : next<int(int, char const*, int, char const*, int)>("linkat")(a, from, b, to, flags);
}
int rename(char const* from, char const* to) noexcept {
  return fails(2, EIO) ? -1 : next<int(char const*, char const*)>("rename")(from, to);
}
}

// Kokkos hands over the names of both memories by value.
extern "C" {
struct memory_name {
  char text[64];
};
void kokkosp_begin_deep_copy(memory_name, char const*, void const*, memory_name, char const*, void const*,
                             std::uint64_t) {
  if (fails(5, EIO)) throw std::runtime_error("a copy that a test lets fail");
}
}

#if KEEL_KOKKOS_5
// Its end makes texts in destructors, where a lack of memory ends the program.
void finalize() asm("_ZN6Kokkos8finalizeEv");
void finalize() {
  uncounted const call;
  next<void()>("_ZN6Kokkos8finalizeEv")();
}
// So does this.
void deallocate(void const*, char const*, void*, std::size_t,
                std::size_t) asm("_ZNK6Kokkos9HostSpace10deallocateEPKcPvmm");
void deallocate(void const* space, char const* label, void* at, std::size_t bytes, std::size_t logical) {
  uncounted const call;
  next<void(void const*, char const*, void*, std::size_t, std::size_t)>("_ZNK6Kokkos9HostSpace10deallocateEPKcPvmm")(
      space, label, at, bytes, logical);
}
#endif

#if KEEL_WITH_MPI
// What keel calls of MPI once it runs: messages, and what all ranks do together.
#define KEEL_FAILS(call, parameters, arguments) \
  extern "C" int call parameters { return fails(4, EIO) ? MPI_ERR_OTHER : next<int parameters>(#call) arguments; }
using in = void const*;
using out = void*;
using type = MPI_Datatype;
KEEL_FAILS(MPI_Isend, (in a, int b, type c, int d, int e, MPI_Comm f, MPI_Request* g), (a, b, c, d, e, f, g))
KEEL_FAILS(MPI_Irecv, (out a, int b, type c, int d, int e, MPI_Comm f, MPI_Request* g), (a, b, c, d, e, f, g))
KEEL_FAILS(MPI_Wait, (MPI_Request * a, MPI_Status* b), (a, b))
KEEL_FAILS(MPI_Barrier, (MPI_Comm a), (a))
KEEL_FAILS(MPI_Bcast, (out a, int b, type c, int d, MPI_Comm e), (a, b, c, d, e))
KEEL_FAILS(MPI_Gather, (in a, int b, type c, out d, int e, type f, int g, MPI_Comm h), (a, b, c, d, e, f, g, h))
KEEL_FAILS(MPI_Gatherv, (in a, int b, type c, out d, int const* e, int const* f, type g, int h, MPI_Comm i),
           (a, b, c, d, e, f, g, h, i))
KEEL_FAILS(MPI_Allgather, (in a, int b, type c, out d, int e, type f, MPI_Comm g), (a, b, c, d, e, f, g))
KEEL_FAILS(MPI_Allreduce, (in a, out b, int c, type d, MPI_Op e, MPI_Comm f), (a, b, c, d, e, f))
KEEL_FAILS(MPI_Iallreduce, (in a, out b, int c, type d, MPI_Op e, MPI_Comm f, MPI_Request* g), (a, b, c, d, e, f, g))
KEEL_FAILS(MPI_Scan, (in a, out b, int c, type d, MPI_Op e, MPI_Comm f), (a, b, c, d, e, f))

extern "C" int MPI_Init_thread(int* a, char*** b, int c, int* d) {
  uncounted const call;
  return next<int(int*, char***, int, int*)>("MPI_Init_thread")(a, b, c, d);
}
extern "C" int MPI_Finalize() {
  uncounted const call;
  return next<int()>("MPI_Finalize")();
}
extern "C" int MPI_Abort(MPI_Comm a, int code) {
  uncounted const call;
  return next<int(MPI_Comm, int)>("MPI_Abort")(a, code);
}

// Communicators fail, too; or those that are open are counted, for test/soak.
namespace {
int opened(int code, bool is_member = true) {
  if (numbers != nullptr && numbers->kind == 6 && code == MPI_SUCCESS && is_member) ++numbers->calls;
  return code;
}
} // namespace
extern "C" int MPI_Comm_dup(MPI_Comm a, MPI_Comm* b) {
  return fails(4, EIO) ? MPI_ERR_OTHER : opened(next<int(MPI_Comm, MPI_Comm*)>("MPI_Comm_dup")(a, b));
}
extern "C" int MPI_Comm_split(MPI_Comm a, int color, int c, MPI_Comm* d) {
  if (fails(4, EIO)) return MPI_ERR_OTHER;
  return opened(next<int(MPI_Comm, int, int, MPI_Comm*)>("MPI_Comm_split")(a, color, c, d), color != MPI_UNDEFINED);
}
extern "C" int MPI_Comm_split_type(MPI_Comm a, int type, int b, MPI_Info c, MPI_Comm* d) {
  if (fails(4, EIO)) return MPI_ERR_OTHER;
  return opened(next<int(MPI_Comm, int, int, MPI_Info, MPI_Comm*)>("MPI_Comm_split_type")(a, type, b, c, d),
                type != MPI_UNDEFINED);
}
extern "C" int MPI_Comm_create_group(MPI_Comm a, MPI_Group b, int c, MPI_Comm* d) {
  if (fails(4, EIO)) return MPI_ERR_OTHER;
  return opened(next<int(MPI_Comm, MPI_Group, int, MPI_Comm*)>("MPI_Comm_create_group")(a, b, c, d));
}
extern "C" int MPI_Comm_free(MPI_Comm* which) {
  if (numbers != nullptr && numbers->kind == 6) --numbers->calls;
  return next<int(MPI_Comm*)>("MPI_Comm_free")(which);
}
#endif
