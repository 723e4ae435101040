#pragma once
// What can cause what, as data. A row says that it is possible, never that it happened.
#include <span>
#include <string_view>

#include "model/resource.hpp"

namespace tundish::control::health {

/// How far a cause reaches.
enum class Reach {
  same_node,
  users,  ///< everything that hangs on the shared part
  job     ///< the other nodes of a job
};

/// What time and place must show before the row counts.
enum class Match {
  overlap,     ///< both at the same time: pressure is sampled, so its first sight says little
  before,      ///< the cause was seen first
  same_device  ///< first, and on the same device
};

struct CauseRow {
  Resource cause = Resource::unknown;
  Resource effect = Resource::unknown;
  Reach reach = Reach::same_node;
  Match match = Match::before;
  std::string_view why;
};

/// In order of how often the row is the answer. Without cycles: a chain of causes has an end.
std::span<const CauseRow> cause_rows();
const CauseRow* find_cause(Resource cause, Resource effect, Reach reach);
/// Whether something outside the part's own node can cause it.
bool has_outer_cause(Resource effect);

}  // namespace tundish::control::health
