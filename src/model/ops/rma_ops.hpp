#pragma once
// The record of what goes back to the vendor.
#include "model/ops/common.hpp"

namespace tundish {

/// Parts by the inventory as it is now: the accused device first, then the chassis.
std::vector<RmaPart> parts_of(const Incident& incident, const Node& node);
/// The record of an incident that ended in RMA; nullptr: none was made.
const Rma* find_rma(const Registry& view, const IncidentId& incident);

OperationPtr record_rma(IncidentId incident);
OperationPtr close_rma(IncidentId incident);
/// An evidence bundle was handed out: the history keeps what exactly it was.
OperationPtr record_bundle(IncidentId incident, std::string sha256);

}  // namespace tundish
