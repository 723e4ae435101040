#pragma once
// Bodies of what people around faults use: maintenance, reports, shift report, lemons, evidence.
//
// POST /v1/maintenances      MaintenanceRequest  -> maintenance
// POST /v1/maintenances/M/end ReasonRequest      -> maintenance (the checks decide when it is over)
// POST /v1/node_reports      NodeReportRequest   -> node_report
// GET  /v1/shift-report?since_s=                 -> ShiftReport
// GET  /v1/lemons                                -> [LemonRow]
// POST /v1/incidents/I/bundle ReasonRequest      -> BundleAnswer
#include <string>
#include <vector>

#include "base/describe.hpp"

namespace tundish::edge {

struct MaintenanceRequest {
  std::string scope, reason;
  Instant begin, end;
  std::string owner = "nobody";
  void fields(Fields& f) {
    f(1, "scope", scope, "node:N, rack:R, switch:W or site:S");
    f(2, "reason", reason, "why");
    f(3, "begin", begin, "when it begins; empty: now");
    f(4, "end", end, "when it should be over");
    f(5, "owner", owner, "whose time it is: provider, tenant, vendor or nobody");
  }
};

struct NodeReportRequest {
  std::string node, job, text;
  void fields(Fields& f) {
    f(1, "node", node, "name or id; empty: the node of the job that stands out is looked for");
    f(2, "job", job, "job that suffers");
    f(3, "text", text, "what is wrong, in words");
  }
};

struct ShiftLine {
  std::string what, object, detail, by;
  Instant at;
  void fields(Fields& f) {
    f(1, "what", what, "kind of line");
    f(2, "object", object, "what it is about");
    f(3, "detail", detail, "in words");
    f(4, "by", by, "who did it, or who has to");
    f(5, "at", at, "when");
  }
};

struct ShiftCount {
  std::string actor, operation;
  int count = 0;
  void fields(Fields& f) {
    f(1, "actor", actor, "who");
    f(2, "operation", operation, "what");
    f(3, "count", count, "how often");
  }
};

struct SpareRow {
  std::string cluster;
  int wanted = 0, ready = 0;
  void fields(Fields& f) {
    f(1, "cluster", cluster, "cluster");
    f(2, "wanted", wanted, "spares ordered");
    f(3, "ready", ready, "spares that could take over now");
  }
};

struct ShiftReport {
  Instant since, until;
  std::vector<ShiftLine> incidents, acts, waiting, claims, maintenance, drills;
  std::vector<ShiftCount> done;
  std::vector<SpareRow> spares;
  int free_nodes = 0;
  bool complete = true;
  void fields(Fields& f) {
    f(1, "since", since, "begin of the shift");
    f(2, "until", until, "when the report was made");
    f(3, "incidents", incidents, "opened in the shift, or still open");
    f(4, "acts", acts, "what was done to nodes, and how it ended");
    f(5, "waiting", waiting, "what waits for a person");
    f(6, "claims", claims, "nodes that are out of service");
    f(7, "maintenance", maintenance, "windows of the shift, under way and planned");
    f(8, "drills", drills, "faults injected on purpose");
    f(9, "done", done, "operations by actor");
    f(10, "spares", spares, "left, by cluster");
    f(11, "free_nodes", free_nodes, "nodes that placement may hand out now");
    f(12, "complete", complete, "false: the history of the shift is longer than what was read");
  }
};

struct LemonRow {
  std::string node;
  int incidents = 0, rmas = 0, failed_revalidations = 0;
  bool lemon = false;
  std::string why, proposal;
  std::int64_t per_month_tenths = 0, fleet_tenths = 0;
  void fields(Fields& f) {
    f(1, "node", node, "name");
    f(2, "incidents", incidents, "with a hardware witness, in 90 days; drills do not count");
    f(3, "rmas", rmas, "in 90 days");
    f(4, "failed_revalidations", failed_revalidations, "in 90 days");
    f(5, "per_month_tenths", per_month_tenths, "incidents a month, in tenths");
    f(6, "fleet_tenths", fleet_tenths, "the same of the rest of the fleet");
    f(7, "lemon", lemon, "more than chance explains");
    f(8, "why", why, "in words");
    f(9, "proposal", proposal, "proposal that waits for a person; empty: none");
  }
};

struct BundleAnswer {
  std::string name, sha256, text;
  void fields(Fields& f) {
    f(1, "name", name, "name for the file");
    f(2, "sha256", sha256, "of the text; the history keeps it");
    f(3, "text", text, "the bundle: JSON");
  }
};

/// What the vendor gets. Nothing of a tenant is in it: no names, jobs, processes or networks.
struct EvidenceStep {
  Instant at, until;
  std::string what, outcome, detail;
  void fields(Fields& f) {
    f(1, "at", at, "when it began");
    f(2, "until", until, "when it ended");
    f(3, "what", what, "state, act or event");
    f(4, "outcome", outcome, "of an act");
    f(5, "detail", detail, "what is known of it");
  }
};

struct EvidenceWitness {
  Instant at;
  std::string source, provenance, boot_id, device, text;
  std::int64_t seq = 0, repeat = 1;
  int code = 0;
  void fields(Fields& f) {
    f(1, "at", at, "when it was read");
    f(2, "source", source, "where");
    f(3, "provenance", provenance, "who could have written it");
    f(4, "boot_id", boot_id, "boot of the kernel");
    f(5, "seq", seq, "record number in that boot");
    f(6, "repeat", repeat, "sightings it stands for");
    f(7, "device", device, "PCI address");
    f(8, "code", code, "XID or SXid");
    f(9, "text", text, "kernel line, without process names");
  }
};

struct EvidencePart {
  std::string what, serial, uuid, model, place;
  void fields(Fields& f) {
    f(1, "what", what, "chassis or gpu");
    f(2, "serial", serial, "serial");
    f(3, "uuid", uuid, "UUID of a GPU");
    f(4, "model", model, "product name");
    f(5, "place", place, "PCI address, or rack and position");
  }
};

struct EvidenceVerdict {
  Instant at;
  std::string check, state, reason, evidence;
  void fields(Fields& f) {
    f(1, "at", at, "when");
    f(2, "check", check, "name of the check");
    f(3, "state", state, "ok, warn, fail or unknown");
    f(4, "reason", reason, "why");
    f(5, "evidence", evidence, "what was read");
  }
};

struct EvidenceBundle {
  int version = 1;
  std::string incident, node, fault, device, state, policy;
  int policy_version = 0;
  bool drill = false, hardware_witness = false;
  Instant opened_at, made_at;
  std::vector<EvidencePart> parts;
  std::vector<EvidenceWitness> witnesses;
  std::int64_t witnesses_dropped = 0;
  std::vector<EvidenceVerdict> verdicts;
  std::vector<EvidenceStep> timeline;
  void fields(Fields& f) {
    f(1, "version", version, "of this format");
    f(2, "incident", incident, "id");
    f(3, "node", node, "name");
    f(4, "fault", fault, "what happened");
    f(5, "device", device, "PCI address of the accused part");
    f(6, "state", state, "of the incident");
    f(7, "policy", policy, "remediation policy that was followed");
    f(8, "policy_version", policy_version, "its version");
    f(9, "drill", drill, "injected on purpose: no case for a vendor");
    f(10, "hardware_witness", hardware_witness, "seen by the kernel, a probe or the BMC");
    f(11, "opened_at", opened_at, "when");
    f(12, "made_at", made_at, "when the bundle was made");
    f(13, "parts", parts, "with serials");
    f(14, "witnesses", witnesses, "what was seen");
    f(15, "witnesses_dropped", witnesses_dropped, "further identical ones");
    f(16, "verdicts", verdicts, "of the last checks");
    f(17, "timeline", timeline, "what was tried");
  }
};

}  // namespace tundish::edge
