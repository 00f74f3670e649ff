// SPDX-License-Identifier: MIT
#include <keel/exchange/nccl.hpp>
#include <keel/space/peer_memory.hpp>

#include <array>
#include <cstddef>
#include <cstring>
#include <utility>

#include <dlfcn.h>

namespace keel::residency {

/// The library's functions, with the types that its interface has had since version 2.7; RCCL's are the same.
struct nccl::library {
  using result = int; // 0: success
  struct unique_id {
    std::array<char, 128> bytes{};
    friend bool operator==(unique_id const&, unique_id const&) = default;
  };
  static constexpr int bytes_type = 0; // ncclInt8

  result (*get_unique_id)(unique_id*) = nullptr;
  result (*comm_init_rank)(void** comm, int size, unique_id id, int rank) = nullptr;
  result (*comm_destroy)(void* comm) = nullptr;
  result (*comm_get_async_error)(void* comm, result*) = nullptr;
  result (*group_start)() = nullptr;
  result (*group_end)() = nullptr;
  result (*send)(void const*, std::size_t count, int type, int rank, void* comm, void* stream) = nullptr;
  result (*recv)(void*, std::size_t count, int type, int rank, void* comm, void* stream) = nullptr;
  char const* (*get_error_string)(result) = nullptr;
  std::string why_not = {};

  explicit library(char const* file) {
    void* const loaded = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (loaded == nullptr) {
      why_not = dlerror();
      return;
    }
    auto const find = [&](auto& function, char const* symbol) {
      void* const found = dlsym(loaded, symbol);
      std::memcpy(&function, &found, sizeof found);
      if (found == nullptr) why_not = std::string(file) + " has no " + symbol;
    };
    find(get_unique_id, "ncclGetUniqueId"), find(comm_init_rank, "ncclCommInitRank");
    find(comm_destroy, "ncclCommDestroy"), find(comm_get_async_error, "ncclCommGetAsyncError");
    find(group_start, "ncclGroupStart"), find(group_end, "ncclGroupEnd");
    find(send, "ncclSend"), find(recv, "ncclRecv"), find(get_error_string, "ncclGetErrorString");
  }
  static library const& of(std::string_view kind) {
    static library const cuda("libnccl.so.2"), hip("librccl.so.1");
    return kind == "hip" ? hip : cuda;
  }
};

/// A communicator, which other fields of the same ranks share.
struct nccl::group {
  library const& calls;
  library::unique_id id = {};
  int size = 0, rank = -1;
  void* comm = nullptr;

  ~group() {
    if (comm != nullptr) (void)calls.comm_destroy(comm);
  }
  static std::vector<std::weak_ptr<group>>& all() {
    static std::vector<std::weak_ptr<group>> known;
    return known;
  }
};

// Rank 0 proposes a communicator, which all ranks have, or make.
KEEL_INLINE std::vector<std::string> nccl::connect(queue const& by, std::span<int const> ranks) {
  struct proposal {
    library::unique_id id;
    char is_sound = 0, exists = 0;
  } offer;
  int const rank = messages_.rank(), size = messages_.size();
  std::string why;
  library const* calls = nullptr;
  auto const known = [&]() -> std::shared_ptr<group> {
    for (auto const& one : group::all())
      if (auto held = one.lock();
          held && held->size == size && held->rank == rank && (rank == 0 || held->id == offer.id))
        return held;
    return nullptr;
  };
  auto const agree = [&](char mine) { // rank 0 learns whether all say so, and tells them
    std::vector<char> all(std::size_t(size), 1);
    if (rank != 0) messages_.send(&mine, 1, 0);
    else
      for (int r = 1; r < size; ++r) messages_.receive(&all[std::size_t(r)], 1, r);
    messages_.wait();
    for (char const one : all) mine = mine != 0 && one != 0 ? 1 : 0;
    return mine;
  };
  auto const publish = [&] {
    if (rank != 0) messages_.receive(&offer, sizeof offer, 0);
    else
      for (int r = 1; r < size; ++r) messages_.send(&offer, sizeof offer, r);
    messages_.wait();
  };
  // If no rank has one to reach, the library is not loaded.
  bool const is_asked = agree(ranks.empty() ? 1 : 0) == 0;
  if (rank == 0) offer.exists = is_asked ? 1 : 0;
  publish();
  if (std::exchange(offer.exists, 0) == 0) return {};
  if (by.native() == nullptr) why = "the data are on no device with a stream";
  else why = (calls = &library::of(by.peers()->kind()))->why_not;
  offer.is_sound = agree(why.empty() ? 1 : 0);
  if (rank == 0 && offer.is_sound != 0) {
    if (auto const held = known()) offer.id = held->id, offer.exists = 1;
    else if (calls->get_unique_id(&offer.id) != 0) offer.is_sound = 0;
  }
  publish();
  if (offer.is_sound == 0)
    return std::vector<std::string>(ranks.size(), why.empty() ? "it is not there on every rank" : why);
  if (offer.exists != 0) {
    group_ = known();
    offer.exists = agree(group_ != nullptr ? 1 : 0);
    if (rank == 0 && offer.exists == 0 && calls->get_unique_id(&offer.id) != 0) offer.is_sound = 0;
    publish();
    if (offer.exists != 0) return std::vector<std::string>(ranks.size());
  }
  group_ = std::make_shared<group>(group{*calls, offer.id, size, rank});
  if (int const code = calls->comm_init_rank(&group_->comm, size, offer.id, rank); code != 0) {
    why = calls->get_error_string(code);
    group_->comm = nullptr;
  }
  if (agree(why.empty() ? 1 : 0) != 0) group::all().push_back(group_);
  else if (why.empty()) why = "another rank cannot begin";
  return std::vector<std::string>(ranks.size(), why);
}

KEEL_INLINE void nccl::require(int code) const {
  if (code != 0) throw error("residency::nccl", "messages are lost", group_->calls.get_error_string(code), {}, code);
}

KEEL_INLINE void nccl::begin(queue const& by, std::span<message const> sends, std::span<message const> receives) {
  messages_.require_running();
  for (auto const all : {sends, receives})
    for (message const& m : all)
      if (m.rank < 0 || m.rank >= messages_.size())
        throw error("residency::nccl", "rank " + std::to_string(m.rank) + " cannot be reached",
                    "there are ranks 0 to " + std::to_string(messages_.size() - 1));
  library const& calls = group_->calls;
  require(calls.group_start());
  for (message const& m : receives)
    if (m.bytes != 0) require(calls.recv(m.data, m.bytes, library::bytes_type, m.rank, group_->comm, by.native()));
  for (message const& m : sends)
    if (m.bytes != 0) require(calls.send(m.data, m.bytes, library::bytes_type, m.rank, group_->comm, by.native()));
  require(calls.group_end());
}

KEEL_INLINE void nccl::finish(queue const&) {
  messages_.require_running();
  int failed = 0;
  require(group_->calls.comm_get_async_error(group_->comm, &failed));
  require(failed);
}

} // namespace keel::residency
