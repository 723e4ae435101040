#include "model/ops/governance_ops.hpp"
#include "base/quote.hpp"

namespace tundish {

Result<> require_scope(const std::string& scope) {
  if (scope == "*") return {};
  for (const char* kind :
       {"site:", "rack:", "tenant:", "cluster:", "switch:", "fabric:", "node:"}) {
    if (scope.starts_with(kind) && scope.size() > std::string_view(kind).size()) return {};
  }
  return make_error(Code::invalid, in_quotes(scope) + " is no scope")
      .with_remedy(
          "use *, site:NAME, rack:NAME, tenant:NAME, cluster:NAME, switch:NAME, fabric:NAME or "
          "node:NAME");
}

OperationPtr set_hold(std::string scope, std::string reason, Instant until) {
  const std::string object = "hold/" + scope;
  return make_operation("set_hold", object, [=](Txn& txn) -> Result<> {
    TRY_VOID(require_scope(scope));
    if (reason.empty()) {
      return make_error(Code::invalid, "a hold needs a reason").with_remedy("add --reason TEXT");
    }
    Hold hold;
    hold.id = txn.make_id<Hold>();
    hold.meta.name = hold.id.str();
    hold.scope = scope;
    hold.reason = reason;
    hold.until = until;
    txn.put(std::move(hold));
    return {};
  });
}

OperationPtr release_hold(Id<Hold> id) {
  return make_operation("release_hold", "hold/" + id.str(), [id](Txn& txn) -> Result<> {
    TRY(get_object(txn, id));
    txn.erase(id);
    return {};
  });
}

OperationPtr set_authority(std::string scope, std::string action_class, AuthorityLevel level) {
  const std::string object = "authority/" + scope;
  return make_operation("set_authority", object, [=](Txn& txn) -> Result<> {
    TRY_VOID(require_scope(scope));
    bool known = action_class == "*";
    std::string classes;
    for (const auto name : enum_names(ActionClass{})) {
      known = known || name == action_class;
      classes += ", " + std::string(name);
    }
    if (!known) {
      return make_error(Code::invalid, in_quotes(action_class) + " is no class of action")
          .with_remedy("use *" + classes);
    }
    Authority authority;
    for (const auto& [id, other] : txn.view().all<Authority>()) {
      if (other.scope == scope && other.action_class == action_class) authority = other;
    }
    if (authority.id.empty()) {
      authority.id = txn.make_id<Authority>();
      authority.meta.name = authority.id.str();
      authority.scope = scope;
      authority.action_class = action_class;
    } else if (authority.level == level) {
      return {};
    }
    authority.level = level;
    txn.put(std::move(authority));
    return {};
  });
}

OperationPtr open_proposal(Proposal proposal) {
  const std::string object = "proposal/" + proposal.group;
  return make_operation("open_proposal", object, [=](Txn& txn) -> Result<> {
    for (const auto& [id, other] : txn.view().all<Proposal>()) {
      if (other.group != proposal.group) continue;
      if (other.state == ProposalState::waiting && other.expires_at > txn.now()) return {};
    }
    Proposal copy = proposal;
    copy.id = txn.make_id<Proposal>();
    copy.meta.name = copy.id.str();
    copy.state = ProposalState::waiting;
    txn.put(std::move(copy));
    return {};
  });
}

namespace {

/// What a decision that stands leaves to do.
Error decided_error(const Proposal& proposal) {
  const std::string id = proposal.id.str();
  std::string remedy = "to stop what it lets through: tundish hold set --reason ...";
  if (proposal.state == ProposalState::denied) {
    remedy = "to let it happen after all: tundish proposal approve " + id;
  } else if (proposal.state == ProposalState::expired) {
    remedy = "what is still wanted is asked anew: tundish proposal list";
  }
  return make_error(Code::conflict, "proposal " + id + " is decided already").with_remedy(remedy);
}

/// Nobody asks again for what was denied, so the one who may change the mind does it here. Of what
/// is over there is nothing to let through.
Result<> require_wanted(const Registry& view, const Proposal& proposal) {
  const Incident* incident = view.find(IncidentId(proposal.group));
  const bool over = incident && incident->state != IncidentState::open;
  if (!proposal.group.empty() && !over) return {};
  return make_error(Code::conflict, "what proposal " + proposal.id.str() +
                                        " would let through is over: nothing is left to do");
}

}  // namespace

/// A denial stands until a person changes it; an approval may be under way.
OperationPtr decide_proposal(Id<Proposal> id, ProposalState decision) {
  return make_operation("decide_proposal", "proposal/" + id.str(), [=](Txn& txn) -> Result<> {
    Proposal proposal = TRY(get_object(txn, id));
    const bool rethought =
        proposal.state == ProposalState::denied && decision == ProposalState::approved;
    if (proposal.state != ProposalState::waiting && !rethought) return decided_error(proposal);
    if (rethought) TRY_VOID(require_wanted(txn.view(), proposal));
    if (!rethought && decision != ProposalState::expired && proposal.expires_at <= txn.now()) {
      return make_error(Code::conflict, "proposal " + id.str() + " has expired")
          .with_remedy("what is still wanted is asked anew: tundish proposal list");
    }
    proposal.state = decision;
    proposal.decided_by = txn.actor();
    txn.put(std::move(proposal));
    return {};
  });
}

OperationPtr close_proposal(Id<Proposal> id, std::string why) {
  return make_operation("close_proposal", "proposal/" + id.str(), [=](Txn& txn) -> Result<> {
    Proposal proposal = TRY(get_object(txn, id));
    const bool waits = proposal.state == ProposalState::waiting;
    const bool covers = proposal.state == ProposalState::approved && !proposal.group.empty();
    if (!waits && !covers) return {};
    if (waits) proposal.state = ProposalState::expired;
    proposal.group.clear();
    proposal.reason += "; " + why;
    txn.put(std::move(proposal));
    return {};
  });
}

}  // namespace tundish
