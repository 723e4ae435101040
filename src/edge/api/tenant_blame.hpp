#pragma once
// What a tenant may read of an incident's blame: built anew from what is his, never cut from the
// operator's.
#include "edge/api/visible.hpp"

namespace tundish::edge::api {

/// The blamed part, the subject and the nodes as `who` may see them.
void keep_own_blame(const Registry& view, const Identity& who, Incident& incident);

}  // namespace tundish::edge::api
