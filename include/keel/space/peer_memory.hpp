// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Memory that other processes of the node map, and memory of theirs that this process has mapped.

#include <keel/policy/macros.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace keel::space {

/// How another process of the node finds memory; bytes travel as they lie.
struct peer_handle {
  std::array<std::byte, 64> bytes{};
  std::uint64_t size = 0;

  friend bool operator==(peer_handle const&, peer_handle const&) = default;
};

/// How memory of one kind is made and mapped: each call returns why it cannot, an empty text if it did.
struct peer_kind {
  char const* name;
  std::string (*make)(std::size_t bytes, void*& at, peer_handle& handle);
  std::string (*map)(peer_handle const& handle, void*& at);
  void (*unmap)(void* at, std::size_t bytes);
  void (*free)(void* at);
};

/// Pieces of such memory. What is given back is taken again, and what was mapped stays so, because memory must not
/// be freed while another process has it mapped, and only the end of the program is a time at which none does.
class peer_memory {
public:
  explicit peer_memory(peer_kind const& how) : how_(&how) {}
  /// The host's pages.
  static peer_memory& of_host();

  struct chunk {
    std::byte* at = nullptr;
    std::size_t bytes = 0;
    peer_handle handle = {};
    std::uint64_t offset = 0; ///< from the beginning of what the handle stands for
  };

  [[nodiscard]] char const* kind() const { return how_->name; }
  /// What `take` makes of a number of bytes, in every process.
  [[nodiscard]] static std::size_t rounded(std::size_t bytes);
  [[nodiscard]] chunk take(std::size_t bytes);
  void give_back(chunk const& one);
  /// Another process's chunk; null if it cannot be mapped, and `why` says the reason.
  [[nodiscard]] std::byte* map(peer_handle const& handle, std::uint64_t offset, std::string& why);
  /// Unmaps and frees everything: the end of a program.
  void close();
  /// How many chunks of memory were made, and mapped.
  [[nodiscard]] std::size_t made() const { return slabs_.size(); }
  [[nodiscard]] std::size_t mapped() const { return mapped_.size(); }

private:
  static constexpr std::size_t slab_bytes = std::size_t{2} << 20; // what a GPU maps at least
  struct slab {
    std::byte* at;
    peer_handle handle;
    std::size_t used = 0;
  };

  peer_kind const* how_;
  std::mutex mutex_;
  std::vector<slab> slabs_, mapped_;
  std::vector<chunk> free_; // the lowest first: who takes the same again gets the same, which peers have mapped
};

} // namespace keel::space

#if !KEEL_COMPILED
#include <keel/impl/space/peer_memory.ipp>
#endif
