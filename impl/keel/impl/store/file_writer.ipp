// SPDX-License-Identifier: MIT
#pragma once

#include <keel/impl/store/file_writer.hpp>

#include <keel/impl/store/checksum.hpp>
#include <keel/impl/store/folder_lock.hpp>
#include <keel/policy/file_limit.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

namespace keel::residency::detail {

/// What a writer shares with its thread.
struct file_writer::work {
  enum class verdict : std::uint8_t { open, complete, failed };

  explicit work(file_calls const& calls) : calls_(calls) {}

  file_calls const& calls_;
  write_job job;
  std::thread thread;
  pid_t process = 0; ///< that has the thread
  int written_ranks = 0;

  std::mutex mutex;
  std::condition_variable changed;
  // With the mutex:
  bool has_part = true, is_over = true; ///< this rank's part is written or failed; the thread has nothing left to do
  bool is_left = false;                 ///< `finish` will not be called
  verdict told = verdict::open;         ///< by `finish`
  std::string why;                      ///< of the first failure

  [[nodiscard]] std::string failed(std::string const& path, char const* doing, int code) const {
    return path + " cannot be " + doing + ": " + std::generic_category().message(code);
  }

  /// All of it, or errno's code.
  [[nodiscard]] int put(int file, void const* bytes, std::size_t size, std::int64_t offset) const {
    auto const* from = static_cast<std::byte const*>(bytes);
    while (size != 0) {
      ssize_t const n = calls_.pwrite(file, from, size, off_t(offset));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return n == 0 ? ENOSPC : errno;
      from += n;
      size -= std::size_t(n);
      offset += n;
    }
    return 0;
  }

  /// Where this rank's row of the table begins, or that of another one.
  [[nodiscard]] std::int64_t row_of(int rank) const { return job.table + rank * (1 + std::int64_t(job.sums)) * 8; }

  [[nodiscard]] int flush(int file) const { return job.sums == 0 || calls_.fsync(file) == 0 ? 0 : errno; }

  [[nodiscard]] int put_state(int file, std::uint64_t state) const {
    return put(file, &state, sizeof state, row_of(job.rank));
  }

  [[nodiscard]] int put_runs(int file) const {
    constexpr std::size_t chunk = 1 << 20; // is in a cache when it is written, after it was summed
    std::vector<std::uint64_t> sums(std::size_t(job.sums));
    for (written_run const& run : job.runs) {
      for (std::size_t done = 0; done < run.bytes; done += chunk) {
        std::byte const* const from = run.from + done;
        std::size_t const size = std::min(chunk, run.bytes - done);
        if (job.sums != 0)
          sums[std::size_t(run.sum)] +=
              checksum(from, size, run.first_word + done / std::size_t(run.word_bytes), run.word_bytes);
        if (int const code = put(file, from, size, run.offset + std::int64_t(done)); code != 0) return code;
#if defined(SYNC_FILE_RANGE_WRITE)
        // The disk works meanwhile; what it cannot do, the flush tells.
        if (job.sums != 0 && size >= chunk / 16)
          ::sync_file_range(file, off_t(run.offset + std::int64_t(done)), off_t(size), SYNC_FILE_RANGE_WRITE);
#endif
      }
    }
    return put(file, sums.data(), sums.size() * sizeof sums[0], row_of(job.rank) + 8);
  }

  /// Empty, or the reason.
  [[nodiscard]] std::string put_part() const {
    policy::file_limit_refuses const longer;
    int const file = calls_.open(job.temporary.c_str(), O_WRONLY | O_CLOEXEC);
    if (file < 0) return failed(job.temporary, "opened", errno);
    std::string wrong;
    int code = 0;
    try {
      if (job.fetch) job.fetch();
    } catch (std::exception const& e) {
      code = ECANCELED, wrong = job.temporary + " cannot be written: " + e.what();
    }
    if (code == 0 && (code = put_runs(file)) != 0) wrong = failed(job.temporary, "written", code);
    // A state goes to the disk after what it stands for, and no rank takes `flushed` back.
    if (code == 0 && (code = flush(file)) == 0 && (code = put_state(file, part_state::written)) == 0 &&
        (code = flush(file)) == 0)
      code = put_state(file, part_state::flushed);
    if (code != 0 && wrong.empty()) wrong = failed(job.temporary, "flushed", code);
    if (code != 0 && put_state(file, part_state::failed + std::uint64_t(code)) == 0) static_cast<void>(flush(file));
    ::close(file); // all is on the disk by now
    return wrong;
  }

  /// What the table says; opened anew, because a file system of the network shows what others wrote only then.
  [[nodiscard]] verdict look() {
    int const file = calls_.open(job.temporary.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return verdict::open;
    std::uint64_t state = part_state::flushed;
    for (; written_ranks < job.ranks; ++written_ranks) {
      if (calls_.pread(file, &state, sizeof state, off_t(row_of(written_ranks))) != sizeof state) state = 0;
      if (state != part_state::flushed) break;
    }
    ::close(file);
    if (state >= part_state::failed) {
      std::lock_guard const lock(mutex);
      why = "rank " + std::to_string(written_ranks) + " cannot write its part of " + job.temporary + ": " +
            std::generic_category().message(int(state - part_state::failed));
    }
    if (written_ranks == job.ranks) return verdict::complete;
    return state >= part_state::failed ? verdict::failed : verdict::open;
  }

  [[nodiscard]] verdict wait_for_all() {
    std::chrono::milliseconds nap{1};
    for (;; nap = std::min<std::chrono::milliseconds>(nap + nap, std::chrono::milliseconds{16})) {
      if (verdict const seen = look(); seen != verdict::open) return seen;
      std::unique_lock lock(mutex);
      changed.wait_for(lock, nap, [this] { return is_left || told != verdict::open; });
      if (told != verdict::open) return told;
      if (is_left) return verdict::failed;
    }
  }

  /// The file gets its name. Empty, or the reason, after which the former file has it.
  [[nodiscard]] std::string give_name() {
    std::string const kept = job.previous + ".tmp";
    bool is_linked = false, is_kept = false; // the former file has another name, too; has another name
    if (!job.previous.empty()) {
      calls_.unlink(kept.c_str()); // a killed job may have left it
      is_linked = calls_.link(job.name.c_str(), kept.c_str()) == 0;
      int code = is_linked ? 0 : errno;
      if (code == EPERM || code == EOPNOTSUPP || code == ENOSYS || code == EMLINK) { // no links here
        is_kept = calls_.rename(job.name.c_str(), job.previous.c_str()) == 0;
        code = is_kept ? 0 : errno;
      }
      if (code != 0 && code != ENOENT) return failed(job.name, "kept", code);
    }
    if (calls_.rename(job.temporary.c_str(), job.name.c_str()) != 0) {
      int const code = errno;
      if (is_linked) calls_.unlink(kept.c_str());
      if (is_kept) calls_.rename(job.previous.c_str(), job.name.c_str());
      return failed(job.temporary, "renamed", code);
    }
    if (is_linked && calls_.rename(kept.c_str(), job.previous.c_str()) != 0) {
      int const code = errno;
      calls_.rename(kept.c_str(), job.name.c_str());
      return failed(job.name, "kept", code);
    }
    // Where folders cannot be flushed, a crash of the system may bring the former names back, of whole files as well.
    if (int const file = calls_.open(folder_of(job.name).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); file >= 0) {
      static_cast<void>(flush(file));
      ::close(file);
    }
    return {};
  }

  /// The thread.
  void run() {
    std::string reason;
    auto const attempt = [&](auto const& f) { // an exception would end the program here
      try {
        f();
      } catch (std::bad_alloc const&) {
        reason = "no memory"; // which needs none
      }
    };
    attempt([&] { reason = put_part(); });
    bool const is_last = job.rank != 0;
    auto const tell = [&](bool is_all) {
      std::lock_guard const lock(mutex);
      if (why.empty()) why = std::move(reason);
      has_part = true;
      is_over = is_all;
      changed.notify_all();
    };
    bool const is_written = reason.empty();
    tell(is_last);
    if (is_last) return;
    attempt([&] {
      bool const is_complete = is_written && wait_for_all() == verdict::complete;
      reason = is_complete ? give_name() : "not all ranks wrote their parts of " + job.temporary;
    });
    if (!reason.empty()) calls_.unlink(job.temporary.c_str());
    else if (job.when_named) attempt(job.when_named);
    tell(true);
  }

  /// Ends the thread; a file that not all ranks have written by now is removed.
  void leave() {
    if (!thread.joinable()) return;
    {
      std::lock_guard const lock(mutex);
      is_left = true;
      changed.notify_all();
    }
    thread.join();
  }
};

KEEL_INLINE file_writer::file_writer(file_calls const& calls) : work_(std::make_unique<work>(calls)) {}

KEEL_INLINE file_writer::~file_writer() {
  if (work_->thread.joinable() && work_->process != ::getpid()) {
    static_cast<void>(work_.release()); // in the child of a fork, which has no such thread
    return;
  }
  work_->leave();
}

KEEL_INLINE void file_writer::begin(write_job job) {
  work& w = *work_;
  w.leave();
  w.job = std::move(job);
  w.process = ::getpid();
  w.written_ranks = 0;
  w.has_part = w.is_over = w.is_left = false;
  w.told = work::verdict::open;
  w.why.clear();
  // Signals are for the threads of the program, but for those that tell of a mistake of this one.
  sigset_t all, before;
  sigfillset(&all);
  for (int const own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS, SIGPROF}) sigdelset(&all, own);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  try {
    w.thread = std::thread([&w] { w.run(); });
  } catch (std::system_error const& e) {
    w.why = w.failed(w.job.temporary, "written by a thread of its own", e.code().value());
    w.has_part = w.is_over = true;
    if (w.job.rank == 0) w.calls_.unlink(w.job.temporary.c_str());
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

KEEL_INLINE bool file_writer::is_idle() const {
  std::lock_guard const lock(work_->mutex);
  return work_->is_over;
}

KEEL_INLINE std::string file_writer::wait_part() {
  work& w = *work_;
  std::unique_lock lock(w.mutex);
  w.changed.wait(lock, [&w] { return w.has_part; });
  return w.why;
}

KEEL_INLINE std::string file_writer::finish(bool all_wrote) {
  work& w = *work_;
  {
    std::unique_lock lock(w.mutex);
    if (w.told == work::verdict::open) w.told = all_wrote ? work::verdict::complete : work::verdict::failed;
    w.changed.notify_all();
    w.changed.wait(lock, [&w] { return w.is_over; });
  }
  if (w.thread.joinable()) w.thread.join();
  return w.why;
}

} // namespace keel::residency::detail
