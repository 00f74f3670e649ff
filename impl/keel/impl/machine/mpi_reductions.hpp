// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// MPI's reductions, with its own operations if it has them.

#include <keel/impl/machine/mpi_communicator.hpp>
#include <keel/machine/operations.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <type_traits>

namespace keel::machine::detail {

/// MPI's type for `T`; none for what is not a number.
template <class T>
[[nodiscard]] MPI_Datatype number_type() {
  if constexpr (std::same_as<T, float>) return MPI_FLOAT;
  else if constexpr (std::same_as<T, double>) return MPI_DOUBLE;
  else if constexpr (std::same_as<T, long double>) return MPI_LONG_DOUBLE;
  else if constexpr (std::integral<T> && !std::same_as<T, bool>) {
    constexpr bool is_signed = std::is_signed_v<T>;
    if constexpr (sizeof(T) == 1) return is_signed ? MPI_INT8_T : MPI_UINT8_T;
    else if constexpr (sizeof(T) == 2) return is_signed ? MPI_INT16_T : MPI_UINT16_T;
    else if constexpr (sizeof(T) == 4) return is_signed ? MPI_INT32_T : MPI_UINT32_T;
    else return is_signed ? MPI_INT64_T : MPI_UINT64_T;
  } else return MPI_DATATYPE_NULL;
}

/// MPI's operation for `Op`; none for one of the program's.
template <class Op>
[[nodiscard]] MPI_Op own_operation() {
  if constexpr (std::same_as<Op, std::plus<>>) return MPI_SUM;
  else if constexpr (std::same_as<Op, minimum>) return MPI_MIN;
  else if constexpr (std::same_as<Op, maximum>) return MPI_MAX;
  else return MPI_OP_NULL;
}

/// `Op` on elements of `T`, with MPI's type or one of so many bytes; freed with it. MPI's own extremes may drop a NaN,
/// so those of floating-point numbers are keel's.
template <class T, class Op>
class mpi_operation {
  static constexpr bool is_extreme = std::same_as<Op, minimum> || std::same_as<Op, maximum>;
  static constexpr bool has_own_type = std::floating_point<T> || (std::integral<T> && !std::same_as<T, bool>);

public:
  static constexpr bool is_own = has_own_type && (std::same_as<Op, std::plus<>> || (std::integral<T> && is_extreme));

  mpi_operation() {
    if constexpr (!has_own_type) {
      require(MPI_Type_contiguous(int(sizeof(T)), MPI_BYTE, &type_), "MPI_Type_contiguous", MPI_COMM_WORLD);
      require(MPI_Type_commit(&type_), "MPI_Type_commit", MPI_COMM_WORLD);
    }
    if constexpr (!is_own)
      require(MPI_Op_create(&apply, has_own_type && is_extreme, &op_), "MPI_Op_create", MPI_COMM_WORLD);
  }
  ~mpi_operation() {
    if (is_own || !mpi_is_running()) return;
    MPI_Op_free(&op_);
    if (!has_own_type) MPI_Type_free(&type_);
  }
  mpi_operation(mpi_operation const&) = delete;
  mpi_operation& operator=(mpi_operation const&) = delete;

  [[nodiscard]] MPI_Datatype type() const { return has_own_type ? number_type<T>() : type_; }
  [[nodiscard]] MPI_Op op() const { return is_own ? own_operation<Op>() : op_; }

private:
  /// MPI's buffers may lie on any byte.
  static void apply(void* earlier, void* later, int* count, MPI_Datatype*) {
    auto const read = [](void const* from, std::size_t at) {
      std::array<std::byte, sizeof(T)> bytes;
      std::memcpy(bytes.data(), static_cast<std::byte const*>(from) + at, sizeof(T));
      return std::bit_cast<T>(bytes);
    };
    for (int i = 0; i < *count; ++i) {
      auto const at = std::size_t(i) * sizeof(T);
      T const result = Op{}(read(earlier, at), read(later, at));
      std::memcpy(static_cast<std::byte*>(later) + at, static_cast<void const*>(&result), sizeof(T));
    }
  }

  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  MPI_Op op_ = MPI_OP_NULL;
};

/// The reductions of the model `mpi`, in place, in pieces if there are more elements than MPI counts.
struct mpi_reductions {
  template <class T, class Op>
  static constexpr bool is_own_operation = mpi_operation<T, Op>::is_own;

  template <class T, class Op>
  static void all_reduce(mpi_communicator const& c, T* x, std::size_t n) {
    in_pieces<T, Op>(c, x, n, "MPI_Allreduce", [&](T* at, int count, mpi_operation<T, Op> const& with) {
      return MPI_Allreduce(MPI_IN_PLACE, at, count, with.type(), with.op(), c.get());
    });
  }
  template <class T, class Op>
  static void scan(mpi_communicator const& c, T* x, std::size_t n) {
    in_pieces<T, Op>(c, x, n, "MPI_Scan", [&](T* at, int count, mpi_operation<T, Op> const& with) {
      return MPI_Scan(MPI_IN_PLACE, at, count, with.type(), with.op(), c.get());
    });
  }

  /// One that has begun; `x` is MPI's until `wait`, which the destructor calls if the caller did not.
  template <class T, class Op>
  class pending {
  public:
    pending(mpi_communicator const& c, T* x, std::size_t n) : handle_(c.get()) {
      auto const guard = c.guarded();
      require(MPI_Iallreduce(MPI_IN_PLACE, x, int(n), with_.type(), with_.op(), c.get(), &request_), "MPI_Iallreduce",
              c.get());
    }
    pending(pending const&) = delete;
    pending& operator=(pending const&) = delete;
    ~pending() {
      if (request_ != MPI_REQUEST_NULL && mpi_is_running()) MPI_Wait(&request_, MPI_STATUS_IGNORE);
    }
    void wait() {
      require_running();
      require(MPI_Wait(&request_, MPI_STATUS_IGNORE), "MPI_Wait", handle_);
    }

  private:
    mpi_operation<T, Op> with_;
    MPI_Comm handle_;
    MPI_Request request_ = MPI_REQUEST_NULL;
  };

private:
  template <class T, class Op, class Call>
  static void in_pieces(mpi_communicator const& c, T* x, std::size_t n, char const* name, Call const& call) {
    auto const guard = c.guarded();
    mpi_operation<T, Op> const with;
    constexpr std::size_t piece = std::size_t{1} << 30;
    for (std::size_t at = 0; at < n; at += piece)
      require(call(x + at, int(std::min(n - at, piece)), with), name, c.get());
  }
};

} // namespace keel::machine::detail
