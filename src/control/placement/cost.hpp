#pragma once
// The objective of a placement, readable as Key and packed as Cost for the inner loops.
#include <compare>

namespace tundish::control::placement {

/// Seven fields of 18 bits fill 126 bits of a Cost; no field can exceed the number of nodes.
inline constexpr int cost_field_bits = 18;
inline constexpr int max_nodes = (1 << cost_field_bits) - 1;

/// Compared field by field; smaller is better. Ties go to the lowest ids.
/// Power imbalance (facts/cloud.md 7.2, level 5) is absent until it is modelled.
struct Key {
  int pods = 0;
  int leaves = 0;
  int stranded = 0;         ///< free nodes left in leaf groups that the gang uses in part
  int broken = 0;           ///< wholly free leaf groups left used in part
  int domains = 0;          ///< the same three once more, one level down: NVLink domains
  int domain_stranded = 0;
  int domain_broken = 0;
  auto operator<=>(const Key&) const = default;
};

/// A Key as one number: sums and comparisons of Keys are sums and comparisons of Costs,
/// as long as no field overflows (FleetIndex refuses fleets above max_nodes).
class Cost {
 public:
  constexpr Cost() = default;
  constexpr explicit Cost(const Key& key) {
    for (int field : {key.pods, key.leaves, key.stranded, key.broken, key.domains,
                      key.domain_stranded, key.domain_broken}) {
      packed_ = (packed_ << cost_field_bits) | static_cast<Wide>(field);
    }
  }
  static constexpr Cost impossible() {
    Cost cost;
    cost.packed_ = ~Wide{0};
    return cost;
  }
  constexpr bool possible() const { return packed_ != ~Wide{0}; }
  constexpr Key key() const {
    return {field(6), field(5), field(4), field(3), field(2), field(1), field(0)};
  }
  /// Both sides must be possible.
  constexpr Cost operator+(Cost other) const {
    Cost sum;
    sum.packed_ = packed_ + other.packed_;
    return sum;
  }
  constexpr bool operator<(Cost other) const { return packed_ < other.packed_; }
  constexpr bool operator<=(Cost other) const { return packed_ <= other.packed_; }
  constexpr bool operator==(const Cost&) const = default;

 private:
  __extension__ using Wide = unsigned __int128;
  constexpr int field(int from_right) const {
    return static_cast<int>((packed_ >> (from_right * cost_field_bits)) & Wide{max_nodes});
  }
  Wide packed_ = 0;
};

}  // namespace tundish::control::placement
