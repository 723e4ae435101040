#include "sim/life.hpp"

#include <algorithm>

#include "control/fault/policy.hpp"
#include "model/ops/incident_ops.hpp"
#include "model/ops/incident_proof.hpp"

namespace tundish::sim {
namespace {

constexpr std::size_t long_enough = 300;  ///< lines of a timeline: it goes round and round

}  // namespace

Life::Life(const RemediationPolicy& policy, const XidCatalogue& catalogue, LifePlan plan)
    : policy_(policy),
      catalogue_(catalogue),
      plan_(std::move(plan)),
      options_(options_for(catalogue)),
      site_(options_) {}

SimOptions Life::options_for(const XidCatalogue& catalogue) const {
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

Result<> Life::begin() {
  site_.build();
  ClusterSpec spec;
  spec.nodes = 2;
  site_.order("acme", "acme-c", spec);
  if (plan_.job_stays) site_.start_job("acme-c", 2);
  site_.run_until(site_.now() + minutes(20));
  if (!pick_node()) return make_error(Code::internal, "the simulated cluster was not set up");
  script();
  listen();
  if (plan_.claimed) site_.perform(take_claim(node_, "person:ann", "my own work"));
  open();
  if (!plan_.engine_answers) site_.world().engines["acme-c"].up = false;
  return {};
}

void Life::begin_again() {
  visits_.clear();
  open();
}

bool Life::pick_node() {
  if (!site_.view()) return false;
  for (const auto& [id, held] : site_.view()->all<Allocation>()) {
    for (const auto& member : held.status.nodes) {
      if (member.role == MemberRole::member) node_ = member.node;
    }
  }
  return !node_.empty();
}

const Incident* Life::incident() const {
  return site_.view() ? site_.view()->find(incident_) : nullptr;
}

std::vector<std::string> Life::lived() const {
  std::vector<std::string> out;
  const Incident* now = incident();
  if (!now) return out;
  for (const auto& entry : now->timeline) {
    if (policy_.states.contains(entry.what) && !entry.key.empty()) out.push_back(entry.what);
  }
  return out;
}

bool Life::has_foreign_claim() const {
  for (const auto& id : site_.view()->claims_on(node_)) {
    if (site_.view()->find(id)->holder.starts_with("person:")) return true;
  }
  return false;
}

std::optional<Result<VerbResult>> Life::answer_verb(const VerbCall& call) {
  const bool ours =
      call.verb == Verb::run_checks || call.verb == Verb::reset_gpus || call.verb == Verb::wipe;
  const Incident* now = incident();
  const auto state = now ? policy_.states.find(now->policy_state) : policy_.states.end();
  if (!ours || state == policy_.states.end()) return std::nullopt;
  const ActEnd end = plan_.answer(state->second.action);
  if (end == ActEnd::real) return std::nullopt;
  if (end == ActEnd::silent) {
    return Result<VerbResult>(make_error(Code::timeout, "no answer"));
  }
  VerbResult out;
  out.key = call.key;
  out.ok = end == ActEnd::done || call.verb == Verb::run_checks;
  if (call.verb == Verb::run_checks) {
    Verdict verdict;
    verdict.check = "story";
    verdict.state = end == ActEnd::done ? VerdictState::ok : VerdictState::fail;
    verdict = plan_.verdict.value_or(verdict);
    out.verdicts.push_back(verdict);
    // What is asked for by name is as good as the story says.
    if (verdict.state == VerdictState::ok && call.run_checks) {
      for (const auto& name : call.run_checks->checks) {
        if (name == serve_checks) continue;
        verdict.check = name;
        out.verdicts.push_back(verdict);
      }
    }
  }
  return Result<VerbResult>(out);
}

std::optional<Result<>> Life::answer_power() {
  ++power_;
  const Incident* now = incident();
  const auto state = now ? policy_.states.find(now->policy_state) : policy_.states.end();
  if (state == policy_.states.end()) return std::nullopt;
  switch (plan_.answer(state->second.action)) {
    case ActEnd::real: return std::nullopt;  // it really restarts
    case ActEnd::done: return Result<>();
    case ActEnd::failed: return Result<>(make_error(Code::unavailable, "the BMC refuses"));
    case ActEnd::silent: break;
  }
  return Result<>(make_error(Code::timeout, "no answer"));
}

void Life::script() {
  World& world = site_.world();
  world.verb_instead = [this](SimNode& node,
                              const VerbCall& call) -> std::optional<Result<VerbResult>> {
    return node.id == node_.str() ? answer_verb(call) : std::nullopt;
  };
  world.power_instead = [this](SimNode& node) -> std::optional<Result<>> {
    return node.id == node_.str() ? answer_power() : std::nullopt;
  };
}

void Life::listen() {
  site_.on_operation([this](const HistoryEntry& entry, const Batch& batch) {
    if (entry.operation != "enter_policy_state") return;
    for (const auto& change : batch.changes) {
      const auto* body = dynamic_cast<const Holder<Incident>*>(change.body.get());
      if (!body || body->value.id != incident_) continue;
      const std::string& state = body->value.policy_state;
      const auto known = body->value.entries.find(state);
      const int visit = known == body->value.entries.end() ? 0 : known->second;
      if (visits_[state] >= visit) continue;  // one commit may hold the incident twice
      visits_[state] = visit;
      for (const auto& deed : deeds_) {
        if (deed.state != state || deed.visit != visit) continue;
        if (deed.moment == Moment::at_once) {
          deed.act();
        } else {
          site_.after({}, deed.act);
        }
      }
    }
  });
}

/// As the policy says, else the catalogue.
control::verify::KnownFault Life::known_fault() const {
  if (const PolicyFault* known = control::find_fault(policy_, plan_.fault)) {
    return {plan_.fault, known->action, "node", known->device_lost, known->by_person};
  }
  for (const auto& known : control::verify::faults_of(catalogue_)) {
    if (known.name == plan_.fault) return known;
  }
  return {plan_.fault, "reset", "node", false, false};
}

void Life::open() {
  const Node* node = site_.view()->find(node_);
  const auto known = known_fault();
  const auto open = [&, node](Txn& txn) -> Result<> {
    Incident incident;
    incident.id = txn.make_id<Incident>();
    incident.meta.name = incident.id.str();
    incident.node = node_;
    incident.allocation = node->status.allocation;
    incident.fault = plan_.fault;
    incident.device_lost = known.device_lost;
    incident.action = known.action;
    incident.hardware_witness = plan_.hardware;
    incident.boot_id_at_entry = node->status.boot_id;
    incident.opened_at = incident.detected_at = txn.now();
    Claim claim;
    claim.id = txn.make_id<Claim>();
    claim.meta.name = claim.id.str();
    claim.node = node_;
    claim.holder = "incident";
    claim.reason = plan_.fault;
    claim.incident = incident_ = incident.id;
    claim.since = txn.now();
    txn.put(std::move(claim));
    txn.put(std::move(incident));
    return {};
  };
  site_.perform(make_operation("open_incident", "node/" + node_.str(), open));
}

void Life::wait(Duration most) {
  const Instant end = site_.now() + most;
  while (site_.now() < end) {
    const Incident* now = incident();
    if (now && now->timeline.size() > long_enough) return;
    if (now && now->state != IncidentState::open) return;
    const Instant before = site_.now();
    site_.run_until(std::min(end, before + minutes(1)));
    if (site_.now() == before) return;  // a rule of the simulator was broken
  }
}

}  // namespace tundish::sim
