#include "edge/api/handlers.hpp"
#include "model/ops/incident_ops.hpp"
#include "model/ops/notice_ops.hpp"

namespace tundish::edge::api {
namespace {

struct IncidentCall {
  Incident incident;
  std::string reason;
};

Result<IncidentCall> read_call(Backend& b, const Call& call) {
  const auto asked = TRY(parse_body<ReasonRequest>(call));
  IncidentCall out;
  out.reason = asked.reason.empty() ? call.header("x-reason") : asked.reason;
  out.incident = TRY((get_matching<Incident>(b, call, call.parts.at(0))));
  return out;
}

Result<> require_open(const Incident& incident) {
  if (incident.state == IncidentState::open || incident.state == IncidentState::rma) return {};
  return make_error(Code::conflict, "incident " + incident.meta.name + " is over")
      .about("incident/" + incident.meta.name);
}

Result<Later> set_held(Backend& b, const Call& call, bool held) {
  const auto given = TRY(read_call(b, call));
  TRY_VOID(require_open(given.incident));
  TRY_VOID(b.perform(call, *set_incident_held(given.incident.id, held), given.reason));
  return show_later(b, call, given.incident);
}

}  // namespace

Result<Later> ack_incident(Backend& b, const Call& call) {
  const auto given = TRY(read_call(b, call));
  const std::string detail =
      "by " + call.who.name + (given.reason.empty() ? "" : ": " + given.reason);
  std::vector<OperationPtr> parts;
  parts.push_back(note_incident(given.incident.id, "acknowledged", detail));
  parts.push_back(acknowledge_notice("incident/" + given.incident.id.str(), call.who.name));
  const std::string object = "incident/" + given.incident.id.str();
  TRY_VOID(b.perform(call, *compose("ack_incident", object, std::move(parts)), given.reason));
  return show_later(b, call, given.incident);
}

Result<Later> note_incident_call(Backend& b, const Call& call) {
  const auto given = TRY(read_call(b, call));
  if (given.reason.empty()) {
    return make_error(Code::invalid, "a note needs a text").with_remedy("add --reason TEXT");
  }
  TRY_VOID(b.perform(call,
                     *note_incident(given.incident.id, "note by " + call.who.name, given.reason),
                     given.reason));
  return show_later(b, call, given.incident);
}

Result<Later> hold_incident(Backend& b, const Call& call) { return set_held(b, call, true); }

/// One that no person holds does not go on by this: what it waits for is another decision.
Result<Later> resume_incident(Backend& b, const Call& call) {
  const auto given = TRY(read_call(b, call));
  TRY_VOID(require_open(given.incident));
  if (given.incident.held) return set_held(b, call, false);
  const Node* node = b.reg().find(given.incident.node);
  std::string remedy = "what it waits for: tundish ";
  remedy += node ? "node explain " + node->meta.name : "incident show " + given.incident.id.str();
  for (const auto& [id, proposal] : b.reg().all<Proposal>()) {
    if (proposal.group != given.incident.id.str()) continue;
    if (proposal.state == ProposalState::denied || proposal.state == ProposalState::waiting) {
      remedy = "it waits for a decision: tundish proposal approve " + id.str();
    }
  }
  return make_error(Code::conflict, "no person holds incident " + given.incident.meta.name)
      .about("incident/" + given.incident.meta.name)
      .with_remedy(remedy);
}

Result<Later> close_incident_call(Backend& b, const Call& call) {
  const auto given = TRY(read_call(b, call));
  TRY_VOID(b.perform(call, *close_incident(given.incident.id), given.reason));
  return show_later(b, call, given.incident);
}

Result<Later> release_claim_call(Backend& b, const Call& call) {
  const auto asked = TRY(parse_body<ReasonRequest>(call));
  const Claim claim = TRY((get_matching<Claim>(b, call, call.parts.at(0))));
  const std::string reason = asked.reason.empty() ? call.header("x-reason") : asked.reason;
  const bool own = claim.holder == "person:" + call.who.name;
  if (!own && !asked.force) {
    return make_error(Code::conflict, "claim " + claim.meta.name + " is held by " + claim.holder)
        .about("claim/" + claim.meta.name)
        .with_remedy("its holder releases it; an operator may add --force --reason TEXT");
  }
  if (!own && !may(call.who, Right::force)) {
    return make_error(Code::denied, "only role operator may force a claim of " + claim.holder)
        .about("claim/" + claim.meta.name);
  }
  if (!own && reason.empty()) {
    return make_error(Code::invalid, "forcing a claim needs a reason").with_remedy("add --reason");
  }
  const ClaimState state = own ? ClaimState::released : ClaimState::overridden;
  TRY_VOID(b.perform(call, *release_claim(claim.id, state), reason));
  return show_later(b, call, claim);
}

}  // namespace tundish::edge::api
