#include <cerrno>

#include "families/checks/check_parts.hpp"

namespace tundish::checks {
namespace {

struct Found {
  std::string bad, unclear;
};

void look(const MountProbe& probe, Found& found) {
  const std::string place = " " + probe.target + ": ";
  switch (probe.state) {
    case MountState::absent: found.bad += place + "not mounted;"; return;
    case MountState::hung: found.bad += place + "no answer to " + probe.step + ";"; return;
    case MountState::failed: break;
    case MountState::answered:
      if (probe.read_only) found.bad += place + "read-only;";
      return;
  }
  // An export may refuse to let root write: that says nothing about the storage.
  const bool refused = probe.error_number == EACCES || probe.error_number == EPERM;
  const bool tool = probe.step == "probe";
  (refused || tool ? found.unclear : found.bad) += place + probe.step + ": " + probe.error + ";";
}

Verdict judge_node(const CheckSample& sample) {
  if (!sample.mounts) return make_unknown("storage", sample.mounts_fault);
  if (sample.mounts->empty()) return nothing_asked(sample, "what storage it is to have");
  Found found;
  for (const auto& probe : *sample.mounts) look(probe, found);
  if (!found.bad.empty()) {
    return make_verdict(VerdictState::fail, "storage cannot be used", found.bad + found.unclear);
  }
  if (!found.unclear.empty()) {
    return make_verdict(VerdictState::unknown, "storage could not be tried", found.unclear);
  }
  return make_verdict(VerdictState::ok, "every export answers reads and writes");
}

Verdicts judge(const CheckSample& sample) { return {judge_node(sample)}; }

}  // namespace

extern const Check storage_mount;
const Check storage_mount{
    "storage_mount",
    "Every export of the cluster is mounted and answers a write, a read and a removal in time.",
    "mount table and a probe in a child with a deadline; facts/health.md section 2 (NHC #77)",
    "one file of 4 KiB per export, removed at once; a hung export costs one waiting process",
    {"mounts"},
    judge,
    Resource::storage_client,
    Locality::symptom,
    seconds(60),
    Gate::serve};

}  // namespace tundish::checks
