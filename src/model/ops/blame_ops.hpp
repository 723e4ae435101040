#pragma once
// What blame leads to: incidents on nodes and on what nodes share, and back.
#include <string>
#include <vector>

#include "model/operation.hpp"
#include "model/xid_catalogue.hpp"

namespace tundish {

struct BlamedOrder {
  Blame blame;
  std::string fault;  ///< names no node, switch or server: tenants read it
  NodeId node;        ///< to be taken out of service; empty: nobody is
  std::vector<NodeId> affected;
  FaultAction action = FaultAction::none;
  std::string device;
  bool device_lost = false;  ///< jobs on the node are lost with it: they need not be waited for
  Instant detected_at;
};

/// Opens it, or brings the open one about the same part up to date. With a node the node is
/// claimed; without, the incident only tells.
OperationPtr open_blamed(BlamedOrder order);
/// A node that is out of service already shows something worse: what is done about it follows the
/// order, and what was proved before does not count. Once per incident and action.
OperationPtr raise_blamed(IncidentId incident, BlamedOrder order);
/// A node that is out of service already: what is known of why grew. Where only a user's line had
/// said so, hardware says it now.
OperationPtr add_blame(IncidentId incident, Blame blame);
/// The symptom is gone, or another part is blamed: `why` says which. An incident without a node
/// ends; the claims of one with a node are released, since it was never the node.
OperationPtr end_blamed(IncidentId incident, std::string why);
/// Nothing of it is seen at the moment. Told again, it goes on; after a while it ends.
OperationPtr quiet_blamed(IncidentId incident);
/// Since when nothing of it is seen; unset: it stands.
Instant quiet_since(const Incident& incident);
/// The open incident without a node about that part.
const Incident* find_blamed(const Registry& view, const Blame& blame);

/// Condition of a node that shows what another part may have caused: nobody is given it meanwhile.
inline constexpr std::string_view symptom_condition = "symptom";
OperationPtr set_symptom(NodeId node, std::string reason);
OperationPtr clear_symptom(NodeId node);

}  // namespace tundish
