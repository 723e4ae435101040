#pragma once
#include "control/action.hpp"

namespace tundish::control {

/// What the inventory says the node has.
Expectation expectation_of(const View& view, const Node& node);
/// As expectation_of, and what a node must have while it serves its cluster: storage, daemons.
Expectation expectation_in_service(const View& view, const Node& node);
/// A run_checks call on a node, against what the node must have now, as its own loop judges it;
/// empty `checks`: all that a node must pass to serve.
Action make_checks(const View& view, const Node& node, std::vector<std::string> checks,
                   std::string key);
Action make_wipe(const Node& node, std::string key);
/// Observed hardware that contradicts the declaration, in words; empty: none.
std::string drift_of(const Node& node);

}  // namespace tundish::control
