#pragma once
// Faults that were ordered: each is announced on its node before the hardware fails, and the first
// witness that shows what was ordered uses the announcement up.
#include "model/blame.hpp"
#include "model/ops/common.hpp"

namespace tundish {

/// Condition of a node, one for each drill that nothing was seen of yet.
inline constexpr std::string_view drill_condition = "drill";

struct DrillMark {
  std::string what;    ///< "xid 79 on gpu 3 injected by ann at ...": the kind comes first
  std::string fault;   ///< as its kernel line is judged, "xid 79"; empty: a check is to see it
  std::string device;  ///< PCI address; empty: of no GPU
};

OperationPtr announce_drill(NodeId node, DrillMark mark);
/// Nothing broke after all: what comes next is real.
OperationPtr withdraw_drill(NodeId node, DrillMark mark);
/// Of drills announced at that time or before: nothing followed, what comes later is real.
OperationPtr end_drills(NodeId node, Instant until);

/// What was seen. For src/model/ops only, from here on.
struct DrillSeen {
  std::string fault;  ///< of a kernel line; empty: blame found `part`
  std::string device;
  Resource part = Resource::unknown;
  Instant at = {};  ///< by blame's newest evidence; what is older was not ordered
};
DrillSeen drill_seen(const Blame& blame, const std::string& device);
/// Whether a drill announced it; its mark is gone then.
bool use_drill(Txn& txn, const NodeId& node, const DrillSeen& seen);
/// A further line on an incident that stands: it uses its own drill's mark up, and what hardware
/// says of another device, and nobody ordered, makes a drill's incident a real one.
void join_drill(Txn& txn, Incident& incident, const DrillSeen& seen, Provenance provenance);

}  // namespace tundish
