// SPDX-License-Identifier: MIT
/// @file
/// Registries for C: `kr::registry`, whose meshes, types and ranks of arrays are known at run time only.

#include "objects.hpp"

#include <keel/exchange/kokkos_provider.hpp>
#include <keel/residency/registry.hpp>

#include <string>

namespace keel::c {
namespace {

/// The runtime as fields see it, with ranks of their own.
struct run_on {
  using application = c_app;
  std::shared_ptr<keel::c::environment const> ranks;

  [[nodiscard]] keel::c::environment const& environment() const { return *ranks; }
  [[nodiscard]] std::string_view device_name() const { return run().device_name(); }
  [[nodiscard]] kr::settings const& residency_settings() const { return run().residency_settings(); }
  template <class Tag>
  [[nodiscard]] auto execution_space() {
    return run().execution_space<Tag>();
  }
};

class registry : kr::detail::fields_base<c_app> {
  using base = kr::detail::fields_base<c_app>;

public:
  registry(run_on& on, kr::grid const& whole, std::span<kr::detail::array_exchanges::place const> meshes)
      : base(on, whole, {}, 1), with_(on.environment()) {
    kr::detail::require_same_options(on.environment(), whole);
    with_.all_alike(kr::detail::making_fields, [&] {
      for (auto const& m : meshes) arrays_.add_mesh(m.mesh, m.space);
    });
    kr::detail::check_meshes(*this, with_);
    this->open_for(on, false);
  }

  void adopt(char const* name, keel_array const* on_host, keel_array const* on_device, int* variable) {
    kr::detail::registered::wanted w{{}, {}, nullptr};
    agreed([&] {
      require(name, "the name of a variable"), require(variable, "the variable");
      require(on_host != nullptr ? on_host : on_device, "each array of a variable");
      w.name = name;
      for (auto const& [one, where] : {std::pair{on_host, KEEL_HOST}, std::pair{on_device, KEEL_DEVICE}}) {
        if (one == nullptr) continue;
        w.adopt(ref_of(*one), type_of(one->type), memory_for(where));
      }
    });
    *variable = noted(known_.add(w, true), on_host != nullptr ? *on_host : *on_device);
  }
  void add(char const* name, int levels, keel_array const* like, int* variable) {
    kr::detail::registered::wanted w{{}, {}, nullptr};
    agreed([&] {
      require(name, "the name of a variable"), require(like, "how a variable lies"), require(variable, "the variable");
      w.name = name, w.lies = ref_of(*like), w.type = type_of(like->type), w.levels = levels;
      w.lies.data = nullptr, w.lies.where = nullptr;
      for (int d = 0; d < like->indexed; ++d)
        if (like->index[d] != d)
          throw error("c", "'" + std::string(name) + "' is not counted by its first index",
                      "arrays that keel makes are", "Say index 0, 1, ... or none, or adopt an array");
      int const on = arrays_.share_for(kr::variable_info("", 1, true, {}, true, 1, w.lies.on)).rank, all = like->rank;
      for (int d = on; d < all; ++d) w.lengths[std::size_t(w.given++)] = like->extents[d];
      w.is_left = all > 1 && like->strides[0] < like->strides[all - 1];
    });
    *variable = noted(known_.add(w, false), *like);
  }
  void describe(int variable, int where, keel_array& to) {
    kr::request const one = asked_of(variable);
    auto const [type, rank] = types_.at(std::size_t(one.variable));
    auto const a = known_.lies(one.variable, one.level, memory_for(where), type_of(type), rank);
    keel_array made{};
    made.data = a.data, made.mesh = a.on.mesh.empty() ? nullptr : a.on.mesh.data();
    made.type = type, made.memory = where, made.rank = a.rank, made.layers = a.says_layers ? a.layers : 0;
    made.longer = a.on.longer + (a.on.changes_sign ? KEEL_OTHER_SIGN : 0), made.along = a.on.along,
    made.indexed = a.indexed;
    for (int d = 0; d < a.indexed; ++d) made.index[d] = a.index_of[std::size_t(d)];
    for (int d = 0; d < a.rank; ++d) made.extents[d] = a.extents[d], made.strides[d] = a.strides[d];
    to = made;
  }
  void begin(kr::detail::registered::use& u, char const* name, int where, std::span<int const> all) {
    require(name, "the name of what uses variables");
    u.name = name, u.where = memory_for(where);
    for (int const v : all) u.asked.push_back(asked_of(v));
    known_.begin(u);
  }
  void end(kr::detail::registered::use& u, bool has_failed) { known_.end(u, has_failed); }
  /// Until what was copied is there: kernels of the application may go to another queue.
  void wait(kr::memory m) {
    if (m != kr::host) arrays_.provider().wait(m);
  }
  void require_valid(int where, std::span<int const> all) {
    for (int const v : all) book_.require_data(owner_for(where, v), asked_of(v | KEEL_READ).reads, kr::region::none);
  }
  void notify(int where, std::span<int const> all) {
    for (int const v : all) book_.notify_data_modified(owner_for(where, v), asked_of(v | KEEL_READ).reads);
  }
  [[nodiscard]] bool is_valid(int where, int v) {
    kr::request const one = asked_of(v | KEEL_READ);
    return book_.is_valid(one.variable, one.level, one.reads, memory_for(where), 0, kr::all_layers);
  }
  void exchange(int count, int const* variables, bool adds) {
    std::vector<kr::request> asked;
    agreed([&] {
      for (int const v : listed(count, variables, "the list of variables")) {
        kr::request& one = asked.emplace_back(asked_of(v));
        one.reads = adds ? kr::region::rim | kr::region::halo : kr::region::rim;
        one.writes = adds ? kr::region::rim : kr::region::halo;
      }
    });
    known_.exchange(asked, adds, this->exchanges_in_);
  }
  void cycle(int v) {
    kr::request const freed = asked_of(v | KEEL_WRITTEN);
    known_.require_idle({&freed, 1}, "cycle");
    book_.rotate(freed.variable, kr::rotation::cycle);
  }
  void migrate(char const* mesh, std::int64_t count, int const* destinations) {
    std::span<int const> all;
    agreed([&] {
      require(mesh, "the name of the mesh");
      all = listed(count, destinations, "the list of destinations");
      known_.require_own(mesh);
    });
    kr::detail::migrate(*this, kept(mesh), all);
  }
  [[nodiscard]] std::shared_ptr<kr::detail::elements const> part_of(std::string_view mesh) const {
    auto const& part = arrays_.part_of(mesh);
    part->is_shown = true;
    return part;
  }

private:
  using memory = kr::memory;
  template <class F>
  void agreed(F const& f) const {
    with_.all_alike({"c", "a variable", "is refused", "Mend that one"}, f);
  }
  /// What a number of a variable with its additions says.
  [[nodiscard]] kr::request asked_of(int v) const {
    int const n = v & (KEEL_PAST - 1), level = v / KEEL_PAST % (KEEL_OWNED / KEEL_PAST);
    if (v < 0 || n >= known_.size())
      throw error("c", "there is no variable " + std::to_string(n),
                  "the registry has " + policy::counted(known_.size(), "variable"),
                  "Take what keel_adopt or keel_add gave");
    if (level >= known_.levels(n))
      throw error("c", "'" + std::string(known_.name(n)) + "' has no level " + std::to_string(level),
                  "it has " + policy::counted(known_.levels(n), "level"), "Give keel_add as many");
    kr::region const where = (v & KEEL_OWNED) != 0 ? kr::region::owned : kr::region::everywhere;
    return {n, level, (v & KEEL_READ) != 0 ? where : kr::region::none,
            (v & KEEL_WRITTEN) != 0 ? where : kr::region::none};
  }
  int noted(int variable, keel_array const& as) {
    types_.resize(std::size_t(known_.size()));
    types_[std::size_t(variable)] = {as.type, as.rank};
    return variable;
  }
  [[nodiscard]] memory memory_for(int where) {
    memory m = kr::host;
    if (where != KEEL_HOST && where != KEEL_DEVICE)
      throw error("c", "memory " + std::to_string(where) + " is meant", "there is none",
                  "Say KEEL_HOST or KEEL_DEVICE");
    if (where == KEEL_DEVICE)
      this->template on_chosen<true>([&]<class Tag>(Tag) {
        if constexpr (!kr::detail::is_on_host<Tag>) this->template prepare<Tag>();
        m = base::template memory_of<Tag>;
      });
    return m;
  }
  [[nodiscard]] std::optional<kr::owner> owner_for(int where, int v) {
    kr::request const one = asked_of(v | KEEL_WRITTEN);
    known_.require_idle({&one, 1}, "the caller");
    return kr::owner{one.variable, one.level, 0, memory_for(where), true};
  }

  machine::agreement with_;
  kr::detail::registered known_{*this};
  std::vector<std::pair<int, int>> types_; // and ranks
};

struct registry_object {
  static constexpr std::string_view kind = "a registry";
  run_on on;
  registry it;

  registry_object(std::shared_ptr<environment const> const& ranks, kr::grid const& whole,
                  std::span<kr::detail::array_exchanges::place const> meshes)
      : on{ranks}, it(on, whole, meshes) {}
};
struct use_object {
  static constexpr std::string_view kind = "a use of variables";
  std::shared_ptr<registry_object> of;
  kr::detail::registered::use it;
  bool is_open = false;
  ~use_object() { finish(true); }
  void finish(bool has_failed) {
    if (std::exchange(is_open, false)) of->it.end(it, has_failed);
  }
};

std::span<int const> all_of(int count, int const* variables) {
  return listed(count, variables, "the list of variables");
}

} // namespace
} // namespace keel::c

using namespace keel::c;

int keel_registry(int ranks, int grid, int count, int const* partitions, int* made) {
  return guarded([&] {
    auto const& env = get<ranks_object>(ranks).it;
    auto const [whole, meshes] = places_of(*env, grid, count, partitions, made);
    *made = add(std::make_shared<registry_object>(env, whole == nullptr ? kr::grid{} : *whole, meshes));
  });
}
int keel_adopt(int of, char const* name, keel_array const* on_host, keel_array const* on_device, int* variable) {
  return guarded([&] { get<registry_object>(of).it.adopt(name, on_host, on_device, variable); });
}
int keel_add(int of, char const* name, int levels, keel_array const* like, int* variable) {
  return guarded([&] { get<registry_object>(of).it.add(name, levels, like, variable); });
}
int keel_describe(int of, int variable, int memory, keel_array* array) {
  return guarded([&] {
    auto& f = get<registry_object>(of).it;
    require(array, "the array");
    f.describe(variable, memory, *array);
  });
}
int keel_require_valid_data(int of, int memory, int count, int const* variables) {
  return guarded([&] { get<registry_object>(of).it.require_valid(memory, all_of(count, variables)); });
}
int keel_notify_data_modified(int of, int memory, int count, int const* variables) {
  return guarded([&] { get<registry_object>(of).it.notify(memory, all_of(count, variables)); });
}
int keel_is_valid(int of, int memory, int variable, int* answer) {
  return guarded([&] {
    auto& f = get<registry_object>(of).it;
    require(answer, "the answer");
    *answer = f.is_valid(memory, variable) ? 1 : 0;
  });
}
int keel_exchange_variables(int of, int count, int const* variables) {
  return guarded([&] { get<registry_object>(of).it.exchange(count, variables, false); });
}
int keel_accumulate_variables(int of, int count, int const* variables) {
  return guarded([&] { get<registry_object>(of).it.exchange(count, variables, true); });
}
int keel_cycle(int of, int variable) {
  return guarded([&] { get<registry_object>(of).it.cycle(variable); });
}
int keel_begin_use(int of, char const* name, int memory, int count, int const* variables, int* use) {
  return guarded([&] {
    auto made = std::make_shared<use_object>();
    made->of = share<registry_object>(of);
    require(use, "the use");
    made->of->it.begin(made->it, name, memory, all_of(count, variables));
    made->is_open = true;
    made->of->it.wait(made->it.where);
    *use = add(std::move(made));
  });
}
int keel_finish_use(int use) {
  return guarded([&] {
    share<use_object>(use)->finish(false);
    (void)keel_free(use);
  });
}
int keel_migrate(int of, char const* mesh, std::int64_t count, int const* destinations) {
  return guarded([&] { get<registry_object>(of).it.migrate(mesh, count, destinations); });
}
int keel_partition_of(int of, char const* mesh, int* made) {
  return guarded([&] {
    auto& f = get<registry_object>(of).it;
    require(mesh, "the name of the mesh"), require(made, "the partition");
    auto const name = kept(mesh);
    *made = add(std::make_shared<partition_object>(partition_object{name, f.part_of(name)}));
  });
}
