#pragma once
// What placement is asked and what it answers.
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.hpp"
#include "control/placement/cost.hpp"

namespace tundish::control::placement {

using Names = std::set<std::string, std::less<>>;

struct Request {
  std::string sku = {};
  int count = 0;
  int spares = 0;
  /// Nodes per segment; each segment lies inside one NVLink domain. 0 and 1 ask for nothing.
  int segment_nodes = 0;
  Names excluded_nodes = {};  ///< anti-affinity, quarantine, blame
  Names excluded_leaf_groups = {};
  Names excluded_racks = {};
  std::string pinned_leaf_group = {};  ///< empty: any
};

/// The closest place of a spare or replacement to the nodes it stands in for.
enum class Stand { same_domain, same_leaf, same_pod };
std::string_view stand_name(Stand stand);

struct Spare {
  std::string node;
  Stand stand = Stand::same_pod;
  bool operator==(const Spare&) const = default;
};

struct Placement {
  /// Ordered by pod, leaf group, NVLink domain, id; every `segment_nodes` in a row are a segment.
  std::vector<std::string> members;
  std::vector<Spare> spares;
  Key key;       ///< of the members
  int gpus = 0;  ///< of the members
};

enum class Blocker {
  invalid_request,  ///< no fleet could answer it
  unknown_sku,
  capacity,   ///< too few free nodes of the sku
  exclusion,  ///< enough free, but this request excludes or pins them away
  segment,    ///< enough usable, but not in NVLink domains with room for whole segments
  spares      ///< the members fit, the spares cannot stand where they could help
};
std::string_view blocker_name(Blocker blocker);

struct LeafFree {
  std::string pod;
  std::string leaf_group;
  int free = 0;
  int usable = 0;  ///< free and not excluded by the request
};

/// Why nothing was placed, in numbers and in words.
struct Shortfall {
  Blocker blocked_by = Blocker::capacity;
  int free = 0;
  int usable = 0;
  int largest_gang = 0;  ///< nodes that would fit without spares, at most what was asked
  /// Nodes that would fit together with `offered_spares`, at most what was asked.
  int largest_with_spares = 0;
  int offered_spares = 0;
  std::vector<LeafFree> leaves;  ///< leaf groups with free nodes of the sku
  std::string text;
};

using Outcome = std::variant<Placement, Shortfall>;

Error to_error(const Shortfall& shortfall);

}  // namespace tundish::control::placement
