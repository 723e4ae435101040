#include "sim/replay.hpp"

#include <algorithm>

#include "control/fault/policy.hpp"
#include "model/ops/incident_ops.hpp"
#include "sim/site.hpp"

namespace tundish::sim {
namespace {

using control::verify::Refutation;
using control::verify::StoryStep;

constexpr Duration patience = hours(8);   ///< twice the longest deadline
constexpr std::size_t long_enough = 300;  ///< lines of a timeline: it goes round and round

bool has(const std::vector<std::string>& list, const std::string& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

/// Some guard of the state reads the fact.
bool reads(const RemediationPolicy& policy, const std::string& state, const std::string& fact) {
  const auto found = policy.states.find(state);
  if (found == policy.states.end()) return false;
  return std::any_of(
      found->second.next.begin(), found->second.next.end(),
      [&](const PolicyEdge& edge) { return has(edge.when, fact) || has(edge.when, "!" + fact); });
}

class Replay {
 public:
  Replay(const RemediationPolicy& policy, const XidCatalogue& catalogue, const Refutation& story)
      : policy_(policy), story_(story), options_(options_for(catalogue)), site_(options_) {}

  Result<ReplayReport> run() {
    if (story_.story.empty() || story_.property == "catalogue") {
      return make_error(Code::unsupported,
                        story_.property + ": there is no incident in this story");
    }
    site_.build();
    ClusterSpec spec;
    spec.nodes = 2;
    site_.order("acme", "acme-c", spec);
    if (job_stays()) site_.start_job("acme-c", 2);
    site_.run_until(site_.now() + minutes(20));
    if (!pick_node()) return make_error(Code::internal, "the simulated cluster was not set up");
    script();
    open();
    if (reads_engine()) site_.world().engines["acme-c"].up = false;
    settle();
    return judge();
  }

 private:
  SimOptions options_for(const XidCatalogue& catalogue) {
    SimOptions out;
    out.nodes = 4;
    out.faults = out.decoys = out.crashes = 0;
    out.lawless = true;
    out.trouble = {0, 0, 0, milliseconds(50)};
    out.pace = Pace::eased;
    out.policy = &policy_;
    out.catalogue = &catalogue;
    return out;
  }

  /// The story ends while the node is not empty: a job of the tenant is on it.
  bool job_stays() const {
    const StoryStep& last = story_.story.back();
    const bool waits = reads(policy_, last.state, "drained") && !has(last.facts, "drained");
    return waits || reads_engine();
  }

  bool reads_engine() const {
    return std::any_of(policy_.states.begin(), policy_.states.end(), [&](const auto& state) {
      return reads(policy_, state.first, "engine_known");
    });
  }

  bool pick_node() {
    if (!site_.view()) return false;
    for (const auto& [id, held] : site_.view()->all<Allocation>()) {
      for (const auto& member : held.status.nodes) {
        if (member.role == MemberRole::member) node_ = member.node;
      }
    }
    return !node_.empty();
  }

  const Incident* incident() const {
    return site_.view() ? site_.view()->find(incident_) : nullptr;
  }

  /// How the story says that the act of the current state ends; the last word on a state counts
  /// for all later visits, and what is not told gets no answer.
  const StoryStep* told() {
    const Incident* now = incident();
    if (!now) return nullptr;
    int visit = 0;
    for (const auto& state : lived()) visit += state == now->policy_state ? 1 : 0;
    const StoryStep* found = nullptr;
    for (const auto& step : story_.story) {
      if (step.state != now->policy_state) continue;
      found = &step;
      if (--visit <= 0) break;
    }
    return found;
  }

  void script() {
    World& world = site_.world();
    world.verb_instead = [this](SimNode& node,
                                const VerbCall& call) -> std::optional<Result<VerbResult>> {
      const bool ours =
          call.verb == Verb::run_checks || call.verb == Verb::reset_gpus || call.verb == Verb::wipe;
      if (!ours || node.id != node_.str() || !incident()) return std::nullopt;
      const StoryStep* step = answers_ ? told() : nullptr;
      if (!step || step->act.empty() || step->act == "unknown") {
        return Result<VerbResult>(make_error(Code::timeout, "no answer"));
      }
      VerbResult out;
      out.key = call.key;
      out.ok = step->act == "done" || call.verb == Verb::run_checks;
      if (call.verb == Verb::run_checks) {
        Verdict verdict;
        verdict.check = "story";
        verdict.state = step->act == "done" ? VerdictState::ok : VerdictState::fail;
        out.verdicts.push_back(verdict);
      }
      return Result<VerbResult>(out);
    };
    world.power_instead = [this](SimNode& node) -> std::optional<Result<>> {
      if (node.id != node_.str()) return std::nullopt;
      ++power_;
      const StoryStep* step = told();
      if (step && step->act == "failed") {
        return Result<>(make_error(Code::unavailable, "the BMC refuses"));
      }
      if (step && has(step->facts, "rebooted")) return std::nullopt;  // it really restarts
      if (step && step->act == "done") return Result<>();
      return Result<>(make_error(Code::timeout, "no answer"));
    };
  }

  void open() {
    const Node* node = site_.view()->find(node_);
    const std::string fault = first_fault();
    const PolicyFault* known = control::find_fault(policy_, fault);
    if (story_.story.front().state.empty() && story_.story.front().go.empty()) {
      site_.perform(take_claim(node_, "person:ann", "my own work"));
    }
    const auto open = [&, node](Txn& txn) -> Result<> {
      Incident incident;
      incident.id = txn.make_id<Incident>();
      incident.meta.name = incident.id.str();
      incident.node = node_;
      incident.allocation = node->status.allocation;
      incident.fault = fault;
      incident.device_lost = known && known->device_lost;
      incident.action = known ? known->action : "reset";
      incident.hardware_witness = story_.hardware_witness;
      incident.boot_id_at_entry = node->status.boot_id;
      incident.opened_at = incident.detected_at = txn.now();
      Claim claim;
      claim.id = txn.make_id<Claim>();
      claim.meta.name = claim.id.str();
      claim.node = node_;
      claim.holder = "incident";
      claim.reason = fault;
      claim.incident = incident_ = incident.id;
      claim.since = txn.now();
      txn.put(std::move(claim));
      txn.put(std::move(incident));
      return {};
    };
    site_.perform(make_operation("open_incident", "node/" + node_.str(), open));
  }

  std::string first_fault() const {
    for (const auto& step : story_.story) {
      if (!step.fault.empty()) return step.fault;
    }
    return "fault";
  }

  void wait(Duration most) {
    const Instant end = site_.now() + most;
    while (site_.now() < end) {
      const Incident* now = incident();
      if (now && now->timeline.size() > long_enough) return;
      const Instant before = site_.now();
      site_.run_until(std::min(end, before + minutes(1)));
      if (site_.now() == before) return;  // a rule of the simulator was broken
    }
  }

  /// Plays what happens outside the policy when the story comes to it, then waits.
  void settle() {
    bool forgotten = false;
    for (const auto& step : story_.story) {
      again_ = again_ || step.event.starts_with("the same fault comes back");
      forgotten = forgotten || step.event.starts_with("what carries the budget is deleted");
    }
    if (forgotten) {
      site_.run_until(site_.now() + hours(2));
      const auto forget = [this](Txn& txn) -> Result<> {
        Incident incident = TRY(get_object(txn, incident_));
        incident.entries.clear();
        txn.put(std::move(incident));
        return {};
      };
      site_.perform(make_operation("delete_remediation", "incident/" + incident_.str(), forget));
    }
    if (story_.property == "brake" || has(story_.story.back().facts, "brake")) {
      answers_ = false;  // it is not well again before the brake is on
      wait(hours(1));
      site_.restart_with_brake();
      answers_ = true;
    }
    wait(patience);
    first_ = lived();
    if (!again_) return;
    open();
    site_.run_until(site_.now() + minutes(1));
  }

  std::vector<std::string> lived() const {
    std::vector<std::string> out;
    const Incident* now = incident();
    if (!now) return out;
    for (const auto& entry : now->timeline) {
      if (policy_.states.contains(entry.what) && !entry.key.empty()) out.push_back(entry.what);
    }
    return out;
  }

  bool is_on_the_way(const std::string& state) const {
    return std::any_of(story_.story.begin(), story_.story.end(), [&](const StoryStep& step) {
      return step.state == state || step.go == state;
    });
  }

  /// More was spent on the fault, over both incidents, than the budget knows of.
  bool is_forgotten() const {
    const auto now = lived();
    for (const auto& [name, state] : policy_.states) {
      if (!control::is_disruptive_action(state.action)) continue;
      auto spent = std::count(now.begin(), now.end(), name);
      if (again_) spent += std::count(first_.begin(), first_.end(), name);
      const auto known = incident()->entries.find(name);
      if (spent > (known == incident()->entries.end() ? 0 : known->second)) return true;
    }
    return false;
  }

  bool has_foreign_claim() const {
    for (const auto& id : site_.view()->claims_on(node_)) {
      if (site_.view()->find(id)->holder.starts_with("person:")) return true;
    }
    return false;
  }

  Result<ReplayReport> judge() {
    ReplayReport out;
    const Incident* now = incident();
    if (!now) return make_error(Code::internal, "the incident is gone");
    out.lived = lived();
    const bool open = now->state == IncidentState::open;
    if (story_.property == "budget_monotone") {
      out.is_reproduced = is_forgotten() || spends_without_end(*now);
      out.end = "restarted " + std::to_string(power_) + " times; the budget does not know";
    } else if (!story_.sticks_in.empty()) {
      out.is_reproduced = open && is_on_the_way(now->policy_state);
      out.end = open ? "eight hours later it is in " + now->policy_state
                     : "eight hours later it has ended";
    } else if (story_.property == "claims") {
      out.is_reproduced = !open && !has_foreign_claim();
      out.end = "the node is free and the person's claim is gone";
    } else {
      out.is_reproduced = has(out.lived, story_.story.back().go);
      out.end = "it came to " + now->policy_state;
    }
    if (!out.is_reproduced) out.end += "; the story says: " + story_.verdict;
    return out;
  }

  bool spends_without_end(const Incident& now) const {
    for (const auto& [name, state] : policy_.states) {
      if (!control::is_disruptive_action(state.action) || state.budget > 0) continue;
      const auto spent = now.entries.find(name);
      if (spent != now.entries.end()) return true;
    }
    return false;
  }

  const RemediationPolicy& policy_;
  const Refutation& story_;
  SimOptions options_;
  Site site_;
  NodeId node_;
  IncidentId incident_;
  int power_ = 0;
  bool answers_ = true;
  bool again_ = false;
  std::vector<std::string> first_;
};

}  // namespace

Result<ReplayReport> replay(const RemediationPolicy& policy, const XidCatalogue& catalogue,
                            const control::verify::Refutation& story) {
  return Replay(policy, catalogue, story).run();
}

}  // namespace tundish::sim
