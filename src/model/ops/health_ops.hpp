#pragma once
// What passive checks of a node say: only what changed is stored.
#include "model/operation.hpp"
#include "model/verbs.hpp"

namespace tundish {

/// What an agent told of its checks.
struct HealthReport {
  std::string boot_id;
  std::int64_t seq = 0;
  bool complete = false;  ///< `verdicts` is all that is not ok
  std::vector<Verdict> verdicts;
  std::optional<Pressure> pressure;
};

HealthReport health_report_of(const AgentSync& sync);

/// The report changes what the node's status says. A report of another boot than the node's, or
/// one that is older than what is stored, changes nothing.
bool is_news(const Node& node, const HealthReport& report);

/// Keeps all that is not ok, each with the time since when it says so, and drops what became ok.
/// Verdicts of an earlier boot go with it. Bounded: at most `most_verdicts` of a node.
OperationPtr record_verdicts(NodeId node, HealthReport report);
inline constexpr std::size_t most_verdicts = 256;

/// Out of band: what the node's BMC shows. Keeps all that is not ok, whatever the agent says.
OperationPtr record_bmc_verdicts(NodeId node, std::vector<Verdict> verdicts);
/// They differ from what is stored in more than their evidence.
bool is_bmc_news(const Node& node, const std::vector<Verdict>& verdicts);

/// What the verdicts are worth now: of an agent that is silent every one is unknown, which is no
/// fault. `heard_at`: when it last spoke; never: Instant{}. What the BMC shows stands by itself.
std::vector<Verdict> verdicts_at(const Node& node, Instant heard_at, Instant now);
inline constexpr Duration verdicts_age_limit = seconds(60);

}  // namespace tundish
