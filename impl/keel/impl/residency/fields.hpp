// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The calls of fields: construction, a step, one routine, what is valid.

#include <keel/impl/residency/actions.hpp>
#include <keel/impl/residency/steps/arguments.hpp>
#include <keel/impl/residency/setup.hpp>
#include <keel/residency/fields.hpp>

#include <new>
#include <optional>
#include <type_traits>
#include <utility>

namespace keel::residency {

template <class App, Variable... Vars>
template <class Run, class... Options>
fields<App, Vars...>::fields(checked_places, Run& run, grid const& whole, Options const&... options) try
    : base(run, whole, detail::further_in(options...), detail::components_in(whole, options...)) {
  static constexpr typename base::addition all[] = {{&Vars::about, &base::template add<typename Vars::data_type>}...};
  machine::agreement const ranks(run.environment());
  ranks.all_alike(detail::making_fields, [&] { (detail::add_mesh_in(*this, options), ...); });
  if constexpr ((!detail::mesh_of_option<Options>.empty() || ...)) detail::check_meshes(*this, ranks);
  ranks.all_alike(detail::making_fields, [&] {
    for (auto const& v : all) (this->*v.add)(*v.about, {detail::lengths_in(options, *v.about)...});
  });
  this->open_for(run);
} catch (std::bad_alloc const&) {
  throw error("residency::fields", "the fields are not made", "there is not enough memory",
              "Take smaller arrays, or more ranks");
}

template <class App, Variable... Vars>
template <Runtime<App> Run, class... Options>
fields<App, Vars...>::fields(Run& run, grid const& whole, Options const&... options)
    : fields(check_places<grid, Options...>(run, whole, options...), run, whole, options...) {}
template <class App, Variable... Vars>
template <Runtime<App> Run, Mesh M, class... Options>
fields<App, Vars...>::fields(Run& run, partition<M> const& first, Options const&... options)
    : fields(check_places<partition<M>, Options...>(run, detail::grid_in(options...), options...), run,
             detail::grid_in(options...), first, options...) {}

template <class App, Variable... Vars>
template <Entry S, class... Args>
void fields<App, Vars...>::step(S, Args&&... args) {
  using arguments = detail::passed_all<Args...>;
  arguments const all(args...);
  auto const visit = this->users_.enter("step");
  this->executor_.require_idle("step()");
  if constexpr (detail::table_of<S>.unmade != detail::no_node) (void)detail::makes_all_values<S>();
  else if constexpr (!tracking::may_track || detail::finds_all_ghosts<S, index>())
    this->template on_chosen<detail::table_of<S>.view().asks_for_device()>([&]<class Tag>(Tag) {
      if constexpr (!detail::finds_all_scratch<App, S, index, Tag>()) return; // after that error
      else {
        auto const& view = detail::view_of_schedule<App, index, S, Tag, arguments>;
        if constexpr (base::has_one_memory && detail::is_plain<S>) { // nvcc wants the braces
          detail::plain_calls<App, index, S, Tag, arguments> calls{*this, every_component, all};
          if constexpr (tracking::may_track) {
            if (detail::prepared_schedule const* const known = this->executor_.answered(view, true)) [[likely]] {
              detail::executor::bare_step const bare(this->executor_, *known, calls.node);
              try {
                detail::walk_types<0, S>(calls);
              } catch (...) {
                bare.fail();
                throw;
              }
              return bare.finish();
            }
          } else if (!this->arrays_.has_blocks() && !this->book_.settings().watches_steps()) {
            detail::executor::step_scope const until_end(this->executor_);
            return detail::walk_types<0, S>(calls);
          }
        }
        this->executor_.step(view, &all);
      }
    });
}

template <class App, Variable... Vars>
template <Entry E, class... Args>
KEEL_FORCE_INLINE auto fields<App, Vars...>::run(E, Args&&... args) {
  return run_in<E>(every_component, detail::passed_all<Args...>(args...));
}
template <class App, Variable... Vars>
template <Entry E, class... Args>
auto fields<App, Vars...>::run(E, component which, Args&&... args) {
  this->arrays_.require_component(which, every_component, E::about.name);
  return run_in<E>({which.index, which.index + 1}, detail::passed_all<Args...>(args...));
}
template <class App, Variable... Vars>
template <Entry E, class Arguments>
KEEL_FORCE_INLINE auto fields<App, Vars...>::run_in(component_range range, Arguments const& args) {
  if constexpr (!has_body(E::about.what) && !detail::bound_schedule<E, index>::is_complete(0))
    detail::require_variables<E, index>(); // a shorter message than from where the actions ask for it
  auto const visit = this->users_.enter(E::about.name);
  auto const run_it = [&]() __attribute__((always_inline)) {
    this->template on_chosen<detail::table_of<E>.view().asks_for_device()>(
        [&]<class Tag>(Tag) __attribute__((always_inline)) {
          if constexpr (!detail::finds_all_scratch<App, E, index, Tag>()) return; // after that error
          else {
            auto const& view = detail::view_of_schedule<App, index, E, Tag, Arguments>;
            constexpr bool is_call = base::has_one_memory && detail::is_plain<E> && !has_body(E::about.what);
            if constexpr (tracking::may_track || !is_call) this->executor_.require_idle(E::about.name);
            if constexpr (is_call) {
              detail::plain_calls<App, index, E, Tag, Arguments> calls{*this, range, args};
              if constexpr (!tracking::may_track) {
                if (!this->arrays_.has_blocks()) return detail::walk_types<0, E>(calls);
              } else if (range.end >= this->arrays_.components() && range.begin == 0) {
                if (detail::prepared_schedule const* const known = this->executor_.answered(view, false)) [[likely]] {
                  this->executor_.record(*known); // before it runs, because a routine may run others
                  try {
                    return detail::walk_types<0, E>(calls);
                  } catch (...) {
                    this->executor_.record(*known, 1, true);
                    throw;
                  }
                }
              }
            }
            this->executor_.execute(view, range, &args);
          }
        });
  };
  using result = typename detail::outcome<App, E, Arguments>::type;
  if constexpr (!std::is_void_v<result> && E::about.what == entry_kind::routine) {
    if (this->arrays_.has_blocks()) [[unlikely]]
      this->arrays_.require_one_call(range, E::about.name);
  }
  if constexpr (E::about.what == entry_kind::reduce) {
    run_it();
    return base::template value<typename E::reduction_type>();
  } else if constexpr (std::is_void_v<result>) {
    run_it();
  } else {
    std::optional<result> kept;
    struct aim { // a routine may run others
      void*& at;
      void* before;
      ~aim() { at = before; }
    } const here{this->executor_.result, std::exchange(this->executor_.result, &kept)};
    run_it();
    return std::move(*kept);
  }
}

template <class App, Variable... Vars>
template <Part X, class Tag>
bool fields<App, Vars...>::is_valid(region where, component which) const {
  using item = detail::item<X>;
  this->book_.require_tracked("is_valid");
  this->executor_.record_begun();
  memory m = host;
  if constexpr (!std::is_void_v<Tag>) m = base::template memory_of<Tag>;
  return this->book_.is_valid(number<typename item::variable>, item::level, where, m, which.index, item::layers);
}

template <class App, Variable... Vars>
template <class Tag, Part X>
auto fields<App, Vars...>::view(X, component which) {
  using variable = typename detail::item<X>::variable;
  using kept = view_of<App, variable, Tag>;
  static_assert(policy::contains<devices, Tag> || detail::is_on_host<Tag>,
                "keel::residency::fields::view: a device that is not in the application's list. Add it there.");
  static_assert(!variable::about.is_scratch,
                "keel::residency::fields::view: a view of a scratch is kept (its memory is shared; it is in the "
                "message). Make it a variable.");
  auto const visit = this->users_.enter("view");
  this->executor_.require_idle("view");
  this->arrays_.require_component(which, every_component, "view");
  if constexpr (!detail::is_on_host<Tag>) this->template prepare<Tag>();
  return kept(
      this->template array<kept, Tag>(number<variable>, variable::about.levels, detail::item<X>::level, which.index));
}

template <class App, Variable... Vars>
template <Variable... Vs>
void fields<App, Vars...>::copy_from_past() {
  static_assert(((Vs::about.levels > 1) && ...),
                "keel::residency: copy_from_past of a variable that has only one level (there is no level "
                "of the past). Declare it with levels<2>.");
  auto const visit = this->users_.enter("copy_from_past");
  this->executor_.require_idle("copy_from_past");
  this->arrays_.settle_host();
  (this->book_.copy_from_past(number<Vs>), ...);
}

} // namespace keel::residency
