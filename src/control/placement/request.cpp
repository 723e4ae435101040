#include "control/placement/request.hpp"

namespace tundish::control::placement {

std::string_view stand_name(Stand stand) {
  switch (stand) {
    case Stand::same_domain: return "same_domain";
    case Stand::same_leaf: return "same_leaf";
    case Stand::same_pod: return "same_pod";
  }
  return "unknown";
}

std::string_view blocker_name(Blocker blocker) {
  switch (blocker) {
    case Blocker::invalid_request: return "invalid_request";
    case Blocker::unknown_sku: return "unknown_sku";
    case Blocker::capacity: return "capacity";
    case Blocker::exclusion: return "exclusion";
    case Blocker::segment: return "segment";
    case Blocker::spares: return "spares";
  }
  return "unknown";
}

Error to_error(const Shortfall& shortfall) {
  switch (shortfall.blocked_by) {
    case Blocker::invalid_request: return make_error(Code::invalid, shortfall.text);
    case Blocker::unknown_sku: return make_error(Code::not_found, shortfall.text);
    case Blocker::capacity:
    case Blocker::exclusion:
    case Blocker::segment:
    case Blocker::spares: break;
  }
  return make_error(Code::exhausted, shortfall.text);
}

}  // namespace tundish::control::placement
