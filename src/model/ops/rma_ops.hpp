#pragma once
// The record of what goes back to the vendor.
#include "model/ops/common.hpp"

namespace tundish {

/// Parts by the inventory as it is now: the accused device first, then the chassis.
std::vector<RmaPart> parts_of(const Incident& incident, const Node& node);
/// What goes back, for people: "GPU 0000:52:00 of serial S (chassis serial T)".
std::string vendor_text(const Incident& incident, const Node& node);
/// How the step of an incident ends that gave its node to the vendor.
inline constexpr std::string_view claim_stays = "; the claim stays";
/// The record of an incident that ended in RMA; nullptr: none was made.
const Rma* find_rma(const Registry& view, const IncidentId& incident);

/// Out of service until somebody has repaired it: what it shows meanwhile is no news, and its proof
/// comes when the vendor is done. The incident that says so; nullptr: it is not.
const Incident* find_at_vendor(const Registry& view, const NodeId& node);

OperationPtr record_rma(IncidentId incident);
OperationPtr close_rma(IncidentId incident);
/// An evidence bundle was handed out: the history keeps what exactly it was.
OperationPtr record_bundle(IncidentId incident, std::string sha256);

}  // namespace tundish
