// SPDX-License-Identifier: MIT
#include <keel/machine/agreement.hpp>

#include <array>
#include <exception>
#include <limits>
#include <new>
#include <string>

namespace keel::machine {

/// What the error says of an exception of one rank.
inline std::string_view reason_among_ranks(std::exception const& e) {
  std::string_view const why = reason_of(e);
  return why == std::bad_alloc().what() ? "there is not enough memory" : why;
}

KEEL_INLINE void agreement::run(failing_call const& call, step const& f, std::span<std::int64_t> joined,
                                bool keeps_own) const try {
  constexpr auto none = std::numeric_limits<std::int64_t>::max();
  std::array<char, 1024> why{}; // without memory, which may be what is lacking
  bool is_whole = false;        // its text is the whole message
  std::array<std::int64_t, 2> own{};
  if (joined.empty()) joined = own;
  std::exception_ptr thrown;
  joined.back() = none;
  try {
    f.run(f.f);
  } catch (std::exception const& e) {
    if (auto const* const of_keel = as_error(e); of_keel != nullptr && of_keel->is_of_ranks()) throw;
    thrown = std::current_exception();
    joined.back() = rank_;
    is_whole = keeps_own && as_error(e) != nullptr;
    (void)(is_whole ? std::string_view(e.what()) : reason_among_ranks(e)).copy(why.data() + 1, why.size() - 2);
  }
  own[0] = thrown ? 1 : 0; // the least is 1 if all failed
  why[0] = is_whole ? 1 : 0;
  min(joined);
  if (joined.back() == none) return;
  if (keeps_own && own[0] == 1) std::rethrow_exception(thrown);
  auto const rank = std::to_string(joined.back());
  broadcast(why, int(joined.back()));
  char const* const text = why.data() + 1;
  if (why[0] != 0) throw error::from_message(std::string(text) + " [rank " + rank + ']');
  throw error(call.place, std::string(call.who) + ' ' + std::string(call.is_not_done), "rank " + rank + ": " + text,
              call.hint);
} catch (error const& e) {
  if (!e.is_of_ranks()) throw;
  calls_->abort(environment_, e.what());
}

} // namespace keel::machine
