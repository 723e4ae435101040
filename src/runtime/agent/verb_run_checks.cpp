#include <algorithm>
#include <chrono>
#include <thread>

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
  if (gpus)
    out.gpus = std::move(*gpus);
  else
    out.fault = gpus.error().message();
  return out;
}

/// Checks that gate are judged from these.
constexpr std::string_view gate_needs[] = {"gpus",   "hcas",   "hardware",
                                           "events", "mounts", "nameplate"};

CheckSample gather_sample(const RunChecks& asked, const VerbTools& tools) {
  settle_hcas(tools, asked.expect.hca_count);
  auto needs = needs_of(tools.checks, asked.checks);
  if (asked.checks.empty()) needs = {std::begin(gate_needs), std::end(gate_needs)};
  return tools.samples->make(asked.expect, needs, look_at_gpus(tools));
}

}  // namespace

Result<VerbNote> verb_run_checks(const VerbCall& call, const VerbTools& tools) {
  if (!call.run_checks) return make_error(Code::invalid, "run_checks has no arguments");
  const CheckSample sample = gather_sample(*call.run_checks, tools);
  VerbNote note;
  note.verdicts = tools.judge(sample, call.run_checks->checks);
  return note;
}

}  // namespace tundish::agent
