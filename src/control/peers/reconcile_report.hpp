#pragma once
#include "control/action.hpp"

namespace tundish::control {

/// A tenant's report: the node is checked and compared with the peers of the job, then swapped or
/// found sound. The word alone moves nothing.
Outcome reconcile_report(const View& view, const NodeReport& report);

}  // namespace tundish::control
