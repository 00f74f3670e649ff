// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Memory of a kind, by libmemkind: high-bandwidth, large, or in a file.

#include <keel/policy/macros.hpp>

#if KEEL_WITH_MEMKIND

#include <keel/policy/error.hpp>
#include <keel/space/memory.hpp>

#include <memkind.h>

#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>

namespace keel::space {

/// What a machine may have beside plain memory. Ask `memkind_resource::is_available`: this one may not.
enum class memory_kind { plain, high_bandwidth, high_bandwidth_preferred, highest_capacity, persistent };

/// A file that memory is mapped from; it has no name and goes with the last copy of the resource.
struct memory_file {
  std::string folder;
  std::size_t bytes = 0; ///< at most; 0 is as much as the file system has
};

/// Memory of one kind. Copies share it.
class memkind_resource {
public:
  static constexpr char const* name = "memkind";
  static constexpr reach reached_from = reach::host;

  /// Throws if this machine lacks the kind.
  explicit memkind_resource(memory_kind kind = memory_kind::plain) : kind_(handle(kind), [](memkind_t) {}) {
    if (!is_available(kind))
      throw error("space", "this machine has no memory of the kind that was asked for", "libmemkind finds none",
                  "Ask keel::space::memkind_resource::is_available first");
  }
  /// Throws if no file can be made in the folder.
  explicit memkind_resource(memory_file const& file) {
    memkind_t made = nullptr;
    if (int const code = memkind_create_pmem(file.folder.c_str(), file.bytes, &made); code != 0)
      throw error("space", "no memory from a file in '" + file.folder + "'", "libmemkind refuses it",
                  "Name a folder that can be written, and at least 16 MiB", code);
    kind_ = std::shared_ptr<memkind>(made, [](memkind_t kind) { memkind_destroy_kind(kind); });
  }

  [[nodiscard]] static bool is_available(memory_kind kind) { return memkind_check_available(handle(kind)) == 0; }

  [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment) const {
    void* pointer = nullptr;
    return memkind_posix_memalign(kind_.get(), &pointer, alignment, bytes) == 0 ? pointer : nullptr;
  }
  void deallocate(void* pointer, std::size_t, std::size_t) const { memkind_free(kind_.get(), pointer); }

private:
  using memkind = std::remove_pointer_t<memkind_t>;

  static memkind_t handle(memory_kind kind) {
    switch (kind) {
    case memory_kind::high_bandwidth: return MEMKIND_HBW;
    case memory_kind::high_bandwidth_preferred: return MEMKIND_HBW_PREFERRED;
    case memory_kind::highest_capacity: return MEMKIND_HIGHEST_CAPACITY;
    case memory_kind::persistent: return MEMKIND_DAX_KMEM;
    case memory_kind::plain: break;
    }
    return MEMKIND_DEFAULT;
  }

  std::shared_ptr<memkind> kind_;
};

/// The memory space of libmemkind: plain memory by default, else
/// `memkind(memkind_resource(memory_kind::high_bandwidth))`.
using memkind = memory<memkind_resource>;

} // namespace keel::space

#endif
