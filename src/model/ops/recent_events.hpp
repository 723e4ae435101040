#pragma once
// The newest kernel events of a node, kept beside its cursor for blame.
#include "model/governance.hpp"
#include "model/registry.hpp"
#include "model/witness.hpp"

namespace tundish {

/// Whether the witness would take the node out of service, were it not that another part may have
/// caused it.
enum class Deferred { no, yes };

/// Bounded whatever comes: one entry per kind, code, device and writer, the newest 24 of 15
/// minutes.
void note_recent(AgentCursor& cursor, const Witness& witness, Deferred deferred);
/// Whether the node's NVLink domain has other nodes in it.
bool shares_domain(const Registry& view, const NodeId& node);

}  // namespace tundish
