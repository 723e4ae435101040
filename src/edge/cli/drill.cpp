// drill: breaks things as a file says, with a stopwatch.
#include <algorithm>
#include <chrono>
#include <map>
#include <ostream>

#include "base/nearest.hpp"
#include "base/text.hpp"
#include "edge/cli/catalogue_files.hpp"
#include "edge/cli/drill_plan.hpp"
#include "edge/cli/interrupt.hpp"
#include "edge/cli/nouns.hpp"
#include "edge/cli/simple_kind.hpp"

namespace tundish::edge::cli {
namespace {

constexpr Duration look_interval = milliseconds(250);
constexpr std::chrono::seconds repeat_interval(15);

Result<DrillPlan> load_plan(const std::string& file) {
  const std::string text = TRY(read_small_file(file));
  DrillPlan plan;
  TRY_VOID(parse_yaml(text, plan, file));
  if (const auto checked = check_drill(plan); !checked) {
    return Error(checked.error()).wrap(file);
  }
  return plan;
}

struct Fleet {
  std::vector<Node> nodes;
  std::map<NodeId, Claim> claims;  ///< in force, one of each node
  std::vector<Allocation> allocations;
  std::vector<Cluster> clusters;
};

bool fits(const Fleet& fleet, const DrillNode& wanted, const Node& node) {
  if (!wanted.rack.empty() && node.spec.rack != wanted.rack) return false;
  if (wanted.role == "free") {
    return node.status.allocation.empty() && node.status.phase == NodePhase::ready &&
           node.spec.role == NodeRole::gpu;
  }
  for (const auto& cluster : fleet.clusters) {
    if (cluster.meta.name != wanted.cluster && cluster.id.str() != wanted.cluster) continue;
    for (const auto& allocation : fleet.allocations) {
      if (allocation.id != cluster.status.allocation) continue;
      for (const auto& member : allocation.status.nodes) {
        if (member.node == node.id && word(member.role) == wanted.role) return true;
      }
    }
  }
  return false;
}

/// What already is out of service is no subject: the next fault of it is recorded with what holds
/// it, and no incident of the drill's follows.
std::string claim_words(const std::string& node, const Claim& claim) {
  return node + " is claimed by " +
         (claim.incident.empty() ? claim.holder : claim.incident.str()) + ": " + claim.reason;
}

Result<std::map<NodeId, Claim>> load_claims(const ApiClient& client) {
  std::map<NodeId, Claim> out;
  for (auto& claim : TRY(get_objects<Claim>(client, api_path({"claims"})))) {
    if (claim.state == ClaimState::active) out.emplace(claim.node, std::move(claim));
  }
  return out;
}

Result<std::string> take_named(const ApiClient& client, const std::string& name) {
  const auto node = TRY(get_object<Node>(client, api_path({"nodes", name})));
  const auto claims = TRY(load_claims(client));
  const auto claim = claims.find(node.id);
  if (claim == claims.end()) return name;
  return make_error(Code::conflict, "node " + claim_words(name_of(node), claim->second))
      .with_remedy("drill on another node, or see what ends that: tundish node explain " +
                   name_of(node));
}

Error none_fits(const DrillNode& wanted, std::size_t fit, const std::vector<std::string>& claimed) {
  Error none = make_error(Code::not_found,
                          "no node fits: " + std::to_string(fit) + " are " + wanted.role +
                              (wanted.cluster.empty() ? "" : " of cluster " + wanted.cluster) +
                              ", number " + std::to_string(wanted.index) + " is wanted" +
                              (claimed.empty() ? "" : "; left out: " + join(claimed, ", ")));
  if (claimed.empty()) return none;
  return std::move(none).with_remedy("what ends a claim: tundish node explain " +
                                     claimed.front().substr(0, claimed.front().find(' ')));
}

Result<std::string> choose_node(const ApiClient& client, const DrillNode& wanted) {
  if (!wanted.name.empty()) return take_named(client, wanted.name);
  Fleet fleet;
  fleet.nodes = TRY(get_objects<Node>(client, api_path({"nodes"})));
  fleet.claims = TRY(load_claims(client));
  fleet.allocations = TRY(get_objects<Allocation>(client, api_path({"allocations"})));
  fleet.clusters = TRY(get_objects<Cluster>(client, api_path({"clusters"})));
  std::vector<std::string> names, claimed;
  for (const auto& node : fleet.nodes) {
    if (!fits(fleet, wanted, node)) continue;
    const auto claim = fleet.claims.find(node.id);
    if (claim == fleet.claims.end()) {
      names.push_back(name_of(node));
    } else {
      claimed.push_back(claim_words(name_of(node), claim->second));
    }
  }
  std::sort(names.begin(), names.end());
  if (wanted.index >= 0 && wanted.index < static_cast<int>(names.size())) {
    return names[static_cast<std::size_t>(wanted.index)];
  }
  return none_fits(wanted, names.size(), claimed);
}

template <class T>
Result<> require_named(const ApiClient& client, const std::string& plural,
                       const std::string& name) {
  if (name.empty()) return {};
  std::vector<std::string> names;
  for (const auto& object : TRY(get_objects<T>(client, api_path({plural})))) {
    if (object.meta.name == name || object.id.str() == name) return {};
    names.push_back(name_of(object));
  }
  return make_error(Code::not_found, "no " + std::string(T::kind) + " is called " + name)
      .with_remedy(names.empty() ? "there is none" : which_word(name, names));
}

Result<> check_kind(const std::vector<FaultKind>& kinds, const std::string& fault) {
  std::vector<std::string> names;
  for (const auto& kind : kinds) {
    names.push_back(kind.name);
    if (kind.name != fault) continue;
    if (kind.unavailable.empty()) return {};
    return make_error(Code::unsupported, "fault " + fault + ": " + kind.unavailable)
        .with_remedy("see `tundish fault kinds`");
  }
  return make_error(Code::not_found, "no fault is called " + fault)
      .with_remedy(which_word(fault, names));
}

/// Before anything breaks: what no step could ever do. Which node fits is seen when its turn comes,
/// for an earlier step may change it.
Result<> check_steps(const ApiClient& client, const DrillPlan& plan) {
  const auto kinds = TRY(get_objects<FaultKind>(client, api_path({"faults"})));
  const auto one = [&](const DrillStep& step) -> Result<> {
    TRY_VOID(check_kind(kinds, step.fault));
    TRY_VOID(require_named<Node>(client, "nodes", step.node.name));
    return require_named<Cluster>(client, "clusters", step.node.cluster);
  };
  for (const auto& step : plan.steps) {
    if (auto checked = one(step); !checked) {
      return Error(checked.error()).wrap("step " + step.name);
    }
  }
  return {};
}

FaultRequest request_of(const DrillStep& step, const std::string& node) {
  FaultRequest request;
  request.kind = step.fault;
  request.node = node;
  request.xid = step.xid;
  request.gpu = step.gpu;
  request.sticky = step.sticky;
  request.userspace = step.userspace;
  request.text = step.text;
  request.for_s = step.for_s;
  request.part = step.part;
  request.copies = step.copies;
  return request;
}

/// The first that opened after the injection, of the node or of what it shares.
Result<std::optional<Incident>> find_incident(const ApiClient& client, const FaultAnswer& answer) {
  const auto node = TRY(get_object<Node>(client, api_path({"nodes", answer.node})));
  std::optional<Incident> found;
  for (auto& incident : TRY(get_objects<Incident>(client, api_path({"incidents"})))) {
    const bool about = incident.node == node.id ||
                       std::find(incident.affected.begin(), incident.affected.end(), node.id) !=
                           incident.affected.end();
    if (!about || incident.opened_at < answer.at) continue;
    if (!found || incident.opened_at < found->opened_at) found = std::move(incident);
  }
  return found;
}

class Runner {
 public:
  Runner(Context& context, const ApiClient& client) : context_(context), client_(client) {}

  DrillResult run(const DrillStep& step) {
    auto result = attempt(step);
    if (result) return *result;
    DrillResult out;
    out.step = step.name;
    out.fault = step.fault;
    out.why = result.error().message();
    return out;
  }
  bool is_ended() { return ended_; }

 private:
  Result<DrillResult> attempt(const DrillStep& step) {
    if (pause(seconds(step.before_s))) return make_error(Code::timeout, "you stopped the drill");
    const std::string node = TRY(choose_node(client_, step.node));
    context_.note("step " + step.name + ": " + step.fault + " on node " + node);
    const auto body = TRY(client_.change(
        {"POST", api_path({"faults"}), render_json(request_of(step, node)), "drill"}));
    const auto answer = TRY(parse_object<FaultAnswer>(body));
    const auto start = std::chrono::steady_clock::now();
    while (true) {
      const auto passed = std::chrono::steady_clock::now() - start;
      const bool over = passed >= std::chrono::seconds(step.wait_s);
      auto incident = find_incident(client_, answer);
      // The API may be away for a moment: that says nothing about the drill.
      if (!incident && (over || incident.error().code != Code::unavailable)) {
        return incident.error();
      }
      if (incident) {
        auto judged =
            judge_step(step, answer.at, *incident, over ? DrillTime::over : DrillTime::left);
        judged.result.node = node;
        if (judged.done) return judged.result;
        tell(step, *incident);
      }
      if (pause(look_interval)) return make_error(Code::timeout, "you stopped the drill");
    }
  }

  /// What the step waits for, when that changes and now and then: nobody sits before a silent
  /// terminal for two minutes.
  void tell(const DrillStep& step, const std::optional<Incident>& incident) {
    const std::string text =
        !incident ? "waits for an incident"
                  : "incident " + name_of(*incident) + " is at " +
                        (incident->policy_state.empty() ? word(incident->state)
                                                        : incident->policy_state);
    const auto now = std::chrono::steady_clock::now();
    if (text == told_ && now - told_at_ < repeat_interval) return;
    context_.note("step " + step.name + ": " + text);
    told_ = text;
    told_at_ = now;
  }

  bool pause(Duration span) {
    ended_ = ended_ || interruptible_.pause(span);
    return ended_;
  }

  Context& context_;
  const ApiClient& client_;
  Interruptible interruptible_;
  std::string told_;
  std::chrono::steady_clock::time_point told_at_;
  bool ended_ = false;
};

std::string lap_text(const DrillResult& result, const std::string& what) {
  for (const auto& lap : result.laps) {
    if (lap.what != what) continue;
    if (lap.took_ms < 0) return lap.band_ms > 0 ? "never" : "-";
    const bool missed = lap.outcome == DrillOutcome::failed;
    return render_duration(milliseconds(lap.took_ms)) + (missed ? " LATE" : "");
  }
  return "-";
}

std::string render_report(const DrillReport& report) {
  std::vector<Cells> rows;
  for (const auto& step : report.steps) {
    rows.push_back({step.step, step.fault, or_dash(step.node), lap_text(step, "detected"),
                    lap_text(step, "claimed"), lap_text(step, "drained"),
                    lap_text(step, "replaced"), lap_text(step, "returned"), word(step.outcome),
                    or_dash(step.why)});
  }
  return render_table({"STEP", "FAULT", "NODE", "DETECTED", "CLAIMED", "DRAINED", "REPLACED",
                       "RETURNED", "OUTCOME", "WHY"},
                      rows) +
         "drill " + report.drill + ": " + word(report.outcome) + "\n";
}

int exit_of(DrillOutcome outcome) {
  if (outcome == DrillOutcome::passed) return exit_done;
  return outcome == DrillOutcome::failed ? exit_refused : exit_unknown;
}

/// Every step is asked for without being done: what would be refused is refused before anything
/// breaks.
Result<int> rehearse(Context& context, const ApiClient& client, const DrillPlan& plan) {
  for (const auto& step : plan.steps) {
    const std::string node = TRY(choose_node(client, step.node));
    TRY_VOID(client.rehearse({"POST", api_path({"faults"}), render_json(request_of(step, node))}));
    context.note("step " + step.name + " would break node " + node + ": " + step.fault);
  }
  context.note("dry run: nothing was broken");
  return exit_done;
}

/// A drill may end with the vendor: no lab and no policy ends that by itself.
void tell_what_is_left(Context& context, const ApiClient& client, const DrillReport& report) {
  for (const auto& step : report.steps) {
    if (step.incident.empty()) continue;
    const auto incident = get_object<Incident>(client, api_path({"incidents", step.incident}));
    if (!incident || incident->state != IncidentState::rma) continue;
    context.note("node " + step.node + " is left out of service: " + step.incident +
                 " waits for the vendor\n  when the part is replaced: tundish incident close " +
                 step.incident);
  }
}

Result<int> run_drill(Context& context, const std::string& file) {
  const DrillPlan plan = TRY(load_plan(file));
  const ApiClient client = TRY(context.connect());
  TRY_VOID(check_steps(client, plan));
  TRY(choose_node(client, plan.steps.front().node));  // a later one's depends on those before it
  if (context.settings().dry_run) return rehearse(context, client, plan);
  if (!context.confirm("This drill breaks hardware on purpose: " + plan.name + ", " +
                       count_of(static_cast<int>(plan.steps.size()), "step"))) {
    return exit_declined;
  }
  DrillReport report;
  report.drill = plan.name;
  Runner runner(context, client);
  for (const auto& step : plan.steps) {
    report.steps.push_back(runner.run(step));
    if (runner.is_ended()) break;
  }
  report.outcome = outcome_of(report.steps);
  TRY_VOID(show_object<DrillReport>(context, render_json(report), render_report));
  tell_what_is_left(context, client, report);
  return runner.is_ended() ? exit_declined : exit_of(report.outcome);
}

}  // namespace

void add_drill(Command root, Context& context) {
  Command noun = root.noun("drill", "faults on purpose, with a stopwatch");
  const auto file = std::make_shared<std::string>();
  Command verb = noun.verb("run", "break what a file says and judge what follows");
  verb.take({"file", "YAML, see examples/drills/", Need::required}, *file);
  verb.run([&context, file] { return run_drill(context, *file); });
}

}  // namespace tundish::edge::cli
