#pragma once
// One incident as a person reads it. Pure: times in the reader's zone, nothing asked of anybody.
#include <string>

#include "edge/cli/simple_kind.hpp"
#include "model/incident.hpp"

namespace tundish::edge::cli {

struct IncidentNames {
  Names nodes, clusters_by_allocation;
};

std::string render_incident(const Incident& incident, const IncidentNames& names);
/// What it does now, and what it waits for.
std::string render_waiting(const Incident& incident);
/// One line for `watch`.
std::string render_incident_line(const Incident& incident, const IncidentNames& names);

}  // namespace tundish::edge::cli
