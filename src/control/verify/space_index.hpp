#pragma once
// Numbers of positions, and their ways in both directions, in a few flat arrays: a space has some
// hundred thousand positions and millions of ways.
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace tundish::control::verify {

struct Config;
struct Move;

struct Edge {
  int to = 0;
  const Move* move = nullptr;
};

/// Finds the number of a position: a table with open addressing, in the order of insertion.
class ConfigIndex {
 public:
  struct Found {
    int number = 0;
    bool is_new = false;
  };
  Found add(const Config& config);

 private:
  using Key = std::array<std::uint64_t, 3>;
  static Key key_of(const Config& config);
  void grow();
  std::vector<Key> keys_;   ///< by number
  std::vector<int> table_;  ///< number plus one; 0: free
};

/// The ways out of each position, and by their numbers the ways into it.
class Ways {
 public:
  /// Of the next position; positions are begun in their order.
  void begin() { first_.push_back(edges_.size()); }
  void add(Edge edge) { edges_.push_back(edge); }
  void finish(std::size_t positions);

  std::span<const Edge> out_of(std::size_t position) const {
    const std::size_t begin = first_[position];
    return {edges_.data() + begin, first_[position + 1] - begin};
  }
  /// Number of the first way out of a position: they follow each other.
  std::size_t first(std::size_t position) const { return first_[position]; }
  std::span<const std::uint32_t> into(std::size_t position) const {
    const std::size_t begin = into_first_[position];
    return {into_.data() + begin, into_first_[position + 1] - begin};
  }
  const Edge& edge(std::size_t number) const { return edges_[number]; }
  int source(std::size_t number) const { return sources_[number]; }
  std::size_t size() const { return edges_.size(); }

 private:
  std::vector<Edge> edges_;
  std::vector<std::size_t> first_;
  std::vector<int> sources_;  ///< by number of the way
  std::vector<std::uint32_t> into_;
  std::vector<std::size_t> into_first_;
};

}  // namespace tundish::control::verify
