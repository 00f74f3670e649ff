// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What a user would write: persistent MPI. An array of the case, filled by messages of datatypes to all neighbours, by
/// rounds of them in one dimension after the other, or by messages that are packed and unpacked in loops.

#include "box.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

namespace bench {

/// Persistent requests, started and waited for together.
class requests {
public:
  requests() = default;
  requests(requests&&) = default;
  ~requests() {
    for (MPI_Request& r : all_) MPI_Request_free(&r);
  }
  void receive(void* to, int count, MPI_Datatype type, int from, int tag) {
    MPI_Recv_init(to, count, type, from, tag, MPI_COMM_WORLD, &all_.emplace_back());
  }
  void send(void const* from, int count, MPI_Datatype type, int to, int tag) {
    MPI_Send_init(from, count, type, to, tag, MPI_COMM_WORLD, &all_.emplace_back());
  }
  void start() {
    if (!all_.empty()) MPI_Startall(int(all_.size()), all_.data());
  }
  void wait() { MPI_Waitall(int(all_.size()), all_.data(), MPI_STATUSES_IGNORE); }

private:
  std::vector<MPI_Request> all_;
};

/// An array of the case and what fills its ghosts.
struct array_by_hand {
  box lies;
  std::vector<double> cells;
  std::vector<requests> rounds = {};

  array_by_hand(box const& b, std::vector<double> const& initial) : lies(b), cells(initial) {}

  /// A message each way, of datatypes: a part of the array goes to `to`, another of the same size comes from `from`.
  void add(requests& round, int to, triple const& rim, int from, triple const& ghosts, triple const& size, int tag) {
    int const whole[] = {lies.ghosted(0), lies.ghosted(1), lies.ghosted(2), lies.doubles};
    auto const type = [&](triple const& begin) {
      int const part[] = {size[0], size[1], size[2], lies.doubles}, first[] = {begin[0], begin[1], begin[2], 0};
      MPI_Datatype made = MPI_DATATYPE_NULL;
      MPI_Type_create_subarray(4, whole, part, first, MPI_ORDER_C, MPI_DOUBLE, &made);
      MPI_Type_commit(&made);
      return made;
    };
    MPI_Datatype out = type(rim), in = type(ghosts);
    if (from >= 0) round.receive(cells.data(), 1, in, from, tag);
    if (to >= 0) round.send(cells.data(), 1, out, to, tag);
    MPI_Type_free(&out), MPI_Type_free(&in);
  }
  void exchange() {
    for (requests& r : rounds) r.start(), r.wait();
  }
};

inline way way_of(std::string name, std::shared_ptr<array_by_hand> const& a) {
  return {std::move(name), [a] { a->exchange(); }, [a] { return a->cells; }};
}

inline int tag_of(triple const& way) { return (way[0] + 1) * 9 + (way[1] + 1) * 3 + way[2] + 1; }
inline triple operator-(triple const& way) { return {-way[0], -way[1], -way[2]}; }

inline way to_all_neighbours(box const& b, std::vector<double> const& initial) {
  auto const a = std::make_shared<array_by_hand>(b, initial);
  requests& round = a->rounds.emplace_back();
  for (piece const& p : b.pieces()) { // what comes from there was sent in the opposite direction, so by another tag
    a->add(round, p.rank, p.rim, -1, p.ghosts, p.size, tag_of(p.way));
    a->add(round, -1, p.rim, p.rank, p.ghosts, p.size, tag_of(-p.way));
  }
  return way_of("neighbours", a);
}

/// The slabs of a dimension contain the ghosts of those before it, so corners come along.
inline way in_rounds(box const& b, std::vector<double> const& initial) {
  auto const a = std::make_shared<array_by_hand>(b, initial);
  for (std::size_t d = 0; int(d) < b.rank; ++d) {
    requests& round = a->rounds.emplace_back();
    for (int side : {-1, 1}) {
      triple low{}, high{};
      low[d] = -side, high[d] = side;
      piece p = b.piece_of(high, 0);
      triple ghosts = b.piece_of(low, 0).ghosts;
      for (std::size_t e = 0; e < d; ++e) p.rim[e] = ghosts[e] = 0, p.size[e] = b.ghosted(e);
      a->add(round, b.neighbour(high), p.rim, b.neighbour(low), ghosts, p.size, side + 1);
    }
  }
  return way_of("rounds", a);
}

/// Doubles that come from each partner, to which as many go if the case is a box.
inline std::map<int, std::size_t> sizes_of(cut const& c) {
  std::map<int, std::size_t> sizes;
  for (ghost const& g : c.ghosts)
    if (g.rank != my_rank()) sizes[g.rank] += std::size_t(c.doubles);
  return sizes;
}

/// No array, but one contiguous message a partner each way.
inline way only_messages(cut const& c) {
  struct message {
    int rank;
    std::vector<double> out, in;
  };
  auto const all = std::make_shared<std::vector<message>>();
  for (auto const& [rank, size] : sizes_of(c))
    all->push_back({rank, std::vector<double>(size), std::vector<double>(size)});
  return {"messages",
          [all, sent = std::vector<MPI_Request>(2 * all->size())]() mutable {
            MPI_Request* next = sent.data();
            for (message& m : *all)
              MPI_Irecv(m.in.data(), int(m.in.size()), MPI_DOUBLE, m.rank, 0, MPI_COMM_WORLD, next++);
            for (message& m : *all)
              MPI_Isend(m.out.data(), int(m.out.size()), MPI_DOUBLE, m.rank, 0, MPI_COMM_WORLD, next++);
            MPI_Waitall(int(sent.size()), sent.data(), MPI_STATUSES_IGNORE);
          },
          {}};
}

/// One message a partner, packed and unpacked run by run; what this rank keeps to itself is copied.
inline way packed(cut const& c, std::vector<double> const& initial) {
  struct run {
    std::size_t at, there, length; ///< in the array; in the messages, or in the array, too
  };
  struct held {
    std::vector<double> cells, out, in;
    std::vector<run> gather = {}, scatter = {}, copy = {};
    requests round = {};
  };
  auto const a = std::make_shared<held>(initial);
  auto const length = std::size_t(c.doubles);
  // Runs that follow on each other are joined.
  auto const add = [length](std::vector<run>& runs, int element, std::size_t there) {
    std::size_t const at = std::size_t(element) * length;
    if (!runs.empty() && runs.back().at + runs.back().length == at && runs.back().there + runs.back().length == there)
      runs.back().length += length;
    else runs.push_back({at, there, length});
  };
  // Each rank asks the owners for its ghosts, in the order in which they are to come.
  auto const ranks = std::size_t(all_ranks());
  std::vector<std::vector<int>> by_owner(ranks);
  for (ghost const& g : c.ghosts)
    if (g.rank == my_rank()) add(a->copy, g.at, std::size_t(g.there) * length);
    else by_owner[std::size_t(g.rank)].push_back(g.there);
  std::vector<std::size_t> next(ranks);
  std::vector<int> asked, wanted, counts(ranks), theirs(ranks), from(ranks), to(ranks);
  for (std::size_t r = 0, all = 0; r < ranks; ++r) {
    counts[r] = int(by_owner[r].size()), from[r] = int(asked.size());
    asked.insert(asked.end(), by_owner[r].begin(), by_owner[r].end());
    next[r] = std::exchange(all, all + by_owner[r].size() * length);
  }
  for (ghost const& g : c.ghosts)
    if (g.rank != my_rank())
      add(a->scatter, g.at, std::exchange(next[std::size_t(g.rank)], next[std::size_t(g.rank)] + length));
  MPI_Alltoall(counts.data(), 1, MPI_INT, theirs.data(), 1, MPI_INT, MPI_COMM_WORLD);
  std::exclusive_scan(theirs.begin(), theirs.end(), to.begin(), 0);
  wanted.resize(std::size_t(to.back() + theirs.back()));
  MPI_Alltoallv(asked.data(), counts.data(), from.data(), MPI_INT, wanted.data(), theirs.data(), to.data(), MPI_INT,
                MPI_COMM_WORLD);
  for (std::size_t i = 0; i < wanted.size(); ++i) add(a->gather, wanted[i], i * length);
  a->out.resize(wanted.size() * length), a->in.resize(asked.size() * length);
  for (std::size_t r = 0; r < ranks; ++r) {
    if (counts[r] > 0)
      a->round.receive(a->in.data() + std::size_t(from[r]) * length, counts[r] * c.doubles, MPI_DOUBLE, int(r), 0);
    if (theirs[r] > 0)
      a->round.send(a->out.data() + std::size_t(to[r]) * length, theirs[r] * c.doubles, MPI_DOUBLE, int(r), 0);
  }
  return {"packed",
          [a] {
            double* const cells = a->cells.data();
            for (run const& r : a->gather) std::copy_n(cells + r.at, r.length, a->out.data() + r.there);
            a->round.start(), a->round.wait();
            for (run const& r : a->scatter) std::copy_n(a->in.data() + r.there, r.length, cells + r.at);
            for (run const& r : a->copy) std::copy_n(cells + r.there, r.length, cells + r.at);
          },
          [a] { return a->cells; }};
}

} // namespace bench
