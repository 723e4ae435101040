// The manager's part in proposals: what nobody wants any more waits for nobody.
#include <algorithm>

#include "control/manager.hpp"
#include "control/permit/permit.hpp"
#include "model/ops/governance_ops.hpp"

namespace tundish::control {

/// What an allocation or a cluster wanted at its last look. Others' approvals cover several acts.
void Manager::note_groups(const Key& key, const std::vector<Action>& actions) {
  if (key.first != Kind::allocation && key.first != Kind::cluster) return;
  std::set<std::string> groups;
  for (const auto& action : actions) {
    if (is_of_order(action.group)) groups.insert(action.group);
  }
  if (groups.empty()) {
    wanted_groups_.erase(key);
  } else {
    wanted_groups_[key] = std::move(groups);
  }
}

/// A restore is moot when a fresh look at its place shows nothing of that drift; without a look
/// nobody knows.
bool Manager::is_wanted(const Proposal& proposal) const {
  const std::string place = network::restored_place(proposal.group);
  if (place.empty()) {
    return std::any_of(wanted_groups_.begin(), wanted_groups_.end(), [&](const auto& known) {
      return known.second.contains(proposal.group);
    });
  }
  for (const auto& [fabric, keys] : wanted_restores_) {
    if (keys.contains(proposal.group)) return true;
  }
  const auto is_fresh = [&](const auto& seen) {
    const auto found = seen.find(place);
    return found != seen.end() && found->second.at.is_set() &&
           parts_.scheduler.now() - found->second.at <= network::stale_after;
  };
  const Registry& reg = parts_.ledger.view();
  const bool gone = !reg.find_named<Switch>(place) && !reg.find_named<Fabric>(place);
  return !gone && !is_fresh(seen_.switches) && !is_fresh(seen_.fabrics);
}

/// After a pump: everything that is there was looked at since the start.
void Manager::close_moot_proposals() {
  const Registry& reg = parts_.ledger.view();
  std::vector<Id<Proposal>> moot;
  for (const auto& [id, proposal] : reg.all<Proposal>()) {
    const bool stands =
        proposal.state == ProposalState::waiting || proposal.state == ProposalState::approved;
    if (!stands || !is_of_order(proposal.group)) continue;
    const bool wanted = is_wanted(proposal);
    // In flight it is not decided anew, and its end closes it.
    if (!wanted && !runner_.is_running(proposal.action_key)) moot.push_back(id);
  }
  for (const auto& id : moot) {
    (void)parts_.ledger.perform(*close_proposal(id, "not needed any more"),
                                "controller:proposals", "what is seen is as wanted");
  }
}

}  // namespace tundish::control
