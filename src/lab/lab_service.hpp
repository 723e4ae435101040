#pragma once
#include "lab/topology.hpp"

namespace tundish::lab {

/// The supervisor proper, inside the lab's namespaces; returns when it was told to stop.
Result<> run_lab_service(const LabSpec& spec);

}  // namespace tundish::lab
