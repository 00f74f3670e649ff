// SPDX-License-Identifier: MIT
#include <keel/impl/exchange/halo.hpp>
#include <keel/impl/layout/arguments.hpp>
#include <keel/impl/layout/agreement.hpp>
#include <keel/impl/residency/exchanger.hpp>
#include <keel/impl/residency/records.hpp>
#include <keel/impl/residency/registered.hpp>
#include <keel/impl/residency/resize.hpp>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace keel::residency::detail {

inline constexpr std::string_view registry_name = "residency::registry";
inline constexpr machine::failing_call registering{registry_name, "a variable", "is not registered", "Mend that one"};

KEEL_INLINE int registered::find(std::string_view name) const {
  for (std::size_t n = 0; n < all_.size(); ++n)
    if (all_[n].name == name) return int(n);
  throw error(registry_name, "there is no variable '" + std::string(name) + "'", "none was registered by that name",
              "Register it");
}

KEEL_INLINE void registered::wanted::adopt(array_ref one, void const* type_of_it, memory m) {
  void* const data = std::exchange(one.data, nullptr);
  one.where = nullptr;
  void*& there = adopted[std::size_t(m)];
  auto const refuse = [&](std::string const& what, std::string_view why, std::string_view hint) {
    wrong = std::make_exception_ptr(error(registry_name, what, why, hint));
  };
  if (type != nullptr && (!lies.lies_as(one) || type != type_of_it))
    refuse("the two arrays of '" + std::string(name) + "' lie in different ways",
           "bytes of one are copied to the same places of the other", "Give both the same layout");
  else if (there != nullptr && there != data)
    refuse("'" + std::string(name) + "' is given two arrays in one memory", "one would go stale", "Give one");
  if (type == nullptr) lies = one;
  there = data, type = type_of_it;
}

// What ranks register in the same way.
inline argument said_of(registered::wanted const& w, bool is_adopted, bool is_again) {
  argument said{"names, types, meshes, levels or lengths of what is registered"};
  for (char const c : w.name) said.add(c);
  said.add(w.lies.on);
  for (std::int64_t const n : {w.lies.element_bytes, std::int64_t(w.levels), std::int64_t(w.lies.rank),
                               std::int64_t(w.is_saved), std::int64_t(is_adopted), std::int64_t(is_again)})
    said.add(n);
  for (int m = 0; m < max_memories; ++m) said.add(w.adopted[std::size_t(m)] != nullptr ? 1 : 0);
  for (int d = 0; d < w.given; ++d) said.add(w.lengths[std::size_t(d)]);
  return said;
}

// Throws if an array of the application has elements of one that there is.
inline void require_apart(auto const& all, auto const& o, kokkos_provider const& provider) {
  array_ref with = o.lies;
  for (void* const data : o.adopted) {
    if (data == nullptr) continue;
    with.data = data;
    auto const refuse = [&](auto const& other, bool is_same) {
      throw error(registry_name,
                  "'" + o.name + (is_same ? "' is the array of '" : "' has elements of '") + other.name + "'",
                  "what is written by one name would go stale by the other", "Use that one");
    };
    for (auto const& other : all) {
      array_ref theirs = other.lies;
      for (void* const its : other.adopted)
        if (theirs.data = its; &other != &o && its != nullptr && share_elements(with, theirs))
          refuse(other, its == data);
    }
    if (auto const other = provider.sharing(with)) refuse(all[std::size_t(*other)], false);
  }
}

KEEL_INLINE int registered::add(wanted const& w, bool is_adopted) {
  agreement const& ranks = ranks_for(fields_, "a registry");
  require_idle({}, "a variable");
  auto const there = std::find_if(all_.begin(), all_.end(), [&](one const& o) { return o.name == w.name; });
  bool const is_again = !w.wrong && there != all_.end() && is_adopted && there->is_adopted &&
                        there->adopted == w.adopted && there->type == w.type && there->lies.lies_as(w.lies);
  argument const said = said_of(w, is_adopted, is_again);
  require_alike(ranks, registry_name, "a variable is not registered", {&said, 1});
  if (is_again) return int(there - all_.begin());

  std::array<std::int64_t, 1> code{};
  std::size_t const known = all_.size(), lattices = fields_.arrays_.lattices().size();
  auto const try_on_all = [&](auto const& step) {
    try {
      ranks.all_alike(registering, step);
    } catch (...) { // another rank may refuse what this one took
      fields_.book_.ledger().keep(int(known));
      fields_.arrays_.keep(known, lattices);
      while (all_.size() > known) all_.pop_back();
      throw;
    }
  };
  try_on_all([&] {
    if (w.wrong) std::rethrow_exception(w.wrong);
    std::string const name(w.name);
    if (name.empty()) throw error(registry_name, "a variable has no name", "it is found by name", "Give it one");
    if (there != all_.end())
      throw error(registry_name, "there are two variables '" + name + "'", "they are found by name", "Rename one");
    if (w.levels < 1 || w.levels > 255)
      throw error(registry_name, "'" + name + "' has " + policy::counted(w.levels, "level"), "1 to 255 can be kept",
                  "Give as many");
    array_kind kind{w.lies.rank, w.lies.rank, w.lies.element_bytes, w.is_left, w.lies.added_as, {}};
    // Its text is that of the name that stays.
    one& o = all_.emplace_back(one{name, w.lies, w.type, w.adopted, is_adopted, kind, variable_info("", 1, true)});
    o.about = variable_info(o.name, w.levels, true, {}, true, 1, w.lies.on, false, w.is_saved);
    share const& part = fields_.arrays_.share_for(o.about);
    if (!is_adopted) {
      int const beyond = w.lies.rank - part.rank;
      if (beyond < 0 || w.given != beyond)
        throw error(registry_name, "'" + name + "' is given " + policy::counted(w.given, "extent"),
                    "of its " + policy::counted(w.lies.rank, "index", "indices") + " the first " +
                        std::to_string(part.rank) + " are the grid's or mesh's",
                    "Say extents{...} for the others");
      return;
    }
    array_ref with = o.lies;
    for (void* const data : o.adopted)
      if (data != nullptr) with.data = data;
    require_fits(with, part, registry_name, "'" + name + "'");
    require_apart(all_, o, fields_.arrays_.provider());
    code[0] = order_of(o.lies, part.rank);
  });
  ranks.min(code);
  try_on_all([&] {
    one& o = all_.back();
    if (!is_adopted) return fields_.add(o.about, o.kind, {{w.lengths.data(), w.given, true}}, &registered::make, this);
    share const& part = fields_.arrays_.share_for(o.about);
    o.own = shape_of(o.lies, part, code[0], registry_name, o.order);
    auto const [before, after] = o.lies.reach();
    o.own.elements = after, o.own.unused = 0;
    std::int64_t elements = 1;
    bool is_exact = before == 0;
    for (int d = 0; d < o.lies.rank; ++d) elements *= o.lies.extents[d];
    for (int d = 0; d < part.rank; ++d) is_exact = is_exact && o.lies.extents[o.lies.index(d)] == part.extents[d];
    if (before != 0)
      throw error(registry_name, "'" + o.name + "' has a negative stride", "its first element is not the lowest",
                  "Adopt the array that it is a section of");
    if (elements != after || !is_exact) o.own.unused = -1;
    fields_.arrays_.adopt(o.about, o.kind, o.own, &registered::make, this);
    fields_.book_.add_variable();
  });
  if (fields_.arrays_.lattices().size() != lattices) {
    try_on_all([&] { fields_.prepare_to_connect(); });
    try_on_all([&] { fields_.connect(); });
  }
  return size() - 1;
}

KEEL_INLINE void registered::make(void* self, int variable, memory m) {
  static_cast<registered*>(self)->make(variable, m);
}

KEEL_INLINE void registered::make(int variable, memory m) {
  one const& o = all_[std::size_t(variable)];
  kokkos_provider& provider = fields_.arrays_.provider();
  using held = std::vector<std::shared_ptr<std::byte>>;
  auto keep = std::make_unique<held>();
  std::vector<void*> data;
  std::size_t const bytes = provider.size_of(variable, 0);
  bool const is_alone = fields_.arrays_.memories() == 1;
  copy_queue const device = is_alone ? copy_queue() : provider.queue_of(m == host ? memory(1) : m);
  for (int level = 0; level < o.about.levels; ++level) {
    if (void* const own = o.adopted[std::size_t(m)]; own != nullptr) {
      data.push_back(own);
      continue;
    }
    std::string const label = o.name + " [" + std::to_string(level) + "]";
    if (m != host) keep->push_back(device.allocate(label.c_str(), bytes));
    else {
      if (device) keep->push_back(device.allocate_on_host(label.c_str(), bytes));
      else {
        constexpr std::align_val_t line{64};
        keep->push_back({static_cast<std::byte*>(::operator new(std::max<std::size_t>(bytes, 1), line)),
                         [](std::byte* it) { ::operator delete(it, line); }});
      }
      std::memset(keep->back().get(), 0, bytes);
    }
    data.push_back(keep->back().get());
  }
  fields_.arrays_.place(variable, m, std::move(data),
                        array_views(keep.release(), [](void* them) { delete static_cast<held*>(them); }));
}

KEEL_INLINE array_ref registered::lies(int variable, int level, memory m, void const* type, int rank) const {
  one const& o = all_[std::size_t(variable)];
  if (type != o.type || rank != o.lies.rank)
    throw error(registry_name, "a view of '" + o.name + "' has another type",
                type != o.type ? "its elements are others"
                               : "the array has " + policy::counted(o.lies.rank, "index", "indices"),
                "Take that which it was registered with");
  array_ref made = o.lies;
  made.data = fields_.arrays_.provider().array(variable, level, 0, m);
  if (o.is_adopted) return made;
  std::size_t const* const extents = fields_.arrays_.extents_of(variable); // which may have changed
  std::int64_t next = 1;
  for (int k = 0; k < rank; ++k) {
    int const d = o.kind.is_left ? k : rank - 1 - k;
    made.extents[d] = std::int64_t(extents[d]), made.strides[d] = next;
    next *= made.extents[d];
  }
  return made;
}

KEEL_INLINE void registered::require_own(std::string_view mesh) const {
  for (one const& o : all_)
    if (o.is_adopted && o.lies.on.mesh == mesh)
      throw error(registry_name, "the mesh " + std::string(mesh) + " is not cut anew",
                  "'" + o.name + "' on it is an array of the application, which would have to have other elements",
                  "Make another registry, and adopt the new arrays");
}

KEEL_INLINE void registered::require_idle(std::span<request const> asked, std::string_view who) const {
  for (use* const u : open_) {
    u->before.clear();
    for (request const& r : asked)
      for (request const& other : u->asked)
        if (r.variable == other.variable && r.level == other.level &&
            (r.writes != region::none || other.writes != region::none))
          throw error(registry_name,
                      std::string(who) + " takes '" + std::string(name(r.variable)) + "', which '" + u->name +
                          "' uses that has not ended",
                      "one of both writes it", "End that use first");
  }
}

KEEL_INLINE void registered::begin(use& u) {
  require_idle(u.asked, u.name);
  open_.reserve(open_.size() + 1); // what is recorded as written has to be open
  book& in = fields_.book_;
  if (in.keeps_ledger()) {
    in.ledger().open(u.where, u.name);
    if (!in.ledger().is_ready(u.asked, u.where, every_component)) in.acquire(u.asked, u.where, u.name, every_component);
    if (in.poisons()) in.poison(u.asked, u.where, every_component);
    in.ledger().post_call(u.asked, u.where, every_component, u.name);
  }
  if (in.checks() && open_.empty()) u.before = checker_.digest_undeclared(u.asked, u.where, every_component);
  open_.push_back(&u);
}
KEEL_INLINE void registered::end(use& u, bool has_failed) {
  std::erase(open_, &u);
  if (!has_failed && !u.before.empty()) {
    checker_.refuse_undeclared(u.before, checker_.digest_undeclared(u.asked, u.where, every_component), u.name);
    checker_.report_unwritten(u.asked, u.where, every_component, u.name);
  }
  if (has_failed && fields_.book_.keeps_ledger()) fields_.book_.ledger().lose(u.asked, every_component, u.name);
}

KEEL_INLINE void registered::exchange(std::span<request const> asked, bool adds, memory m) {
  combine const how = adds ? combine::add : combine::replace;
  require_idle(asked, name_of(how));
  for (request const& r : asked)
    if (adds && all_[std::size_t(r.variable)].lies.added_as == addend::none)
      throw error(registry_name, "'" + all_[std::size_t(r.variable)].name + "' is to be accumulated",
                  "its elements are no numbers", "Exchange it, or accumulate its parts");
  fields_.exchanger_->begin(asked, m, every_component, how, true);
  fields_.exchanger_->finish(asked, m, every_component, how);
}

} // namespace keel::residency::detail
