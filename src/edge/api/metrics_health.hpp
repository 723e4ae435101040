#pragma once
#include "edge/api/backend.hpp"
#include "edge/api/exposition.hpp"

namespace tundish::edge::api {

/// Verdicts, incidents by class, repairs, claims, brake, notices, maintenance: the operator's.
void add_health_metrics(const Backend& b, Exposition& out);

}  // namespace tundish::edge::api
