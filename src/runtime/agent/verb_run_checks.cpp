#include <algorithm>
#include <chrono>
#include <thread>

#include "model/ops/active_ops.hpp"
#include "runtime/agent/active_run.hpp"
#include "runtime/agent/check_job.hpp"
#include "runtime/agent/sample_maker.hpp"
#include "runtime/agent/verbs.hpp"

namespace tundish::agent {
namespace {

/// A port may take so long from the node's start to its link, and from its link to the subnet
/// manager's word.
constexpr Duration link_patience = seconds(5);
constexpr Duration manager_patience = seconds(20);

/// The HCAs once as many are active as there should be, or as they are when patience ends.
Result<std::vector<HcaPort>> settled_hcas(const VerbTools& tools, int expected) {
  const Deadline for_link(link_patience);
  const Deadline for_manager(manager_patience);
  for (;;) {
    auto hcas = tools.gatherer.hcas();
    if (!hcas) return hcas;
    const auto active = std::count_if(hcas->begin(), hcas->end(),
                                      [](const HcaPort& port) { return port.is_active(); });
    const bool waits = std::any_of(hcas->begin(), hcas->end(),
                                   [](const HcaPort& port) { return port.waits_for_manager(); });
    const Deadline& deadline = waits ? for_manager : for_link;
    const bool settled = active >= expected && !waits;
    if (settled || deadline.left() <= milliseconds(200)) return hcas;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
}

/// Waits for ports that are about to come, so that a node that has just booted is not failed.
void settle_hcas(const VerbTools& tools, int expected) {
  if (expected > 0) (void)settled_hcas(tools, expected);
}

/// Taken now: whoever asks wants no earlier look.
GpuLook look_at_gpus(const VerbTools& tools) {
  GpuLook out;
  auto gpus = tools.gatherer.gpus();
  out.at = tools.now();
  if (gpus) {
    out.gpus = std::move(*gpus);
  } else {
    out.fault = gpus.error().message();
    out.hangs = gpus.error().code == Code::timeout;
  }
  return out;
}

CheckSample gather_sample(const RunChecks& asked, const VerbTools& tools) {
  settle_hcas(tools, asked.expect.hca_count);
  return tools.samples->make(asked.expect, needs_of(tools.checks, asked.checks),
                             look_at_gpus(tools));
}

/// Gives its lease back when the run is over.
class Holding {
 public:
  Holding(LeaseBox& box, const std::string& key, Duration life)
      : box_(box), key_(key), leash_(box.begin(key, life)) {}
  Holding(const Holding&) = delete;
  Holding& operator=(const Holding&) = delete;
  ~Holding() { box_.end(key_); }
  process::Leash& leash() const { return *leash_; }

 private:
  LeaseBox& box_;
  std::string key_;
  std::shared_ptr<process::Leash> leash_;
};

/// What active checks are judged by besides what their programs say.
constexpr std::string_view active_needs[] = {"gpus", "hcas", "nameplate", "limits"};

CheckJobEnd end_of(const std::vector<Verdict>& verdicts) {
  CheckJobEnd out = CheckJobEnd::passed;
  for (const auto& verdict : verdicts) {
    if (verdict.state == VerdictState::fail) return CheckJobEnd::failed;
    if (verdict.state == VerdictState::unknown) out = CheckJobEnd::unknown;
  }
  return out;
}

std::vector<Verdict> all_preempted(const RunChecks& asked, const std::string& why, Instant at) {
  std::vector<Verdict> out;
  for (const auto& check : asked.active) out.push_back(make_preempted(check, why, at));
  return out;
}

/// On a tenant's node: the engine's job holds it, or nothing runs.
Result<std::vector<Verdict>> judge_in_cluster(const VerbCall& call, const VerbTools& tools,
                                              process::Leash& leash, CheckSample& sample) {
  const RunChecks& asked = *call.run_checks;
  CheckJobPlan plan;
  plan.work = *asked.work;
  plan.gpus = asked.expect.gpu_count;
  plan.limit = milliseconds(call.limit_ms);
  auto job = CheckJob::begin(plan, tools.config, leash);
  if (!job && job.error().code == Code::exhausted) {
    return all_preempted(asked, job.error().what, tools.now());
  }
  if (!job) return job.error();
  run_active(asked.active, tools.config, leash, sample);
  if ((*job)->is_ended()) {
    // First of all: whoever wants the node waits for us.
    (*job)->end(CheckJobEnd::unknown);
    const std::string why = (*job)->ended_why();
    for (auto& run : *sample.active) {
      if (run.end == ToolEnd::preempted) run.err = why;
    }
  }
  auto verdicts = tools.judge(sample, asked.active);
  (*job)->end(end_of(verdicts));
  return verdicts;
}

Result<std::vector<Verdict>> judge_active(const VerbCall& call, const VerbTools& tools) {
  const RunChecks& asked = *call.run_checks;
  if (!asked.is_leased()) return make_error(Code::invalid, "active checks run under a lease only");
  const Holding holding(*tools.leases, call.key, milliseconds(asked.lease_ms));
  CheckSample sample = tools.samples->make(
      asked.expect, {std::begin(active_needs), std::end(active_needs)}, look_at_gpus(tools));
  sample.pair = asked.pair;
  if (tools.config.shares_machine) sample.faults["shared"] = "the disk is another machine's";
  if (asked.work) return judge_in_cluster(call, tools, holding.leash(), sample);
  run_active(asked.active, tools.config, holding.leash(), sample);
  return tools.judge(sample, asked.active);
}

}  // namespace

Result<VerbNote> verb_run_checks(const VerbCall& call, const VerbTools& tools) {
  if (!call.run_checks) return make_error(Code::invalid, "run_checks has no arguments");
  VerbNote note;
  if (!call.run_checks->only_active) {
    const CheckSample sample = gather_sample(*call.run_checks, tools);
    note.verdicts = tools.judge(sample, call.run_checks->checks);
  }
  if (call.run_checks->active.empty()) return note;
  for (auto& verdict : TRY(judge_active(call, tools))) note.verdicts.push_back(std::move(verdict));
  return note;
}

}  // namespace tundish::agent
