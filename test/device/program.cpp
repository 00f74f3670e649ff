// SPDX-License-Identifier: MIT
// A program as a user writes one; programs.cpp runs it in many ways and reads what it prints.

#include <keel/device/elements.hpp>
#include <keel/keel.hpp>

#if KEEL_WITH_MPI
#include <mpi.h>
#endif

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

namespace {

struct app : keel::defaults {
  using devices =
      keel::where_supported<keel::list<keel::serial, keel::openmp, keel::threads, keel::tbb, keel::simulated>>;
  static constexpr std::string_view prefix = "app";
};

/// MPI as the application starts it, shows whether it has ended, and ends it.
#if KEEL_WITH_MPI
void start_mpi() { MPI_Init(nullptr, nullptr); }
void end_mpi() { MPI_Finalize(); }
void show_mpi() {
  int ended = 0;
  MPI_Finalized(&ended);
  std::printf("mpi ended %d\n", ended);
}
#else
void start_mpi() {}
void end_mpi() {}
void show_mpi() {}
#endif

struct ends_with_the_runtime : app {
  static constexpr bool ends_mpi = true;
};

/// Calls a library that wraps keel three times: each call has a runtime of its own.
template <class App>
int call_libraries(int argc, char** argv) try {
  for (int i = 0; i < 3; ++i) {
    keel::runtime<App> run{argc, argv};
    auto const all = keel::machine::all_gather(run.environment(), run.environment().rank());
    std::printf("library on %zu ranks\n", all.size());
  }
  return 0;
} catch (std::exception const& e) {
  return keel::report(e);
}

void print_facts(keel::runtime<app>& run, int argc, char** argv) {
  std::printf("rank %d of %d\n", run.environment().rank(), run.environment().size());
  std::printf("device %s\n", std::string{run.device_name()}.c_str());
  std::printf("thread level %d\n", int(run.thread_level()));
  for (int i = 1; i < argc; ++i) std::printf("argument %s\n", argv[i]);
  for (auto const& k : run.knobs())
    std::printf("knob %s [%s] %s %s\n", k.option.c_str(), k.device.c_str(), k.value.c_str(),
                std::string{keel::device::name(k.from)}.c_str());
}

#if KEEL_WITH_TBB
/// A kernel in two parts, also where its instance has one thread, for which a kernel of Kokkos' has one.
template <class F>
struct twice {
  keel::space::tbb space;
  F const& f;
  void run() const {
    space.impl_for_chunks(2, [this](std::int64_t) { f(); });
  }
};
#endif

/// Calls `f` on a thread of oneTBB, if another one than the caller works on a kernel.
template <class F>
void on_a_worker([[maybe_unused]] keel::runtime<app>& run, [[maybe_unused]] F const& f) {
#if KEEL_WITH_TBB
  auto const caller = std::this_thread::get_id();
  auto const part = [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds{200}); // so that one thread does not take both
    if (std::this_thread::get_id() != caller) f();
  };
  auto const space = run.execution_space<keel::tbb>();
  space.impl_launch(twice<decltype(part)>{space, part});
#endif
}

/// Whether the system was asked for huge pages for an array in a pool: its flag in /proc/self/smaps.
bool has_huge_pages([[maybe_unused]] keel::runtime<app>& run) {
#if KEEL_WITH_TBB
  (void)run.execution_space<keel::tbb>();
#endif
  Kokkos::View<char*, keel::space::pool<>> const array("array", std::size_t{32} << 20);
  std::ifstream maps("/proc/self/smaps");
  auto const wanted = reinterpret_cast<std::uintptr_t>(array.data()) + array.size() / 2;
  bool is_here = false;
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0, end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2) is_here = begin <= wanted && wanted < end;
    else if (is_here && line.starts_with("VmFlags:")) return line.find(" hg") != line.npos;
  }
  return false;
}

/// The hardware threads of this thread, and of the others that work on a kernel where there are some.
void show_binding(keel::runtime<app>& run) {
  std::string all = "rank " + std::to_string(run.environment().rank()) + " runs on " +
                    to_string(keel::topology::bound_hardware_threads());
#ifdef KOKKOS_ENABLE_OPENMP
  auto const space = run.execution_space<keel::openmp>();
  std::atomic<int> workers_there{0};
  std::mutex lock_of_text;
#pragma omp parallel num_threads(space.concurrency())
  {
    std::lock_guard const lock(lock_of_text);
    if (workers_there++ < 8) all += ", OpenMP on " + to_string(keel::topology::bound_hardware_threads());
  }
  all += ", OpenMP has " + std::to_string(workers_there.load());
#endif
  std::mutex mutex;
  std::string workers;
  on_a_worker(run, [&] {
    std::lock_guard const lock(mutex);
    workers += ", a worker on " + to_string(keel::topology::bound_hardware_threads());
  });
  all += workers;
  run.configuration("tbb", [&](auto const& c) {
    if (c.threads()) all += ", tbb has " + std::to_string(*c.threads());
  });
  std::printf("%s\n", (all + ";").c_str());
}

/// Adds up 0 .. 999. A function of its own: nvcc takes no kernel inside a generic lambda.
template <class Space>
double sum_on(Space const& space) {
  double sum = 0;
  Kokkos::parallel_reduce("sum", Kokkos::RangePolicy(space, 0, 1000), KOKKOS_LAMBDA(int i, double& s) { s += i; }, sum);
  return sum;
}

double sum_on_device(keel::runtime<app>& run) {
  double sum = 0;
  keel::with_device<app::devices>(run.device_name(), [&]<class Tag>(Tag) { sum = sum_on(run.execution_space<Tag>()); });
  return sum;
}

void show_late_start(keel::runtime<app>& run) {
  std::printf("started before %d\n", Kokkos::is_initialized());
  std::printf("sum %g\n", sum_on_device(run));
  std::printf("started after %d\n", Kokkos::is_initialized());
  run.configuration(run.device_name(), [&](auto& c) {
    for (int i = 0; i < 2; ++i) std::printf("late %s\n", std::string{keel::device::name(c.set_threads(1))}.c_str());
    if (c.threads()) std::printf("threads %d\n", *c.threads());
  });
}

/// Doubles on the device `Tag`, added up over the ranks, element by element.
template <class Tag>
void reduce_elements(keel::runtime<app>& run) {
  auto const space = run.execution_space<Tag>();
  using memory = typename decltype(space)::memory_space;
  Kokkos::View<double**, Kokkos::LayoutRight, memory> const v("v", 3, 4);
  Kokkos::deep_copy(v, 1.5);
  keel::machine::sum(run.environment(), keel::device::elements(v));
  auto const host = Kokkos::create_mirror_view(v);
  Kokkos::deep_copy(host, v);
  std::printf("elements %g %g\n", host(0, 0), host(2, 3));
  try {
    keel::machine::sum(run.environment(), keel::device::elements(Kokkos::subview(v, Kokkos::ALL, 1)));
  } catch (keel::error const& e) {
    std::printf("%s\n", e.what());
  }
}

/// More memory than there is, on every device of the list.
template <class Tag>
void exhaust(keel::runtime<app>& run) {
  auto const space = run.execution_space<Tag>();
  using memory = typename decltype(space)::memory_space;
  Kokkos::View<double*, memory> const v("more than there is", std::size_t{1} << 46);
}

/// One order of starts and ends: who starts MPI, `a`pplication or `k`eel, and in capitals the same where the
/// application ends it inside the runtime; who starts Kokkos, the application `b`efore the runtime, `m`iddle: after it
/// and before the first use of a device, or `k`eel; whether the application ends its Kokkos `i`nside the runtime or
/// `o`utside.
int show_order(std::string const& order, int argc, char** argv) {
  bool const app_starts_mpi = order[0] == 'a' || order[0] == 'A', mpi_ends_inside = order[0] == 'A' || order[0] == 'K';
  if (app_starts_mpi) start_mpi();
  bool const kokkos_first = order[1] == 'b', kokkos_between = order[1] == 'm', ends_inside = order[2] == 'i';
  if (kokkos_first) Kokkos::initialize();
  {
    keel::runtime<app> run{argc, argv};
    if (kokkos_between) Kokkos::initialize();
    if (order.size() == 3)
      run.configuration(run.device_name(), [&](auto& c) {
        std::printf("set %s\n", std::string{keel::device::name(c.set_threads(5))}.c_str());
      });
    for (int i = 0; i < 2; ++i) std::printf("sum %g\n", sum_on_device(run));
    run.configuration(run.device_name(), [&](auto& c) {
      if (c.threads()) std::printf("threads %d\n", *c.threads());
      std::printf("again %s\n", std::string{keel::device::name(c.set_threads(3))}.c_str());
    });
    if (mpi_ends_inside) end_mpi();
    if (ends_inside && order[1] != 'k') Kokkos::finalize();
  }
  if (!ends_inside && order[1] != 'k') {
    std::printf("kokkos kept %d\n", Kokkos::is_initialized());
    Kokkos::finalize();
  }
  show_mpi();
  if (order[0] == 'a') end_mpi();
  return 0;
}

struct second_library : app {
  static constexpr std::string_view prefix = "second";
};

/// Libraries that know nothing of each other, in a program of which they get a communicator. One of them ends before
/// the other; Kokkos may be the program's.
int end_in_turn(std::string const& ends_first, bool has_kokkos) {
  start_mpi();
  if (has_kokkos) Kokkos::initialize();
  {
    keel::machine::environment const world;
    keel::machine::environment const lent{keel::machine::borrow, world.comm()};
    keel::start<app> before;
    keel::start<second_library> before_second;
    std::optional<keel::runtime<app>> first;
    std::optional<keel::runtime<second_library>> second;
    first.emplace(before, lent.comm()), second.emplace(before_second, lent.comm());
    std::printf("first on %s, second on %s\n", std::string{first->device_name()}.c_str(),
                std::string{second->device_name()}.c_str());
    first->start_devices(), second->start_devices();
    bool const is_first = ends_first == "first";
    is_first ? first.reset() : second.reset();
    auto const& left = is_first ? second->environment() : first->environment();
    bool const is_default = &keel::machine::default_environment<app::ranks>() == &left;
    std::printf("kokkos runs %d, the other is the default %d\n", Kokkos::is_initialized(), is_default);
    is_first ? second.reset() : first.reset();
    std::printf("kokkos runs %d, mpi runs %d\n", Kokkos::is_initialized(), keel::machine::mpi::is_running());
  }
  if (has_kokkos) Kokkos::finalize();
  end_mpi();
  return 0;
}

/// Registries of a program that has started MPI itself, which goes on without one that is refused.
int make_registries() {
  namespace kr = keel::residency;
  start_mpi();
  {
    keel::machine::environment const world;
    kr::grid const line{{8}};
    try {
      kr::registry<app> const none{world, line};
    } catch (keel::error const& e) {
      std::printf("refused: %s\n", e.what());
    }
    std::this_thread::sleep_for(std::chrono::seconds{3}); // what is not reported would end the job by then
    unsetenv("APP_TRACKING");
    kr::registry<app> f{world, line};
    auto const q = f.add<double*>("q");
    f.notify_data_modified(kr::on<keel::simulated>{}, {q}); // a device that begins here
    f.require_valid_data(kr::on_host{}, {q});
    std::printf("valid %d, in runtime %zu\n", f.is_valid(kr::on_host{}, q), keel::here<app>().number());
  }
  end_mpi();
  return 0;
}

/// Ends after main: a runtime that is static, or one that a thread owns.
int outlive_main(std::string const& owner, int argc, char** argv) {
  struct joined {
    std::atomic<bool> may_end = false, has_begun = false;
    std::thread thread;
    ~joined() {
      may_end = true;
      if (thread.joinable()) thread.join();
    }
  };
  if (owner == "static") {
    static keel::runtime<app> run{argc, argv};
    std::printf("sum %g\n", sum_on_device(run));
    return 0;
  }
  if (owner == "exit") {
    keel::runtime<app> run{argc, argv};
    std::printf("sum %g\n", sum_on_device(run));
    std::exit(3);
  }
  static joined other;
  other.thread = std::thread([argc, argv] {
    int count = argc;
    keel::runtime<app> run{count, argv};
    std::printf("sum %g\n", sum_on_device(run));
    other.has_begun = true;
    while (!other.may_end) std::this_thread::yield();
  });
  while (!other.has_begun) std::this_thread::yield();
  return 0;
}

/// The exit code of a fork that computes, or may not, and ends in order.
int fork_once(keel::runtime<app>& run) {
  double const before = sum_on_device(run);
  std::fflush(stdout);
  pid_t const child = fork();
  if (child == 0) try {
      return sum_on_device(run) == before ? 0 : 1;
    } catch (keel::error const&) {
      return 3;
    }
  int status = 1;
  waitpid(child, &status, 0);
  std::printf("child %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  std::string const mode = argc > 1 ? argv[1] : "facts";
  if (mode == "order") return show_order(argv[2], argc, argv);
  if (mode == "end-in-turn") return end_in_turn(argv[2], argc > 3);
  if (mode == "registries") return make_registries();
  if (mode == "outlive") return outlive_main(argv[2], argc, argv);
  if (mode == "library") return call_libraries<app>(argc, argv);
  if (mode == "library-that-ends-mpi") return call_libraries<ends_with_the_runtime>(argc, argv);
  int code = 0;
  try {
    keel::start<app> before;
    if (mode == "threads-of-mpi") before.set_thread_level(keel::machine::thread_level::multiple);
    keel::runtime<app> run{argc, argv, before};
    if (run.help_requested()) {
      code = 0;
    } else if (mode.starts_with("throws")) {
      bool const is_last = run.environment().rank() == run.environment().size() - 1;
      if (is_last && mode == "throws") throw keel::error("test", "the last rank gives up", "it was told to");
      if (is_last && mode == "throws-another") throw std::out_of_range("cell 7 of 5");
      if (is_last) throw 7;
      keel::machine::barrier(run.environment());
    } else if (mode == "leaves-early") {
      if (run.environment().rank() != 1) keel::machine::barrier(run.environment());
    } else if (mode == "fork") {
      code = fork_once(run);
    } else if (mode == "exhaust") {
      bool runs = true;
      bool const done = keel::device::try_execute(run, [&]<class Tag>(Tag) {
        runs = runs && Kokkos::is_initialized();
        exhaust<Tag>(run);
      });
      std::printf("done %d, Kokkos runs %d\n%s", done, runs, run.summary().c_str());
    } else if (mode == "elements") {
      keel::with_device<app::devices>(run.device_name(), [&]<class Tag>(Tag) { reduce_elements<Tag>(run); });
    } else if (mode == "all-throw") {
      throw keel::error("test", "the grid does not fit", "it was told to");
    } else if (mode == "hugepages") {
      std::printf("huge pages %d\n", has_huge_pages(run));
    } else if (mode == "bind") {
      show_binding(run);
    } else if (mode == "late") {
      show_late_start(run);
    } else {
      print_facts(run, argc, argv);
    }
  } catch (std::exception const& e) {
    std::printf("words left %d\n", argc);
    code = keel::report(e);
  } catch (int thrown) {
    code = thrown;
  }
  std::printf("kokkos runs %d\n", Kokkos::is_initialized());
  show_mpi();
  return code;
}
