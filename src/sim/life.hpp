#pragma once
// One incident of one node from its beginning to its end, under any policy, with acts that end as
// somebody says.
#include <string>
#include <vector>

#include "control/verify/verify.hpp"
#include "sim/site.hpp"

namespace tundish::sim {

/// How an act ends; `real`: as the simulated world has it.
enum class ActEnd { real, done, failed, silent };

struct LifePlan {
  std::string fault;
  bool hardware = true;
  bool claimed = false;  ///< by a person, before the fault
  bool job_stays = false;
  bool engine_answers = true;
  std::function<ActEnd(const std::string& action)> answer;
  /// Instead of ActEnd for checks; unset: none.
  std::optional<Verdict> verdict;
};

class Life {
 public:
  Life(const RemediationPolicy& policy, const XidCatalogue& catalogue, LifePlan plan);

  /// A site with a tenant's cluster of two; the incident opens on a member.
  Result<> begin();
  /// The same fault again: another incident.
  void begin_again();
  /// Less when the incident ended, or goes round and round.
  void wait(Duration most);
  enum class Moment { at_once, next };
  struct Deed {
    std::string state;
    int visit = 1;  ///< when the incident enters the state for the nth time
    Moment moment = Moment::next;
    std::function<void()> act;
  };
  /// At once: before the act of the state can begin; it must not write to the ledger.
  void when_entered(Deed deed) { deeds_.push_back(std::move(deed)); }

  const Incident* incident() const;
  /// States that it entered, in order.
  std::vector<std::string> lived() const;
  bool has_foreign_claim() const;
  int restarts() const { return power_; }
  const NodeId& node() const { return node_; }
  const IncidentId& id() const { return incident_; }
  Site& site() { return site_; }

 private:
  SimOptions options_for(const XidCatalogue& catalogue) const;
  bool pick_node();
  void script();
  void listen();
  void open();
  control::verify::KnownFault known_fault() const;
  std::optional<Result<VerbResult>> answer_verb(const VerbCall& call);
  std::optional<Result<>> answer_power();

  const RemediationPolicy& policy_;
  const XidCatalogue& catalogue_;
  LifePlan plan_;
  SimOptions options_;
  Site site_;
  NodeId node_;
  IncidentId incident_;
  int power_ = 0;
  std::map<std::string, int> visits_;
  std::vector<Deed> deeds_;
};

}  // namespace tundish::sim
