#pragma once
#include "model/ops/common.hpp"

namespace tundish {

OperationPtr set_hold(std::string scope, std::string reason, Instant until);
OperationPtr release_hold(Id<Hold> hold);
OperationPtr set_authority(std::string scope, std::string action_class, AuthorityLevel level);
/// One proposal per group waits at a time; a second call changes nothing.
OperationPtr open_proposal(Proposal proposal);
OperationPtr decide_proposal(Id<Proposal> proposal, ProposalState decision);
/// It is done, or nobody wants it any more: one that waits expires, and an approval covers no
/// further act.
OperationPtr close_proposal(Id<Proposal> proposal, std::string why);

/// Scopes are "*" or KIND:NAME with a known kind.
Result<> require_scope(const std::string& scope);

}  // namespace tundish
