// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Which pieces of arrays partners exchange, and where they are packed into messages and unpacked: on the
/// host, or on a device.

#include <keel/exchange/transport.hpp>
#include <keel/impl/exchange/copy_queue.hpp>
#include <keel/impl/layout/decomposition.hpp>
#include <keel/policy/macros.hpp>

#include <array>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace keel::residency::detail {

/// Bytes for messages, which grow to the most that was asked for, by half at least. What a queue has may use the former
/// ones, so it is waited for then.
struct buffer {
  using allocator = std::shared_ptr<std::byte> (queue::*)(char const* label, std::size_t bytes) const;
  static constexpr allocator on_host = &queue::allocate_on_host;
  std::shared_ptr<std::byte> bytes;
  std::size_t size = 0;

  std::byte* grow(copy_queue const& by, std::size_t wanted, allocator allocate = &queue::allocate);
};

/// Packs on the host, at once; or, if a copy queue is connected, in its memory, after the kernels of its queue. It has
/// buffers for messages that their transport has no place for.
class packing {
public:
  void connect(copy_queue const& there) { queue_ = there; }
  /// Empty on the host.
  [[nodiscard]] copy_queue const& queue() const { return queue_; }

  std::byte* out(std::size_t bytes) { return out_.grow(queue_, bytes); }
  std::byte* in(std::size_t bytes) { return in_.grow(queue_, bytes); }
  /// What was kept of boxes.
  void forget();
  /// Another number when what a queue has recorded uses what is no longer kept.
  [[nodiscard]] std::uint32_t changes() const { return changes_; }
  /// By one kernel: of more jobs than travel with one, the list is sent once, and kept for the next time.
  void move(std::span<job> jobs);

private:
  /// Sends the list of jobs that do not travel with a kernel.
  void list(std::span<job> jobs, move_words& all);

  /// Jobs that were done before. The queue may still read them.
  struct kept_moves {
    std::vector<job> jobs;
    std::vector<std::int32_t> starts;
    std::shared_ptr<std::byte> there, starts_there;
  };
  static constexpr std::size_t most_kept = 64;

  std::uint32_t changes_ = new_state();
  copy_queue queue_;
  buffer out_, in_;
  std::vector<kept_moves> kept_;
};

/// The entry of a schedule that does it.
[[nodiscard]] constexpr std::string_view name_of(combine how) {
  return how == combine::add ? "accumulate" : "exchange";
}

/// One array whose ghosts are to be filled, or added to their owners: of a component of a variable that is cut so.
struct halo_array {
  shape const* lies;
  void* data;
  decomposition const* cut;
  int component;
};

/// How long exchanges of the same arrays take, in windows of some hundred.
class pace {
public:
  /// Counts one exchange; true at the end of a window.
  [[nodiscard]] bool add(double seconds) {
    window_[std::size_t(count_++)] = float(seconds);
    if (count_ != size) return false;
    count_ = 0;
    std::nth_element(window_.begin(), window_.begin() + size / 2, window_.end());
    now_ = double(window_[size / 2]);
    return true;
  }
  /// Whether the last window was several times slower than the fastest one.
  [[nodiscard]] bool is_slow() const { return usual_ > 0 && now_ > 4 * usual_ + 20e-6; }
  void end_window() { usual_ = usual_ > 0 ? std::min(usual_, now_) : now_; }
  void forget() { usual_ = 0; }
  [[nodiscard]] double now() const { return now_; }
  [[nodiscard]] double usual() const { return usual_; }

private:
  static constexpr int size = 256;
  std::array<float, size> window_{};
  int count_ = 0;
  double now_ = 0, usual_ = 0; // medians
};

/// Which pieces of arrays are exchanged: each partner gets one message with its pieces of all arrays. Arrays of a
/// variable follow on each other, in the order of their components. Messages without bytes are left out. What is found
/// out about a list of arrays is kept, whatever their data.
class halo_plan {
public:
  /// How long the messages of these arrays are, one for each partner each way; their data are set by who sends them.
  /// The calls below are about the same arrays; `pack` may be about `from`, others that are cut alike.
  void lay_out(std::span<halo_array const> arrays, combine how = combine::replace,
               std::span<halo_array const> from = {});
  void forget();
  /// Whether partners have messages of these lengths, too; empty until they were asked.
  [[nodiscard]] std::optional<bool>& is_agreed() { return now_->is_agreed; }
  [[nodiscard]] pace& times() { return now_->times; }
  [[nodiscard]] std::span<message> sends() { return now_->sends; }
  [[nodiscard]] std::span<message> receives() { return now_->receives; }
  /// A number for each time that their data are set; who sets them gives it.
  [[nodiscard]] std::uint64_t& placing() { return now_->placing; }
  /// Whether one kernel unpacks what came; of several none could count its flags.
  [[nodiscard]] bool has_one_turn() const { return now_->turns == 1; }
  /// With the first turn of `unpack` by the same kernel, if that can be: flags order what it does.
  void pack(std::span<halo_array const> arrays, packing& where, bool is_unpacked = false);
  /// What came goes to the ghosts, and so do copies of this rank's own elements; or it is added to the owned elements,
  /// and so are ghosts of this rank's own elements.
  void unpack(std::span<halo_array const> arrays, packing& where);

private:
  static constexpr std::size_t most_kept = 64;
  static constexpr std::uint64_t never = ~std::uint64_t{0};
  /// One piece of an array, and where its words are: in a message, or in this rank's array of a number.
  struct packed_box {
    std::size_t array;
    index_set box;
    strip which; ///< without the numbers of listed elements
    int message = -1;
    std::ptrdiff_t at = 0; ///< in bytes
    int turn = 0;
    std::size_t other = 0;
  };
  /// What one kernel moves, and what it was found out from.
  struct kept_jobs {
    std::uint64_t placing = never;
    std::vector<void*> data; // of the arrays
    std::vector<job> all;
  };
  struct laid_out {
    combine how;
    std::vector<halo_array> arrays; // without data
    std::vector<message> sends, receives;
    std::vector<packed_box> packed, unpacked;
    std::vector<packed_box> negated; ///< of those that are unpacked, onto themselves
    int turns = 1;
    bool is_apart = true; ///< no element that is packed is unpacked
    std::optional<bool> is_agreed = {};
    std::uint64_t placing = 0;
    pace times = {};
    std::vector<kept_jobs> jobs = {}; // to pack, then by turn to unpack and to negate
  };
  void find_boxes(laid_out& made, std::span<halo_array const> from) const;
  [[nodiscard]] kept_jobs& jobs_to_unpack(int turn) { return now_->jobs[1 + 2 * std::size_t(turn)]; }
  [[nodiscard]] bool adds() const { return now_->how == combine::add; }
  /// Lists jobs of these parts, unless they are known.
  void list(kept_jobs& jobs, motion how, motion copy, int turn, std::vector<packed_box> const& parts,
            std::span<message const> messages, std::span<halo_array const> arrays, packing const& where) const;
  void list_to_unpack(int turn, std::span<halo_array const> arrays, packing const& where) {
    list(jobs_to_unpack(turn), adds() ? motion::add : motion::scatter, adds() ? motion::add_copy : motion::copy, turn,
         now_->unpacked, now_->receives, arrays, where);
  }

  std::vector<std::unique_ptr<laid_out>> kept_;
  laid_out* now_ = nullptr;
  bool is_unpacked_ = false; ///< the first turn, together with packing
};

/// Bytes of an array that leave this rank for others in an exchange.
[[nodiscard]] std::uint64_t bytes_sent(halo_array const& array, combine how);

/// Pieces begin at multiples of eight bytes, so that words of any length are aligned.
[[nodiscard]] inline std::size_t padded(shape const& lies, bounds const& box, origin_steps const& steps = {}) {
  return (std::size_t(bytes_of(lies, box, steps)) + 7) / 8 * 8;
}

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/exchange/packing.ipp>
#endif
