// SPDX-License-Identifier: MIT
/// @file
/// What keel.f90 binds to where Fortran's texts and arrays come by descriptor. Arrays are described and never copied.

#include "objects.hpp"

#include <ISO_Fortran_binding.h>

#include <array>

using namespace keel::c;
namespace kr = keel::residency;

namespace {

std::string text_of(CFI_cdesc_t const* text) {
  std::string made(static_cast<char const*>(text->base_addr), text->elem_len);
  made.resize(made.find_last_not_of(' ') + 1);
  return made;
}

/// How the array lies, in elements.
template <class Array>
void set_lengths(Array& to, CFI_cdesc_t const& from) {
  to.data = from.base_addr, to.rank = from.rank;
  auto const bytes = std::int64_t(from.elem_len);
  for (int d = 0; d < from.rank; ++d) {
    if (from.dim[d].extent < 0 || d >= kr::max_rank)
      throw keel::error("c", d < kr::max_rank ? "an array has no last extent" : "an array has more than 8 indices",
                        d < kr::max_rank ? "it is of assumed size" : "no more are described",
                        d < kr::max_rank ? "Pass a section of it, as a(1:n)" : "Pass a part of it");
    if (bytes == 0 || from.dim[d].sm % bytes != 0)
      throw keel::error("c", "elements of an array lie " + std::to_string(from.dim[d].sm) + " bytes apart",
                        "that is no multiple of their " + std::to_string(bytes), "Pass the array of the whole type");
    to.extents[d] = from.dim[d].extent, to.strides[d] = from.dim[d].sm / bytes;
  }
}

int type_of(CFI_cdesc_t const& a) {
  constexpr std::array<std::array<int, 2>, 6> known{{{CFI_type_int32_t, KEEL_INT32},
                                                     {CFI_type_int64_t, KEEL_INT64},
                                                     {CFI_type_float, KEEL_FLOAT},
                                                     {CFI_type_double, KEEL_DOUBLE},
                                                     {CFI_type_float_Complex, KEEL_COMPLEX_FLOAT},
                                                     {CFI_type_double_Complex, KEEL_COMPLEX_DOUBLE}}};
  for (auto const& [theirs, ours] : known)
    if (a.type == theirs) return ours;
  return KEEL_BYTES + int(a.elem_len);
}

using descriptor = CFI_cdesc_t const*;
int call(int handle, std::array<descriptor, 8> const& arrays, arrays_call what, int* open = nullptr) {
  return guarded([&] {
    auto const plan = share<plan_object>(handle);
    plan->given.clear();
    for (descriptor const a : arrays) {
      if (a == nullptr) continue;
      std::size_t const n = plan->given.size();
      auto& one = plan->given.emplace_back(n < plan->planned.size() ? plan->planned[n] : kr::detail::array_ref{});
      one.element_bytes = std::int64_t(a->elem_len);
      set_lengths(one, *a);
    }
    run(plan, what, open);
  });
}

} // namespace

extern "C" {

int keel_f_set(descriptor knob, descriptor text) { return keel_set(text_of(knob).c_str(), text_of(text).c_str()); }
int keel_f_start(int const* communicator) {
  return communicator == nullptr ? keel_start(nullptr, nullptr) : keel_start_on(nullptr, nullptr, *communicator);
}
static void give(char const* from, CFI_cdesc_t* to) {
  std::string text = from;
  text.resize(to->elem_len, ' ');
  text.copy(static_cast<char*>(to->base_addr), to->elem_len);
}
void keel_f_message(CFI_cdesc_t* text) { give(keel_message(), text); }
void keel_f_device(CFI_cdesc_t* text) { give(keel_device(), text); }

int keel_f_on(keel_array* made, descriptor a, descriptor mesh, descriptor index, int const* indices, int const* layers,
              int const* memory, int const* longer) {
  return guarded([&] {
    keel_array to{};
    set_lengths(to, *a);
    to.type = type_of(*a);
    if (mesh != nullptr) to.mesh = kept(text_of(mesh)).data();
    int const given = index == nullptr ? 0 : int(index->dim[0].extent);
    to.indexed = indices == nullptr ? given : *indices;
    for (int d = 0; d < given && d < kr::max_grid_rank; ++d)
      to.index[d] = *reinterpret_cast<int const*>(static_cast<char*>(index->base_addr) + d * index->dim[0].sm) - 1;
    to.layers = layers == nullptr ? 0 : *layers;
    to.memory = memory == nullptr ? KEEL_HOST : *memory;
    to.longer = longer == nullptr ? 0 : *longer;
    (void)ref_of(to);
    *made = to;
  });
}

int keel_f_partition(int environment, descriptor mesh, std::int64_t owned_count, std::int64_t const* owned, int layers,
                     std::int64_t const* counts, std::int64_t const* ghosts, int* partition) {
  return keel_partition(environment, text_of(mesh).c_str(), owned_count, owned, layers, counts, ghosts, partition);
}
int keel_f_partition_with_images(int environment, descriptor mesh, std::int64_t owned_count, std::int64_t const* owned,
                                 int layers, std::int64_t const* counts, std::int64_t const* ghosts, int* partition) {
  return keel_partition_with_images(environment, text_of(mesh).c_str(), owned_count, owned, layers, counts, ghosts,
                                    partition);
}
int keel_f_sum(int environment, descriptor a, double* sum) {
  return guarded([&] {
    auto const& env = *get<ranks_object>(environment).it;
    kr::detail::array_ref lies;
    set_lengths(lies, *a);
    *sum = sum_of(env, lies, type_of(*a));
  });
}

int keel_f_exchange(int plan, descriptor a, descriptor b, descriptor c, descriptor d, descriptor e, descriptor f,
                    descriptor g, descriptor h) {
  return call(plan, {a, b, c, d, e, f, g, h}, arrays_call::exchange);
}
int keel_f_accumulate(int plan, descriptor a, descriptor b, descriptor c, descriptor d, descriptor e, descriptor f,
                      descriptor g, descriptor h) {
  return call(plan, {a, b, c, d, e, f, g, h}, arrays_call::accumulate);
}
int keel_f_begin(int plan, int* open, descriptor a, descriptor b, descriptor c, descriptor d, descriptor e,
                 descriptor f, descriptor g, descriptor h) {
  return call(plan, {a, b, c, d, e, f, g, h}, arrays_call::begin, open);
}

int keel_f_adopt(int registry, descriptor name, keel_array const* on_host, keel_array const* on_device, int* variable) {
  return keel_adopt(registry, text_of(name).c_str(), on_host, on_device, variable);
}
int keel_f_add(int registry, descriptor name, int levels, keel_array const* like, int* variable) {
  return keel_add(registry, text_of(name).c_str(), levels, like, variable);
}
int keel_f_begin_use(int registry, descriptor name, int memory, int count, int const* variables, int* use) {
  return keel_begin_use(registry, text_of(name).c_str(), memory, count, variables, use);
}
int keel_f_migrate(int registry, descriptor mesh, std::int64_t count, int const* destinations) {
  return keel_migrate(registry, text_of(mesh).c_str(), count, destinations);
}
int keel_f_partition_of(int registry, descriptor mesh, int* partition) {
  return keel_partition_of(registry, text_of(mesh).c_str(), partition);
}

} // extern "C"
