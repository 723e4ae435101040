#include "model/ops/incident_proof.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "model/ops/incident_parts.hpp"

namespace tundish {
namespace {

/// What proves a part after the kernel accused it; what every node must pass anyway is left out.
struct PartRow {
  Resource part;
  std::vector<std::string_view> checks;
};
const PartRow part_rows[] = {{Resource::gpu, {"recovery_action"}},
                             {Resource::gpu_memory, {"ecc", "row_remap"}},
                             {Resource::nvlink, {"nvlink_state", "nvlink_errors"}},
                             {Resource::nvswitch, {"nvswitch_fabric", "nvlink_state"}},
                             {Resource::power, {"gpu_power"}},
                             {Resource::pcie, {"pcie_replay"}}};

/// Checks that cannot be repeated as they are on a node that nobody holds, and what stands for
/// them there: heavy ones last longer than a proof may, others need a partner, a job or the BMC.
struct StandIn {
  std::string_view check;
  std::vector<std::string_view> passive;
  std::vector<std::string_view> active;
  VerdictState worst = VerdictState::warn;
};
const StandIn stand_ins[] = {
    {"gpu_work", {}, {"gpu_work"}},
    {"gpu_burn", {"gpu_temperature"}, {"gpu_work"}},
    {"dcgm_quick", {}, {"dcgm_quick"}},
    {"dcgm_diag", {}, {"dcgm_quick", "gpu_work"}},
    {"nvbandwidth", {}, {"nvbandwidth"}},
    {"nccl_local", {"nvlink_state", "nvlink_errors"}, {"gpu_work"}},
    {"nccl_pair", {"ib_port", "ib_counters"}, {}},
    {"ib_write_bw", {"ib_port", "ib_counters"}, {}},
    {"fio", {"disk_errors"}, {}},
    // That a GPU is slowed down is a warning anywhere else; here it is what was reported.
    {"job_peers", {"gpu_clocks", "gpu_throttle"}, {"gpu_work"}, VerdictState::ok},
    {"gpu_clocks", {"gpu_clocks"}, {"gpu_work"}, VerdictState::ok},
    {"gpu_throttle", {"gpu_throttle"}, {"gpu_work"}, VerdictState::ok},
    {"engine_drain", {"d_state"}, {}},
    {"leak", {}, {}}};

const StandIn* find_stand_in(const std::string& check) {
  const auto* found = std::find_if(std::begin(stand_ins), std::end(stand_ins),
                                   [&](const StandIn& row) { return row.check == check; });
  return found == std::end(stand_ins) ? nullptr : found;
}

/// A kernel event, not a check.
bool is_event(const std::string& what) {
  if (what.starts_with("xid ") || what.starts_with("sxid ")) return true;
  const auto names = enum_names(KernelEventKind{});
  return std::find(names.begin(), names.end(), what) != names.end();
}

/// Whether a node that serves nobody has the part at all.
bool is_of_node(Resource part) {
  switch (part) {
    case Resource::storage_client:
    case Resource::storage_server:
    case Resource::service:
    case Resource::process:
    case Resource::link:  // its switch holds the port; ib_port is asked of every node
    case Resource::leaf:
    case Resource::clock:
    case Resource::unknown: return false;
    default: return true;
  }
}

void add(Proof& proof, std::string_view check, VerdictState worst) {
  const auto [entry, fresh] = proof.passive.emplace(check, worst);
  if (!fresh && worst == VerdictState::ok) entry->second = worst;
}

void add_part(Proof& proof, Resource part) {
  for (const auto& row : part_rows) {
    if (row.part != part) continue;
    for (const auto check : row.checks) add(proof, check, VerdictState::warn);
  }
}

void add_events(const Incident& incident, Proof& proof) {
  for (const auto& witness : incident.witnesses) {
    const bool forged = witness.provenance == Provenance::userspace;
    if (forged || witness.kind != WitnessKind::event || witness.event.follow_up) continue;
    const KernelEvent& event = witness.event;
    if (event.kind == KernelEventKind::xid) add_part(proof, part_of_xid(event.code));
    if (event.kind == KernelEventKind::sxid) add_part(proof, Resource::nvswitch);
    if (event.kind == KernelEventKind::fallen_off_bus) add_part(proof, Resource::gpu);
  }
}

}  // namespace

Resource part_of_xid(int code) {
  // Source: facts/health.md section 1; checked 2026-11
  constexpr int programs[] = {8,  11, 13, 25, 31, 32, 37, 38, 39, 40, 41, 42,  43,  44,
                              45, 59, 60, 66, 67, 68, 69, 70, 71, 72, 80, 109, 137, 174};
  constexpr int memory[] = {48, 63, 64, 92, 94, 95, 140, 157, 168, 171, 172, 175};
  constexpr int links[] = {74, 136, 144, 145, 146, 147, 148, 149, 150, 155, 158};
  const auto in = [code](const auto& list) {
    return std::find(std::begin(list), std::end(list), code) != std::end(list);
  };
  if (in(programs)) return Resource::process;
  if (in(memory)) return Resource::gpu_memory;
  if (in(links)) return Resource::nvlink;
  if (code == 162 || code == 163 || code == 164 || code == 165) return Resource::power;
  if (code == 167 || code == 176) return Resource::pcie;
  return Resource::gpu;
}

std::set<std::string> failed_checks(const Incident& incident) {
  std::set<std::string> out;
  // The checks that opened it are in its name: `verdicts` are those of the newest run.
  const std::string_view fault = incident.fault;
  if (fault.starts_with(checks_failed_fault)) {
    for (auto& name : split(std::string(fault.substr(checks_failed_fault.size())), ',')) {
      const std::string check(trim(name));
      if (!check.empty()) out.insert(check);
    }
  }
  for (const auto& verdict : incident.verdicts) {
    // Asked for, and without an answer yet: it is asked again.
    const bool open = verdict.state == VerdictState::fail || verdict.state == VerdictState::unknown;
    if (open) out.insert(verdict.check);
  }
  if (!incident.blamed) return out;
  for (const auto& line : incident.blamed->evidence) {
    const bool of_part = line.part == incident.blamed->part && is_of_node(line.part);
    if (of_part && !line.what.empty() && !is_event(line.what)) out.insert(line.what);
  }
  return out;
}

Proof proof_of(const Incident& incident) {
  Proof out;
  for (const auto& check : failed_checks(incident)) {
    const StandIn* instead = find_stand_in(check);
    if (!instead) {
      add(out, check, VerdictState::warn);
      continue;
    }
    for (const auto name : instead->passive) add(out, name, instead->worst);
    out.active.insert(instead->active.begin(), instead->active.end());
  }
  add_events(incident, out);
  return out;
}

std::string unproved(const Proof& proof, const std::vector<Verdict>& verdicts) {
  for (const auto& [check, worst] : proof.passive) {
    bool measured = false;
    for (const auto& verdict : verdicts) {
      if (verdict.check != check) continue;
      measured = true;
      const bool good = verdict.state == VerdictState::ok || verdict.state == worst;
      if (!good) return check + ": " + verdict.reason;
    }
    if (!measured) return check + " was not measured";
  }
  return "";
}

}  // namespace tundish
