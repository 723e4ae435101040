#pragma once
// Bodies of the HTTP API, shared by the server and the command line. Objects travel as they are in
// the model; these are the requests and the few answers that are no object.
//
// GET  /healthz                                  -> 200 "ok"
// GET  /metrics                                  -> Prometheus text
// GET  /v1/status                                -> StatusReport
// GET  /v1/capacity                              -> [CapacityRow]
// GET  /v1/{nodes,racks,sites,switches,skus,cables,tenants,users,tokens,secrets,clusters,
//           allocations,claims,incidents,proposals,holds,authorities,pool_entries,
//           maintenances,notices,node_reports,rmas}
//                                                -> [object]; ?limit=&page= (page token: last id),
//                                                   answer header x-next-page when there is more
// GET  /v1/KIND/NAME_OR_ID                       -> object
// GET  /v1/watch?since=REV                       -> server-sent events {revision, kind, id, object}
// POST /v1/inventory/import  InventoryRequest    -> InventoryAnswer (200, or 422 with problems)
// GET  /v1/inventory/export?scope=               -> InventoryRequest (files)
// POST /v1/inventory/diff    InventoryRequest    -> InventoryAnswer
// POST /v1/nodes/N/{drain,return,replace,confirm,retire}  ReasonRequest -> node
// GET  /v1/nodes/N/explain                       -> Explanation
// POST /v1/tenants  TenantRequest -> tenant      DELETE /v1/tenants/T
// PUT  /v1/tenants/T/quota  QuotaRequest         -> tenant
// POST /v1/users    UserRequest   -> user        DELETE /v1/users/U
// POST /v1/tokens   TokenRequest  -> TokenAnswer DELETE /v1/tokens/X
// POST /v1/secrets  SecretRequest -> secret      DELETE /v1/secrets/X   (never shows the value)
// POST /v1/clusters ClusterRequest -> cluster    DELETE /v1/clusters/C  -> cluster
// POST /v1/clusters/C/scale ScaleRequest         -> cluster
// POST /v1/clusters/C/firewall FirewallRequest   -> cluster
// POST /v1/clusters/C/checks ChecksConsentRequest -> cluster
// GET  /v1/faults                                -> [FaultKind]
// POST /v1/faults   FaultRequest                 -> FaultAnswer
// POST /v1/incidents/I/{ack,note,hold,resume,close}  ReasonRequest -> incident
// POST /v1/claims/C/release  ReasonRequest       -> claim (force: role operator)
// POST /v1/proposals/P/{approve,deny} ReasonRequest -> proposal
// POST /v1/holds    HoldRequest -> hold          DELETE /v1/holds/H
// PUT  /v1/authorities AuthorityRequest          -> authority
// GET  /v1/history?after=&limit=&object=         -> [HistoryEntry]
// GET  /v1/history/verify                        -> HistoryVerdict
// POST /v1/backup   BackupRequest                -> BackupRequest
// Agents: POST /v1/agent/enrol, POST /v1/agent/sync, GET /v1/agent/verbs (model/verbs.hpp)
//
// Every request but /healthz and enrol carries `Authorization: Bearer TOKEN`. Headers on writes:
// Idempotency-Key (a repeat returns the first answer), If-Match: REVISION (409 when stale),
// X-Reason. With ?dry_run=true a write is checked as always and changes nothing; the answer, which
// carries the header x-dry-run, is what would come of it. Errors: ErrorBody with the HTTP status of
// its code.
#include <string>
#include <vector>

#include "base/describe.hpp"
#include "base/error.hpp"
#include "edge/api/contract_inventory.hpp"
#include "edge/api/contract_operations.hpp"
#include "edge/api/contract_reports.hpp"
#include "model/allocation.hpp"
#include "model/tenancy.hpp"

namespace tundish::edge {

struct ErrorBody {
  std::string code, message, object, remedy;
  std::int64_t retry_after_ms = 0;
  void fields(Fields& f) {
    f(1, "code", code, "invalid, not_found, conflict, denied, exhausted, unavailable, timeout ...");
    f(2, "message", message, "what went wrong, naming the object");
    f(3, "object", object, "kind/name it is about");
    f(4, "remedy", remedy, "what to do");
    f(5, "retry_after_ms", retry_after_ms, "0: a repeat will not help by itself");
  }
};

struct ReasonRequest {
  std::string reason;
  bool force = false;
  void fields(Fields& f) {
    f(1, "reason", reason, "why; kept in the history");
    f(2, "force", force, "also against another holder");
  }
};

struct TenantRequest {
  std::string name;
  int gpu_quota = 0;
  void fields(Fields& f) {
    f(1, "name", name, "letters, digits, - and _");
    f(2, "gpu_quota", gpu_quota, "GPUs; spares do not count");
  }
};

struct QuotaRequest {
  int gpus = 0;
  void fields(Fields& f) { f(1, "gpus", gpus, "new quota"); }
};

struct UserRequest {
  std::string tenant, name;
  std::vector<std::string> ssh_keys;
  void fields(Fields& f) {
    f(1, "tenant", tenant, "name or id");
    f(2, "name", name, "login name");
    f(3, "ssh_keys", ssh_keys, "public keys");
  }
};

struct TokenRequest {
  std::string name, tenant, role, node;
  std::int64_t valid_s = 0;
  void fields(Fields& f) {
    f(1, "name", name, "name of the token");
    f(2, "tenant", tenant, "empty: operator side");
    f(3, "role", role, "viewer, member, tenant-admin, auditor, on-call or operator");
    f(4, "node", node, "BMC MAC: makes it a one-time enrolment token of that node");
    f(6, "valid_s", valid_s, "seconds until it expires; 0: never");
  }
};

struct TokenAnswer {
  std::string token;
  Token object;
  void fields(Fields& f) {
    f(1, "token", token, "shown once");
    f(2, "object", object, "what is stored; its hash is left out");
  }
};

struct SecretRequest {
  std::string name, purpose, value, tenant;
  void fields(Fields& f) {
    f(1, "name", name, "name of the secret");
    f(2, "purpose", purpose, "bmc_password, webhook ...");
    f(3, "value", value, "clear value; encrypted before it is stored");
    f(4, "tenant", tenant, "empty: the operator's");
  }
};

struct ClusterRequest {
  std::string name, tenant, engine = "slurm", sku;
  int nodes = 0;
  int spares = 0;
  std::string requeue = "auto", replace = "auto";
  bool login = true;
  std::string prefix;
  std::vector<std::string> firewall, access;
  bool allow_checks = false;
  void fields(Fields& f) {
    f(1, "name", name, "name of the cluster");
    f(2, "tenant", tenant, "name or id; a tenant's own token need not say it");
    f(3, "engine", engine, "slurm");
    f(4, "sku", sku, "empty: the only GPU kind there is");
    f(5, "nodes", nodes, "members");
    f(6, "spares", spares, "hot spares");
    f(7, "requeue", requeue, "consent to requeue a job that lost its GPU: auto, ask or never");
    f(8, "replace", replace, "consent to replace a broken member: auto, ask or never");
    f(9, "login", login, "with a login node");
    f(10, "prefix", prefix,
      "IPv4 prefix of its network, for example 10.10.0.0/24; other tenants may have the same; "
      "empty: one is drawn");
    f(11, "firewall", firewall,
      "rules in order, each ACTION PROTOCOL[/PORT[-PORT]]@CIDR, for example permit "
      "tcp/443@203.0.113.0/24: what nodes may send out of their network; what no rule permits is "
      "dropped");
    f(12, "access", access,
      "rules, each PROTOCOL/PORT[-PORT]@CIDR, for example tcp/22@203.0.113.0/24: who may come in "
      "by the cluster's gateway to the login node; empty: ssh from anywhere");
    f(13, "allow_checks", allow_checks,
      "consent to active checks on idle members, as work of the engine that gives way at once");
  }
};

struct ChecksConsentRequest {
  std::string consent;
  void fields(Fields& f) {
    f(1, "consent", consent, "allow or deny active checks; deny ends one that runs");
  }
};

struct ScaleRequest {
  int nodes = 0;
  int spares = 0;
  void fields(Fields& f) {
    f(1, "nodes", nodes, "members wanted");
    f(2, "spares", spares, "spares wanted");
  }
};

struct FirewallRequest {
  std::vector<std::string> firewall, access;
  void fields(Fields& f) {
    f(1, "firewall", firewall, "what nodes may send out, in order; left out: as it is");
    f(2, "access", access, "who may come in by the gateway; left out: as it is; []: nobody");
  }
};

struct FaultKind {
  std::string name, doc, expected_detection, expected_action;
  std::string unavailable = {};
  void fields(Fields& f) {
    f(1, "name", name, "for example xid");
    f(2, "doc", doc, "what it does");
    f(3, "expected_detection", expected_detection, "who should see it, and when");
    f(4, "expected_action", expected_action, "what should follow");
    f(5, "unavailable", unavailable, "why it cannot be injected here; empty: it can");
  }
};

struct FaultRequest {
  std::string kind = "xid", node;
  int xid = 0;
  int gpu = 0;
  bool sticky = false;
  bool userspace = false;
  std::string text;
  int for_s = 0;
  std::string part;
  int copies = 0;
  void fields(Fields& f) {
    f(1, "kind", kind, "kind of fault");
    f(2, "node", node, "name or id");
    f(3, "xid", xid, "code, for kind xid");
    f(4, "gpu", gpu, "NVML index");
    f(5, "sticky", sticky, "survives reset and reboot");
    f(6, "userspace", userspace, "as a rater writes it: facility of a user, no hardware fails");
    f(7, "text", text, "own kernel line instead of the usual one");
    f(8, "for_s", for_s, "seconds that it lasts, where the kind can end by itself; 0: as usual");
    f(9, "part", part, "HCA or storage server; empty: the first one");
    f(10, "copies", copies, "lines of a storm; 0: as usual");
  }
};

struct FaultAnswer {
  std::string node, line;
  Instant at;
  void fields(Fields& f) {
    f(1, "node", node, "node name");
    f(2, "line", line, "kernel line that was written");
    f(3, "at", at, "when");
  }
};

struct HoldRequest {
  std::string scope = "*", reason;
  std::int64_t for_s = 0;
  void fields(Fields& f) {
    f(1, "scope", scope, "*, site:S, rack:R, tenant:T, cluster:C, switch:W, fabric:F or node:N");
    f(2, "reason", reason, "why");
    f(3, "for_s", for_s, "seconds; 0: until released");
  }
};

struct AuthorityRequest {
  std::string scope, action_class = "*", level;
  void fields(Fields& f) {
    f(1, "scope", scope, "as for a hold");
    f(2, "action_class", action_class, "* or a class of action");
    f(3, "level", level, "observe, advise or act");
  }
};

struct BackupRequest {
  std::string path;
  void fields(Fields& f) { f(1, "path", path, "file on tundishd's machine"); }
};

/// One table: code -> HTTP status, exit code. Golden in tests.
int http_status(Code code);
int exit_code(std::string_view code);

}  // namespace tundish::edge
