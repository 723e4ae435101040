#pragma once
// What else a person wants to know of a node: orders in force over it, what its checks say, what it
// had before.
#include "edge/api/backend.hpp"
#include "edge/api/contract_reports.hpp"

namespace tundish::edge::api {

/// Holds and maintenance windows over the node: what they stop, until when, who ends them.
void explain_orders_in_force(const Backend& b, const Node& node, Explanation& out,
                             std::vector<std::string>& next);
/// Checks that are not ok; of those that another node says the same of, nothing more.
void explain_checks(const Node& node, Explanation& out);
/// Its last incidents that have ended.
void explain_past(const Backend& b, const Node& node, Explanation& out);

/// "waits for action_failed or rebooted or rebooted" in words that a person knows.
std::string waiting_words(const std::string& reason);

}  // namespace tundish::edge::api
