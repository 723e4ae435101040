#include "model/incident.hpp"

namespace tundish {

void Incident::fields(Fields& f) {
  f(1, "id", id, "ours");
  f(2, "node", node, "node that was blamed");
  f(3, "allocation", allocation, "allocation that held the node when it opened");
  f(4, "fault", fault, "what happened, for example xid 79");
  f(5, "device", device, "device as the witness named it; empty: unknown");
  f(6, "action", action, "first repair that the catalogue asks for");
  f(7, "device_lost", device_lost, "whether a job on the device cannot go on");
  f(8, "hardware_witness", hardware_witness,
    "whether the kernel, a probe, the engine or the BMC saw it; without, nothing is reset");
  f(9, "drill", drill, "injected on purpose");
  f(10, "blame", blame, "part that is blamed and on what evidence");
  f(11, "state", state, "open, resolved, rma, overridden or closed");
  f(12, "policy_state", policy_state, "state of the remediation policy");
  f(13, "policy_since", policy_since, "when it entered that state");
  f(14, "entries", entries, "how often each state was entered; budgets read it");
  f(15, "witnesses", witnesses, "what was seen, first ones kept");
  f(16, "witnesses_dropped", witnesses_dropped, "further identical ones, counted only");
  f(17, "timeline", timeline, "every step with its time");
  f(18, "verdicts", verdicts, "latest revalidation");
  f(19, "jobs", jobs, "jobs that were hit");
  f(20, "boot_id_at_entry", boot_id_at_entry, "boot id of the node when the state was entered");
  f(21, "replacement", replacement, "spare that took the place");
  f(22, "opened_at", opened_at, "when it entered the store");
  f(23, "detected_at", detected_at, "when the agent read the first witness");
  f(24, "resolved_at", resolved_at, "when the node was returned, or the RMA was opened");
  f(25, "member_short_since", member_short_since, "since when the tenant was a member short");
  f(26, "member_restored_at", member_restored_at, "when the replacement served");
  f(27, "held", held, "a person stopped automatic steps on this incident");
  f(28, "meta", meta, "name, revision");
  f(29, "last_witness_at", last_witness_at, "when the newest hardware witness was stored");
  f(30, "node_name", node_name,
    "name of the node; filled in when it is read, where it may be seen");
  f(31, "blamed", blamed, "part that is blamed, with evidence, cleared parts and doubts");
  f(32, "subject_kind", subject_kind,
    "what it is about: node, switch, storage, domain, job, engine, rack or site");
  f(33, "subject", subject, "which one; empty: the node");
  f(34, "affected", affected, "nodes that showed it; an incident on a shared part claims none");
  f(35, "allocations", allocations, "allocations of the affected nodes");
}

}  // namespace tundish
