// The manager's part in what BMCs show: who is read when, and what becomes of it.
#include "control/manager.hpp"
#include "model/ops/health_ops.hpp"

namespace tundish::control {
namespace {

/// One look that fails is told by nobody: a BMC that restarts is back at the next.
constexpr int failures_told = 2;
/// Looks that begin in one beat; the others follow in the next ones.
constexpr int looks_at_once = 64;
constexpr Duration next_looks = seconds(1);

bool is_watched(const Node& node) {
  return !node.spec.bmc_address.empty() && node.status.phase != NodePhase::retired;
}

}  // namespace

/// A node that is not listed yet is read at the next beat.
void Manager::want_bmc(const NodeId& id) {
  if (!parts_.judge_bmc || bmc_failures_.contains(id)) return;
  const Node* node = parts_.ledger.view().find(id);
  if (!node || !is_watched(*node)) return;
  bmc_failures_[id] = 0;
  bmc_due_.insert({parts_.scheduler.now(), id});
  arm();
}

void Manager::list_bmcs() {
  for (const auto& [id, node] : parts_.ledger.view().all<Node>()) want_bmc(id);
}

void Manager::read_bmcs(Instant now) {
  for (int begun = 0; !bmc_due_.empty() && bmc_due_.begin()->first <= now; ++begun) {
    const NodeId id = bmc_due_.begin()->second;
    bmc_due_.erase(bmc_due_.begin());
    const Node* node = parts_.ledger.view().find(id);
    if (!node || !is_watched(*node)) {
      bmc_failures_.erase(id);
    } else if (begun >= looks_at_once) {
      bmc_due_.insert({now + next_looks, id});
    } else {
      // In case no answer ever comes; the answer moves it.
      bmc_due_.insert({now + parts_.limits.bmc_idle_interval, id});
      runner_.read_bmc(id, node->spec.bmc_address);
    }
  }
}

void Manager::on_bmc(const NodeId& id, const Result<BmcReading>& reading) {
  const Node* node = parts_.ledger.view().find(id);
  const auto listed = bmc_failures_.find(id);
  if (!node || listed == bmc_failures_.end() || !parts_.judge_bmc) return;
  std::erase_if(bmc_due_, [&](const auto& due) { return due.second == id; });
  // Nothing can be read there, today or tomorrow: that is no failure of a BMC.
  if (!reading && reading.error().code == Code::unsupported) return;
  listed->second = reading ? 0 : listed->second + 1;
  const bool idle = reading && reading->leaks.empty();
  const Instant now = parts_.scheduler.now();
  bmc_due_.insert(
      {now + (idle ? parts_.limits.bmc_idle_interval : parts_.limits.bmc_interval), id});
  if (reading || listed->second >= failures_told) {
    CheckSample sample;
    sample.now = now;
    if (reading) sample.leaks = reading->leaks;
    if (!reading) sample.faults["leaks"] = reading.error().message();
    const auto verdicts = parts_.judge_bmc(sample);
    if (is_bmc_news(*node, verdicts)) {
      (void)parts_.ledger.perform(*record_bmc_verdicts(id, verdicts), "controller:bmc",
                                  "what the BMC shows");
      schedule_pump();
    }
  }
  arm();
}

}  // namespace tundish::control
