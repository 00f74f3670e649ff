// SPDX-License-Identifier: MIT
#include <keel/impl/residency/files/collective_file.hpp>
#include <keel/impl/store/checksum.hpp>
#include <keel/policy/log.hpp>

#include <array>
#include <cstring>
#include <utility>

namespace keel::residency::detail {

KEEL_INLINE void send_all(machine::agreement const& ranks, std::vector<std::int64_t>& numbers) {
  std::array<std::uint64_t, 1> count{ranks.rank() == 0 ? numbers.size() : 0};
  ranks.sum(count);
  numbers.resize(std::size_t(count[0]));
  ranks.broadcast({reinterpret_cast<char*>(numbers.data()), numbers.size() * sizeof(std::int64_t)}, 0);
}

KEEL_INLINE stored_dataset table_of_parts(int ranks, std::int64_t sums) {
  stored_dataset made;
  made.path = "/keel/parts", made.type = stored_type::natural, made.extents = {ranks, 1 + sums};
  made.content.resize(std::size_t(made.bytes())); // nothing is written yet
  return made;
}

KEEL_INLINE collective_file::offsets collective_file::make_on_this(std::string const& path, stored_file& what) {
  make_file(path, what);
  offsets made;
  for (stored_dataset const& d : what.datasets) made.push_back(d.offset);
  return made;
}

KEEL_INLINE void collective_file::begin(write_job names, offsets const& places, std::span<staged_box const> boxes,
                                        std::string called, machine::failing_call const& failing) {
  ranks_.all_or_none(failing, [&] {
    write_job& job = names;
    job.rank = ranks_.rank();
    job.table = places[0];
    std::size_t bytes = 0;
    for (staged_box const& b : boxes) {
      if (b.stays) continue;
      std::int64_t count = b.element_bytes;
      for (int d = 0; d < b.box.rank; ++d) count *= b.box.dimensions[std::size_t(d)].count;
      bytes += std::size_t(count);
    }
    if (bytes > room_) {
      room_ = 0, buffer_.reset();
      buffer_.reset(new std::byte[bytes]);
      room_ = bytes;
    }
    std::byte* to = buffer_.get();
    for (staged_box const& b : boxes)
      for_each_run(b.box, [&](std::int64_t from, std::int64_t first, std::int64_t count) {
        std::int64_t const at = first * b.element_bytes, offset = places[std::size_t(b.dataset)] + at;
        auto const size = std::size_t(count * b.element_bytes);
        int const word = word_bytes_of(b.element_bytes);
        auto const* here = static_cast<std::byte const*>(b.data) + from * b.element_bytes;
        if (!b.stays) {
          std::memcpy(to, here, size);
          here = std::exchange(to, to + size);
        }
        if (!job.runs.empty()) {
          written_run& last = job.runs.back();
          if (last.sum == b.dataset - 1 && last.offset + std::int64_t(last.bytes) == offset &&
              last.from + last.bytes == here) {
            last.bytes += size;
            return;
          }
        }
        job.runs.push_back({here, offset, size, std::uint64_t(at / word), b.dataset - 1, word});
      });
    called_ = std::move(called);
    writer_.begin(std::move(job));
  });
  is_under_way_ = true;
}

KEEL_INLINE bool collective_file::is_written() const {
  return is_under_way_ && ranks_.min(writer_.is_written() ? 1 : 0) == 1;
}

KEEL_INLINE bool collective_file::finish() {
  if (!std::exchange(is_under_way_, false)) return true;
  bool const all_wrote = ranks_.min(writer_.wait_part().empty() ? 1 : 0) == 1;
  if (!attempt(called_, false, [&] {
        ranks_.all_or_none({who_, "a part of it", "is lacking", {}}, [&] {
          if (std::string const& why = writer_.finish(all_wrote); !why.empty()) throw error(who_, why);
        });
      }))
    return false;
  ++finished_.written;
  last_ = called_;
  return true;
}

KEEL_INLINE void collective_file::warn(std::string const& called, std::string_view why) {
  ++finished_.failed;
  if (ranks_.rank() == 0)
    policy::log(policy::log_level::warning,
                error::message(who_, called + " is not written", why,
                               (last_.empty() ? "What was there" : last_) + " stays, and the next one will be tried"));
}

KEEL_INLINE collective_file::~collective_file() {
  if (std::uncaught_exceptions() != 0) return;
  try {
    finish();
  } catch (std::exception const& e) {
    policy::log(policy::log_level::warning, e.what());
  }
}

} // namespace keel::residency::detail
