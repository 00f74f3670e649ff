// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The exceptions that keel throws, and the grammar of its messages.

#if !defined(__cpp_exceptions) && !defined(__CUDA_ARCH__)
// A missing file ends the compilation; after #error a hundred more errors would follow.
#include <keel: exceptions are off (errors are thrown). Compile without -fno-exceptions.>
#endif

#include <keel/policy/printable.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace keel::policy {

/// What to do about an error, with the end that it lacks: a question mark after *Did you mean*, else a full stop.
[[nodiscard]] inline std::string as_sentence(std::string_view hint) {
  bool const asks = hint.starts_with("Did you mean") || hint.starts_with("Is ");
  return std::string(hint) + (asks ? '?' : '.');
}

/// A number and what it counts: *1 rank*, *2 ranks*. Of words whose plural is another: *2 memories*.
[[nodiscard]] inline std::string counted(std::int64_t n, std::string_view one, std::string_view many = {}) {
  std::string text = std::to_string(n) + ' ';
  return n == 1 ? text.append(one) : many.empty() ? text.append(one).append(1, 's') : text.append(many);
}

} // namespace keel::policy

namespace keel {

/// What keel throws; there is one kind more, `out_of_memory_error`.
///
/// The message reads *keel::place: what is wrong (why). What to do.* so that a
/// user finds the place in the documentation and the way out in the sentence. Control characters in it become '?'.
/// It is a `std::runtime_error`, as what Kokkos throws, so that a program which
/// catches that when a view finds no room catches it here. Copying does not throw.
class error : public std::runtime_error {
public:
  /// Composes the message. `place` is the name without `keel::` (`"device"`), `why` and `hint` may be empty; `hint` is
  /// an imperative, or begins with *Did you mean*, and ends without punctuation.
  error(std::string_view place, std::string_view wrong, std::string_view why = {}, std::string_view hint = {},
        int code = 0)
      : error(composed(place, wrong, why, hint), code) {}

  /// An error with the message of another one, as it came over the network.
  [[nodiscard]] static error from_message(std::string const& message, int code = 0) {
    return error(text{policy::printable(message), 0, message.size()}, code);
  }

  /// This error if another rank prints the message, so that it is printed once a job.
  [[nodiscard]] error printed_elsewhere() const {
    error e = *this;
    e.printed_elsewhere_ = true;
    return e;
  }
  [[nodiscard]] bool is_printed_elsewhere() const noexcept { return printed_elsewhere_; }

  /// This error as a failed call of what carries the ranks: no message can be relied on from then on.
  [[nodiscard]] error of_ranks() const {
    error e = *this;
    e.is_of_ranks_ = true;
    return e;
  }
  [[nodiscard]] bool is_of_ranks() const noexcept { return is_of_ranks_; }

  /// The message of the last error made on this thread: what a destructor that runs because of it can
  /// still say. Empty before the first.
  [[nodiscard]] static std::string const& latest() noexcept { return latest_; }

  /// What is wrong and why, without place and hint: for the message of another error.
  [[nodiscard]] std::string_view brief() const noexcept {
    return std::string_view(what()).substr(brief_begin_, brief_size_);
  }

  /// The code of the library that failed underneath (MPI's, errno's); 0 if there was none.
  [[nodiscard]] int code() const noexcept { return code_; }

  /// The message that an error of these parts has, for text that is not thrown.
  [[nodiscard]] static std::string message(std::string_view place, std::string_view wrong, std::string_view why,
                                           std::string_view hint) {
    return composed(place, wrong, why, hint).all;
  }

private:
  struct text {
    std::string all;
    std::size_t brief_begin, brief_size;
  };
  static text composed(std::string_view place, std::string_view wrong, std::string_view why, std::string_view hint) {
    std::string all = "keel::";
    all.append(place).append(": ");
    std::size_t const begin = all.size();
    all.append(wrong);
    if (!why.empty()) all.append(" (").append(why).append(")");
    std::size_t const size = all.size() - begin;
    all.append(".");
    if (!hint.empty()) all.append(" ").append(policy::as_sentence(hint));
    return {policy::printable(std::move(all)), begin, size};
  }
  error(text const& message, int code)
      : std::runtime_error(message.all), brief_begin_(message.brief_begin), brief_size_(message.brief_size),
        code_(code) {
    latest_ = message.all;
  }

  std::size_t brief_begin_, brief_size_; // in the message
  int code_;
  bool printed_elsewhere_ = false, is_of_ranks_ = false;
  static inline thread_local std::string latest_;
};

/// There is no memory left, or no device to have it on: what `device::try_execute` goes on to the next device for.
class out_of_memory_error : public error {
public:
  using error::error;
  /// For a failed allocation of unknown size; `code` is ENOMEM if a library reported it.
  out_of_memory_error(std::string_view place, std::string_view wrong, int code)
      : error(place, wrong, "there is not enough memory", "Free some, or raise its limit", code) {}
};

/// `e` as an error of keel's, else null. A program without RTTI asks the exception that is being handled, so there the
/// answer is null for any other.
[[nodiscard]] inline error const* as_error(std::exception const& e) noexcept {
#if defined(__cpp_rtti)
  return dynamic_cast<error const*>(&e);
#else
  if (!std::current_exception()) return nullptr;
  try {
    throw;
  } catch (error const& handled) {
    return static_cast<std::exception const*>(&handled) == &e ? static_cast<error const*>(&e) : nullptr;
  } catch (...) {
    return nullptr;
  }
#endif
}

/// The reason that an exception gives, for the message of an error that follows from it.
[[nodiscard]] inline std::string_view reason_of(std::exception const& e) {
  auto const* const own = as_error(e);
  return own != nullptr ? own->brief() : std::string_view(e.what());
}

} // namespace keel
