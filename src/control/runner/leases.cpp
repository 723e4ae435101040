// The runner's part in active checks: which leases hold, taking them back, and what came out.
#include <algorithm>

#include "base/log.hpp"
#include "control/runner/runner.hpp"
#include "model/ops/active_ops.hpp"
#include "model/ops/incident_ops.hpp"

namespace tundish::control {

void Runner::end_leases(const View& view) {
  std::vector<ActiveRun> over;
  for (const auto& [key, leased] : leased_) {
    if (ended_leases_.contains(key)) continue;
    std::string why = reason_to_end(view, leased.run);
    if (why.empty() && leased.run.asked_by.empty()) {  // a hold, or authority that was taken away
      const Permit leave = permit(leased.action, view, {});
      if (leave.leave == Leave::refuse) why = leave.reason;
    }
    if (why.empty()) continue;
    ended_leases_[key] = why;
    over.push_back(leased.run);
  }
  for (const auto& run : over) {
    log(LogLevel::info, "lease_ended", {{"key", run.key}, {"why", ended_leases_[run.key]}});
    drivers_.agents.stop(run.node, run.call_key);
  }
}

Result<> Runner::end_lease(const std::string& key, const std::string& why) {
  const auto found = leased_.find(key);
  if (found == leased_.end()) return make_error(Code::not_found, "no active run " + key);
  ended_leases_[key] = why;
  const ActiveRun run = found->second.run;
  drivers_.agents.stop(run.node, run.call_key);
  return {};
}

std::vector<ActiveRun> Runner::active_runs() const {
  std::vector<ActiveRun> out;
  for (const auto& [key, leased] : leased_) out.push_back(leased.run);
  return out;
}

/// A run that we ended says nothing of the node; nor does one whose agent was away.
void Runner::complete_leased(const Action& action, Result<VerbResult>& result) {
  const auto found = leased_.find(action.key);
  if (found == leased_.end()) return;
  const ActiveRun run = std::move(found->second.run);
  leased_.erase(found);
  const auto ended = ended_leases_.extract(action.key);
  if (ended.empty()) return;
  VerbResult told;
  told.key = run.call_key;
  told.code = code_name(Code::unavailable);
  told.what = std::string(preempted_word) + ": " + ended.mapped();
  for (const auto& check : run.checks) {
    told.verdicts.push_back(make_preempted(check, ended.mapped(), scheduler_.now()));
  }
  result = std::move(told);
}

/// A part that is broken is a fault of the node, whoever asked. What may be another part's fault,
/// and what gave no answer, accuses nobody.
void Runner::record_active(const Action& action, const Result<VerbResult>& result) {
  if (!result || result->verdicts.empty()) return;
  std::vector<Verdict> failed;
  for (const auto& verdict : result->verdicts) {
    const bool ours = verdict.state == VerdictState::fail &&
                      verdict.locality == Locality::device_local;
    if (ours) failed.push_back(verdict);
  }
  const auto stored =
      perform(*record_active_run(action.node, result->verdicts), action, action.name);
  if (!stored) {
    log(LogLevel::warn, "result_not_recorded",
        {{"act", action.name}, {"why", stored.error().message()}});
  }
  if (failed.empty()) return;
  (void)perform(*open_probe_incident(action.node, std::move(failed)), action, action.reason);
}

/// Of a repair that was proved by active checks, what those said.
void Runner::record_proof(const Action& action, const VerbResult& result) {
  const RunChecks* asked = leased_checks(action);
  if (!asked) return;
  auto verdicts = result.verdicts;
  std::erase_if(verdicts, [&](const Verdict& verdict) {
    const auto& names = asked->active;
    return std::find(names.begin(), names.end(), verdict.check) == names.end();
  });
  if (verdicts.empty()) return;
  (void)perform(*record_active_run(action.node, std::move(verdicts)), action, action.name);
}

}  // namespace tundish::control
