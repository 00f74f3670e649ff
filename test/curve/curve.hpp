// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A geometry of an application's own: the points of a square in the order of a curve that fills it (Morton's), as
/// leaves of a tree come, cut into equal shares. Who has which point follows from its number, so that no rank asks
/// another one.

#include <keel/impl/layout/geometry.hpp>
#include <keel/layout/mesh.hpp>
#include <keel/machine/agreement.hpp>
#include <keel/policy/error.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace test {

namespace kr = keel::residency;

/// 2^levels x 2^levels points, numbered along the curve: the bits of x and y in turns.
struct morton {
  int levels;

  [[nodiscard]] std::int64_t size() const { return std::int64_t(1) << (2 * levels); }
  [[nodiscard]] static std::int64_t number(std::int64_t x, std::int64_t y) {
    std::int64_t made = 0;
    for (int b = 0; b < 31; ++b) made |= (x >> b & 1) << (2 * b) | (y >> b & 1) << (2 * b + 1);
    return made;
  }
  /// Those on the four sides, as far as there are some.
  [[nodiscard]] std::vector<std::int64_t> neighbours(std::int64_t n) const {
    std::int64_t const side = std::int64_t(1) << levels;
    std::int64_t x = 0, y = 0;
    for (int b = 0; b < 31; ++b) x |= (n >> (2 * b) & 1) << b, y |= (n >> (2 * b + 1) & 1) << b;
    std::vector<std::int64_t> made;
    for (auto const& [i, j] : {std::pair{x - 1, y}, {x + 1, y}, {x, y - 1}, {x, y + 1}})
      if (i >= 0 && j >= 0 && i < side && j < side) made.push_back(number(i, j));
    return made;
  }
};

/// What one of some ranks has: the owned points, then the neighbours of these in ascending order.
struct curve_cut {
  morton all;
  int ranks, rank;
  std::vector<std::int64_t> ghosts;              ///< their numbers
  std::map<int, std::vector<std::int32_t>> rims; ///< by partner, local indices of owned points

  curve_cut(int levels, int of, int which) : all{levels}, ranks(of), rank(which) {
    std::set<std::int64_t> near;
    for (std::int64_t n = begin(rank); n < begin(rank + 1); ++n)
      for (std::int64_t const b : all.neighbours(n))
        if (int const owner = owner_of(b); owner != rank) {
          near.insert(b);
          auto& rim = rims[owner];
          if (auto const here = std::int32_t(n - begin(rank)); rim.empty() || rim.back() != here) rim.push_back(here);
        }
    ghosts.assign(near.begin(), near.end());
  }
  /// The first point of a rank.
  [[nodiscard]] std::int64_t begin(int r) const { return (all.size() * r + ranks - 1) / ranks; }
  [[nodiscard]] int owner_of(std::int64_t n) const { return int(n * ranks / all.size()); }
  [[nodiscard]] std::int64_t owned() const { return begin(rank + 1) - begin(rank); }
  [[nodiscard]] std::int64_t size() const { return owned() + std::int64_t(ghosts.size()); }
  [[nodiscard]] std::int64_t number(std::int64_t local) const {
    return local < owned() ? begin(rank) + local : ghosts[std::size_t(local - owned())];
  }
  /// Of an owned point or a ghost.
  [[nodiscard]] std::int64_t local(std::int64_t n) const {
    return owner_of(n) == rank ? n - begin(rank)
                               : owned() + (std::lower_bound(ghosts.begin(), ghosts.end(), n) - ghosts.begin());
  }
};

class curve_share : public kr::detail::geometry {
public:
  curve_share(std::shared_ptr<curve_cut const> cut, kr::lattice const& as)
      : geometry(as), cut_(std::move(cut)), ends_{cut_->owned(), cut_->size()} {
    kr::share& s = shares.emplace_back();
    s.rank = 1, s.ends = ends_, s.extents[0] = ends_[1], s.regions = kr::region::inside;
  }
  [[nodiscard]] std::string_view kind() const override { return "curve"; }
  [[nodiscard]] std::string text() const override {
    return "a curve of " + std::to_string(cut_->all.size()) + " points";
  }
  [[nodiscard]] int layers() const override { return 1; }
  [[nodiscard]] kr::bounds reach(kr::share const& part, kr::request const& asked, bool has_ghosts) const override {
    return part.within(!has_ghosts ? 0 : overlap(asked.reads, kr::region::halo) ? asked.read_layers : 1);
  }
  [[nodiscard]] kr::bounds owned_in(kr::bounds const&, kr::component) const override { return shares[0].owned(); }
  // All owned points are rim: that is more than needs be, and right.
  [[nodiscard]] kr::detail::index_sets sets_of(kr::share const&, kr::region where, bool has_ghosts) const override {
    kr::detail::index_sets made;
    if (overlap(where, has_ghosts ? kr::region::rim : kr::region::core)) made.add(kr::bounds{{}, {{ends_[0]}}}, 1);
    if (overlap(where, kr::region::halo) && has_ghosts) made.add(kr::bounds{{{ends_[0]}}, {{ends_[1]}}}, 1);
    return made;
  }
  [[nodiscard]] kr::indices whole_extents(kr::component, bool) const override { return {{cut_->all.size()}}; }
  [[nodiscard]] std::vector<kr::detail::placed_box> places(kr::component, bool, kr::region where, bool) const override {
    if (!overlap(where, kr::region::owned) || ends_[0] == 0) return {};
    return {{{{0, ends_[0], cut_->begin(cut_->rank)}}}};
  }

private:
  [[nodiscard]] kr::detail::decomposition make_cut(int components, int, int layers) const override {
    kr::detail::decomposition made;
    for (auto const& [rank, rim] : cut_->rims) {
      if (layers == 0) break;
      auto const& list = *made.lists.emplace_back(std::make_unique<kr::detail::element_list>(rim));
      kr::detail::partner& to = made.partners.emplace_back(kr::detail::partner{rank, {}, {}});
      auto const first = std::lower_bound(cut_->ghosts.begin(), cut_->ghosts.end(), cut_->begin(rank)),
                 end = std::lower_bound(first, cut_->ghosts.end(), cut_->begin(rank + 1));
      kr::bounds const ghosts{{{ends_[0] + (first - cut_->ghosts.begin())}},
                              {{ends_[0] + (end - cut_->ghosts.begin())}}};
      for (int c = 0; c < components; ++c) {
        to.rims.push_back({c, {list, 0, std::int64_t(rim.size())}, c});
        to.ghosts.push_back({c, ghosts, c});
      }
    }
    return made;
  }

  std::shared_ptr<curve_cut const> cut_;
  std::vector<std::int64_t> ends_; // one past the owned points, then past the ghosts
};

/// What fields and exchangers are given: which mesh it cuts, and how.
template <kr::Mesh M>
class curve {
public:
  using cut_mesh = M;
  curve(auto const& env, int levels) : cut(std::make_shared<curve_cut>(levels, env.size(), env.rank())) {}
  [[nodiscard]] std::shared_ptr<kr::detail::index_space const> space() const { return std::make_shared<made>(cut); }

  std::shared_ptr<curve_cut const> cut;

private:
  struct made : kr::detail::index_space {
    explicit made(std::shared_ptr<curve_cut const> from) : cut(std::move(from)) {}
    [[nodiscard]] std::shared_ptr<kr::detail::geometry const> lay(kr::lattice const& as) const override {
      return std::make_shared<curve_share>(cut, as);
    }
    [[nodiscard]] std::uint64_t digest() const override { return std::uint64_t(cut->all.levels); }
    void require_ranks(keel::machine::agreement const& ranks, std::string_view who) const override {
      if (ranks.size() != cut->ranks || ranks.rank() != cut->rank)
        throw keel::error(who, "the curve was cut over other ranks", "", "Cut it over those of the run");
    }
    std::shared_ptr<curve_cut const> cut;
  };
};

} // namespace test
