#pragma once
// What the agent does: one function per verb of model/verbs.hpp. All are idempotent.
#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/verbs.hpp"
#include "runtime/agent/agent_config.hpp"
#include "runtime/agent/boot_events.hpp"
#include "runtime/agent/deadline.hpp"
#include "runtime/agent/gather.hpp"
#include "runtime/agent/lease_box.hpp"
#include "runtime/agent/told_verdicts.hpp"

namespace tundish::agent {

using Judge =
    std::function<std::vector<Verdict>(const CheckSample&, const std::vector<std::string>& names)>;

class SampleMaker;

struct VerbTools {
  AgentConfig config;
  AgentPaths paths;
  Gatherer& gatherer;
  BootEvents& events;
  Judge judge;
  std::function<Instant()> now;
  SampleMaker* samples = nullptr;  ///< of the agent's own loop; never null in an agent
  std::vector<PassiveCheck> checks = {};
  LeaseBox* leases = nullptr;  ///< of active checks; never null in an agent
};

struct VerbNote {
  std::string what;  ///< short, for people: times of stages
  std::string text;  ///< raw text for tundishd
  std::vector<Verdict> verdicts;
  std::optional<NodeLoad> load = {};
};

/// Never throws and always answers; refuses what the hold file forbids.
VerbResult execute(const VerbCall& call, const VerbTools& tools);
bool is_on_hold(const AgentConfig& config);
/// Changes nothing: may be done again at will and is not journalled.
bool is_read_only(Verb verb);
bool is_forbidden_on_hold(Verb verb);
/// Acts with the same lane run one after the other.
std::string lane_of(const VerbCall& call);

Result<VerbNote> verb_setup_node(const VerbCall& call, const VerbTools& tools);
Result<VerbNote> verb_leave_cluster(const VerbCall& call, const VerbTools& tools);
Result<VerbNote> verb_setup_controller(const VerbCall& call, const VerbTools& tools);
Result<VerbNote> verb_stop_controller(const VerbCall& call, const VerbTools& tools);
Result<VerbNote> verb_engine_commands(const VerbCall& call, const VerbTools& tools);
Result<VerbNote> verb_engine_observe(const VerbCall& call, const VerbTools& tools);
Result<VerbNote> verb_run_checks(const VerbCall& call, const VerbTools& tools);
Result<VerbNote> verb_reset_gpus(const VerbCall& call, const VerbTools& tools);
Result<VerbNote> verb_wipe(const VerbCall& call, const VerbTools& tools);
Result<VerbNote> verb_inject(const VerbCall& call, const VerbTools& tools);
Result<VerbNote> verb_probe_network(const VerbCall& call, const VerbTools& tools);
Result<VerbNote> verb_read_load(const VerbCall& call, const VerbTools& tools);

}  // namespace tundish::agent
