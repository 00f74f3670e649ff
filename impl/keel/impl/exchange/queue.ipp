// SPDX-License-Identifier: MIT
#include <keel/exchange/queue.hpp>
#include <keel/impl/exchange/copy_queue.hpp>
#include <keel/space/peer_memory.hpp>

#include <cstring>

namespace keel::residency {

namespace detail {
[[nodiscard]] inline std::shared_ptr<std::byte> bytes_of_host(std::size_t bytes) {
  return {new std::byte[bytes], std::default_delete<std::byte[]>()};
}
inline void copy_on_host(void* to, void const* from, std::size_t bytes) {
  if (bytes != 0) std::memcpy(to, from, bytes);
}

KEEL_INLINE void queue_model::move_flags(motion how, std::span<message const> all) const {
  move_words some;
  auto const flush = [&] {
    if (some.pieces != 0) reporting([&] { move(some); });
    some = {};
  };
  for (message const& m : all) {
    if (m.flag == nullptr || some.add_flag(how, m)) continue;
    flush();
    some.add_flag(how, m);
  }
  flush();
}
} // namespace detail

KEEL_INLINE std::shared_ptr<std::byte> queue::allocate(char const* label, std::size_t bytes) const {
  return model_ ? model_->allocate(label, bytes) : detail::bytes_of_host(bytes);
}
KEEL_INLINE std::shared_ptr<std::byte> queue::allocate_on_host(char const* label, std::size_t bytes) const {
  return model_ ? model_->allocate_on_host(label, bytes) : detail::bytes_of_host(bytes);
}
KEEL_INLINE void queue::to_device(void* to, void const* host_from, std::size_t bytes) const {
  if (!model_) return detail::copy_on_host(to, host_from, bytes);
  model_->reporting([&] { model_->to_device(to, host_from, bytes); });
}
KEEL_INLINE void queue::to_host(void* host_to, void const* from, std::size_t bytes) const {
  if (!model_) return detail::copy_on_host(host_to, from, bytes);
  model_->reporting([&] { model_->to_host(host_to, from, bytes); });
}
KEEL_INLINE void queue::copy(void* to, void const* from, std::size_t bytes) const {
  if (!model_) return detail::copy_on_host(to, from, bytes);
  model_->reporting([&] { model_->copy(to, from, bytes); });
}
KEEL_INLINE void queue::fence() const {
  if (model_) model_->reporting([&] { model_->fence(); });
}
KEEL_INLINE void queue::raise(std::span<message const> all) const {
  if (model_) return model_->move_flags(detail::motion::raise, all);
  for (message const& m : all)
    for (std::size_t k = 0; m.flag != nullptr && k < m.pieces(); ++k) detail::raise_flag(m.flag + k, ++m.count[k]);
}
KEEL_INLINE void queue::await(std::span<message const> all) const {
  if (model_) return model_->move_flags(detail::motion::await, all);
  for (message const& m : all)
    for (std::size_t k = 0; m.flag != nullptr && k < m.pieces(); ++k) detail::await_flag(m.flag + k, ++m.count[k]);
}
KEEL_INLINE bool queue::is_reached_by_host() const { return !model_ || model_->is_reached_by_host(); }
KEEL_INLINE bool queue::waits_in_kernels() const { return model_ && model_->waits_in_kernels(); }
KEEL_INLINE space::peer_memory* queue::peers() const {
  return model_ ? model_->peers() : &space::peer_memory::of_host();
}
KEEL_INLINE void* queue::native() const { return model_ ? model_->native() : nullptr; }

} // namespace keel::residency
