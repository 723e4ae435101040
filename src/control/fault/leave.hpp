#pragma once
// Acts of an incident that wait for leave: refused by a hold, proposed to a person, braked.
#include "model/ops/incident_ops.hpp"

namespace tundish::control {

/// Proposed or refused so far: nothing was done, so no deadline of the policy runs.
bool waits_for_leave(const TimelineEntry& act);
/// Running or waiting for leave: its result is still to come.
bool is_open_act(const TimelineEntry& act);

/// Recorded, so that the incident tells why nothing happens now; a repeat changes nothing.
OperationPtr refuse_act(IncidentId incident, std::string key, std::string reason);
OperationPtr propose_act(IncidentId incident, std::string key, std::string reason);
/// An act that waited for leave is started: the deadlines of its state count from here.
OperationPtr resume_act(IncidentId incident, std::string key);
/// A check saw the fault: it is hardware, whoever wrote the line that led to the check.
OperationPtr confirm_hardware(IncidentId incident);

}  // namespace tundish::control
