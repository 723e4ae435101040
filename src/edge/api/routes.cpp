#include "edge/api/routes.hpp"

#include "base/text.hpp"
#include "codec/reference.hpp"
#include "control/network/probe.hpp"
#include "edge/api/contract_policy.hpp"
#include "edge/api/contract_health.hpp"
#include "edge/api/handlers.hpp"
#include "edge/api/kinds.hpp"
#include "model/operation.hpp"

namespace tundish::edge::api {
namespace {

template <class T>
std::string schema_of() {
  T scratch;
  return render_openapi_schema(scratch);
}
template <class T>
Body body(std::string_view name) {
  return {name, schema_of<T>, false};
}
template <class T>
Body list_of(std::string_view name) {
  return {name, schema_of<T>, true};
}
template <class T>
Body object() {
  return {T::kind, schema_of<T>, false};
}

void add_kinds(std::vector<Route>& out) {
  for (const auto& kind : all_kinds()) {
    const std::string path = "/v1/" + std::string(kind.plural);
    out.push_back({"GET",
                   path,
                   Right::read,
                   kind.list,
                   "list; ?limit=&page=",
                   {},
                   {kind.name, kind.schema, true}});
    out.push_back({"GET",
                   path + "/*",
                   Right::read,
                   kind.get,
                   "one object, by name or id",
                   {},
                   {kind.name, kind.schema, false}});
  }
}

void add_checks(std::vector<Route>& out) {
  out.push_back({"GET",
                 "/v1/checks",
                 Right::read_site,
                 list_checks,
                 "what is checked, and by which limits",
                 {},
                 list_of<CheckInfo>("check_info")});
  out.push_back({"POST", "/v1/checks/run", Right::work_nodes, run_checks_now,
                 "runs checks now on a node", body<CheckRunRequest>("check_run_request"),
                 body<CheckRunAnswer>("check_run_answer")});
  const Body active_run = body<ActiveRunInfo>("active_run");
  out.push_back({"POST", "/v1/checks/runs", Right::work_nodes, post_active_run,
                 "begins active checks on a free or claimed node, or an idle one that may be used",
                 body<ActiveRunRequest>("active_run_request"), active_run});
  out.push_back({"POST", "/v1/checks/pairs", Right::work_nodes, post_pair_run,
                 "begins a check over pairs of nodes",
                 body<PairRunRequest>("pair_run_request"), active_run});
  out.push_back({"GET",
                 "/v1/checks/runs",
                 Right::read_site,
                 list_active_runs,
                 "active checks that run, or ran lately",
                 {},
                 list_of<ActiveRunInfo>("active_run")});
  out.push_back({"GET", "/v1/checks/runs/*", Right::read_site, get_active_run,
                 "one run of active checks", {}, active_run});
  out.push_back({"POST", "/v1/checks/runs/*/stop", Right::work_nodes, stop_active_run,
                 "ends a run", {}, active_run});
}

void add_site(std::vector<Route>& out) {
  out.push_back({"GET", "/healthz", Right::none, get_health, "the process answers"});
  out.push_back({"GET", "/metrics", Right::read, get_metrics, "Prometheus text"});
  out.push_back({"GET", "/v1/openapi.json", Right::none, get_openapi, "this description"});
  out.push_back({"GET",
                 "/v1/status",
                 Right::read,
                 get_status,
                 "how the site is",
                 {},
                 body<StatusReport>("status_report")});
  out.push_back({"GET",
                 "/v1/capacity",
                 Right::read_site,
                 get_capacity,
                 "nodes by SKU",
                 {},
                 list_of<CapacityRow>("capacity_row")});
  out.push_back({"GET", "/v1/watch", Right::read, start_watch,
                 "server-sent events {revision, kind, id, object} after ?since=REVISION"});
  out.push_back({"GET",
                 "/v1/history",
                 Right::read_history,
                 get_history,
                 "?after=&before=&limit=&object=&newest_first=",
                 {},
                 list_of<HistoryEntry>("history_entry")});
  out.push_back({"GET",
                 "/v1/history/verify",
                 Right::read_history,
                 verify_history,
                 "checks the chain",
                 {},
                 body<HistoryVerdict>("history_verdict")});
  out.push_back({"POST", "/v1/backup", Right::backup, post_backup, "a consistent copy",
                 body<BackupRequest>("backup_request"), body<BackupRequest>("backup_request")});
  out.push_back({"GET",
                 "/v1/faults",
                 Right::read_site,
                 list_faults,
                 "kinds of drill",
                 {},
                 list_of<FaultKind>("fault_kind")});
  out.push_back({"POST", "/v1/faults", Right::drill, post_fault, "injects a fault",
                 body<FaultRequest>("fault_request"), body<FaultAnswer>("fault_answer")});
}

void add_inventory(std::vector<Route>& out) {
  const Body files = body<InventoryRequest>("inventory_request");
  const Body answer = body<InventoryAnswer>("inventory_answer");
  out.push_back({"POST", "/v1/inventory/import", Right::inventory, import_inventory,
                 "all of it or, with one problem, nothing", files, answer});
  out.push_back({"GET",
                 "/v1/inventory/export",
                 Right::inventory,
                 export_inventory_call,
                 "the declared inventory as files",
                 {},
                 files});
  out.push_back({"POST", "/v1/inventory/diff", Right::inventory, diff_inventory_call,
                 "files against the store", files, answer});
}

void add_nodes(std::vector<Route>& out) {
  const Body reason = body<ReasonRequest>("reason_request");
  const Body node = object<Node>();
  const auto act = [&](std::string verb, WriteHandler handler, std::string_view doc) {
    out.push_back({"POST", "/v1/nodes/*/" + verb, Right::work_nodes, handler, doc, reason, node});
  };
  act("drain", drain_node, "the caller claims the node");
  act("return", return_node_call, "the caller's claims end; force: everybody's");
  act("replace", replace_node, "claims it so that a spare takes its place");
  act("confirm", confirm_node, "the chassis was changed on purpose");
  act("retire", retire_node_call, "out of the fleet; its record stays");
  out.push_back({"GET",
                 "/v1/nodes/*/explain",
                 Right::read_site,
                 explain_node,
                 "why it is as it is and what comes next",
                 {},
                 body<Explanation>("explanation")});
}

void add_tenancy(std::vector<Route>& out) {
  const Body tenant = object<Tenant>();
  out.push_back({"POST", "/v1/tenants", Right::write_tenants, post_tenant, "creates a tenant",
                 body<TenantRequest>("tenant_request"), tenant});
  out.push_back({"DELETE",
                 "/v1/tenants/*",
                 Right::write_tenants,
                 delete_tenant_call,
                 "deletes a tenant without clusters",
                 {},
                 tenant});
  out.push_back({"PUT", "/v1/tenants/*/quota", Right::write_tenants, put_quota, "sets the quota",
                 body<QuotaRequest>("quota_request"), tenant});
  out.push_back({"POST", "/v1/users", Right::write_users, post_user, "creates a user",
                 body<UserRequest>("user_request"), object<User>()});
  out.push_back({"DELETE",
                 "/v1/users/*",
                 Right::write_users,
                 delete_user_call,
                 "deletes a user",
                 {},
                 object<User>()});
  out.push_back({"POST", "/v1/tokens", Right::write_tokens, post_token,
                 "creates a token, shown once", body<TokenRequest>("token_request"),
                 body<TokenAnswer>("token_answer")});
  out.push_back({"DELETE",
                 "/v1/tokens/*",
                 Right::write_tokens,
                 delete_token_call,
                 "the token ends at once",
                 {},
                 object<Token>()});
  out.push_back({"POST", "/v1/secrets", Right::write_secrets, post_secret,
                 "stores a secret, encrypted", body<SecretRequest>("secret_request"),
                 object<Secret>()});
  out.push_back({"DELETE",
                 "/v1/secrets/*",
                 Right::write_secrets,
                 delete_secret_call,
                 "forgets a secret",
                 {},
                 object<Secret>()});
}

void add_clusters(std::vector<Route>& out) {
  const Body cluster = object<Cluster>();
  out.push_back({"POST", "/v1/clusters", Right::write_clusters, post_cluster,
                 "places and orders a cluster, whole or not at all",
                 body<ClusterRequest>("cluster_request"), cluster});
  out.push_back({"DELETE",
                 "/v1/clusters/*",
                 Right::write_clusters,
                 delete_cluster,
                 "gives its nodes back, wiped",
                 {},
                 cluster});
  out.push_back({"POST", "/v1/clusters/*/firewall", Right::write_clusters, change_firewall,
                 "replaces the rules that are given", body<FirewallRequest>("firewall_request"),
                 cluster});
  out.push_back({"POST", "/v1/clusters/*/checks", Right::write_clusters, change_checks,
                 "the tenant's word on active checks of its idle members",
                 body<ChecksConsentRequest>("checks_consent_request"), cluster});
  out.push_back({"POST", "/v1/clusters/*/scale", Right::scale_clusters, scale_cluster,
                 "changes the number of members and spares", body<ScaleRequest>("scale_request"),
                 cluster});
}

void add_incidents(std::vector<Route>& out) {
  const Body reason = body<ReasonRequest>("reason_request");
  const auto act = [&](std::string verb, WriteHandler handler, std::string_view doc) {
    out.push_back({"POST", "/v1/incidents/*/" + verb, Right::work_incidents, handler, doc, reason,
                   object<Incident>()});
  };
  act("ack", ack_incident, "somebody looks after it");
  act("note", note_incident_call, "a line of its timeline");
  act("hold", hold_incident, "nothing automatic happens to it");
  act("resume", resume_incident, "the policy goes on");
  act("close", close_incident_call, "a person ends it");
  out.push_back({"POST", "/v1/claims/*/release", Right::release_claims, release_claim_call,
                 "by its holder, or with force", reason, object<Claim>()});
}

void add_network(std::vector<Route>& out) {
  out.push_back({"GET",
                 "/v1/networks/*/report",
                 Right::read,
                 report_network,
                 "desired and observed side by side; a tenant learns whether it is in step",
                 {},
                 body<NetworkReport>("network_report")});
  out.push_back({"GET",
                 "/v1/network-plan",
                 Right::read_site,
                 plan_networks,
                 "?fabric=; the exact difference per switch, or of a fabric's partitions",
                 {},
                 body<NetworkPlan>("network_plan")});
  out.push_back({"GET",
                 "/v1/switch-drivers",
                 Right::read_site,
                 list_switch_drivers,
                 "kinds of switch and how far each is proved",
                 {},
                 list_of<SwitchDriverInfo>("switch_driver_info")});
  out.push_back({"POST", "/v1/network-probe", Right::drill, probe_networks,
                 "who reaches whom, on the wire; ?dry_run=true: who would send",
                 body<ProbeRequest>("probe_request"),
                 body<control::network::ProbeMatrix>("probe_matrix")});
}

void add_governance(std::vector<Route>& out) {
  const Body reason = body<ReasonRequest>("reason_request");
  out.push_back({"POST", "/v1/proposals/*/approve", Right::decide, approve_proposal,
                 "lets every act of its group through", reason, object<Proposal>()});
  out.push_back({"POST", "/v1/proposals/*/deny", Right::decide, deny_proposal,
                 "none of its acts is done", reason, object<Proposal>()});
  out.push_back({"POST", "/v1/holds", Right::hold, post_hold, "stops automatic acts in a scope",
                 body<HoldRequest>("hold_request"), object<Hold>()});
  out.push_back({"DELETE",
                 "/v1/holds/*",
                 Right::hold,
                 delete_hold,
                 "everything is decided anew",
                 {},
                 object<Hold>()});
  out.push_back({"PUT", "/v1/authorities", Right::govern, put_authority,
                 "level of a scope for a class of action",
                 body<AuthorityRequest>("authority_request"), object<Authority>()});
}

void add_operations(std::vector<Route>& out) {
  const Body reason = body<ReasonRequest>("reason_request");
  out.push_back({"POST", "/v1/maintenances", Right::work_nodes, post_maintenance,
                 "a window in which people work: recorded, not paged, not acted on",
                 body<MaintenanceRequest>("maintenance_request"), object<Maintenance>()});
  out.push_back({"POST", "/v1/maintenances/*/end", Right::work_nodes, end_maintenance_call,
                 "the work is done: the checks decide", reason, object<Maintenance>()});
  out.push_back({"POST", "/v1/notices/*/ack", Right::work_incidents, ack_notice,
                 "somebody looks after it: no more pages", reason, object<Notice>()});
  out.push_back({"POST", "/v1/node_reports", Right::report, report_node,
                 "a slow node: it is tested, compared with its peers and swapped if it is one",
                 body<NodeReportRequest>("node_report_request"), object<NodeReport>()});
  out.push_back({"POST", "/v1/incidents/*/bundle", Right::work_incidents, post_bundle,
                 "the evidence for a vendor", reason, body<BundleAnswer>("bundle_answer")});
  out.push_back({"GET",
                 "/v1/lemons",
                 Right::read_site,
                 list_lemons,
                 "nodes that break more often than the fleet",
                 {},
                 list_of<LemonRow>("lemon_row")});
  out.push_back({"GET",
                 "/v1/shift-report",
                 Right::read_history,
                 get_shift_report,
                 "?since_s=; what the next shift has to know",
                 {},
                 body<ShiftReport>("shift_report")});
}

void add_policies(std::vector<Route>& out) {
  const Body asked = body<PolicyRequest>("policy_request");
  out.push_back({"GET",
                 "/v1/policies",
                 Right::read_site,
                 list_policies,
                 "the remediation policy that is loaded, or why none is",
                 {},
                 list_of<PolicyRow>("policy_row")});
  out.push_back({"GET",
                 "/v1/policy",
                 Right::read_site,
                 get_policy,
                 "the loaded policy",
                 {},
                 body<RemediationPolicy>("remediation_policy")});
  out.push_back({"POST", "/v1/policy/load", Right::govern, load_policy,
                 "proves a policy and loads it; not proved: refused with the counterexample",
                 asked, body<PolicyAnswer>("policy_answer")});
  out.push_back({"POST", "/v1/policy/try", Right::read_site, try_policy,
                 "what a policy would have done with the incidents of since_s", asked,
                 list_of<control::verify::Rehearsal>("rehearsal")});
}

std::vector<Route> make_routes() {
  std::vector<Route> out;
  add_site(out);
  add_checks(out);
  add_kinds(out);
  add_inventory(out);
  add_nodes(out);
  add_tenancy(out);
  add_clusters(out);
  add_incidents(out);
  add_network(out);
  add_governance(out);
  add_operations(out);
  add_policies(out);
  return out;
}

/// What the wildcards matched; nullopt: another path.
std::optional<std::vector<std::string>> match_path(const std::vector<std::string>& pattern,
                                                   const std::vector<std::string>& path) {
  if (pattern.size() != path.size()) return std::nullopt;
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (pattern[i] == "*" && !path[i].empty()) {
      parts.push_back(path[i]);
    } else if (pattern[i] != path[i]) {
      return std::nullopt;
    }
  }
  return parts;
}

}  // namespace

const std::vector<Route>& all_routes() {
  static const std::vector<Route> routes = make_routes();
  return routes;
}

Match match_route(std::string_view method, const std::string& path) {
  static const std::vector<std::vector<std::string>> patterns = [] {
    std::vector<std::vector<std::string>> out;
    for (const auto& route : all_routes()) out.push_back(split(route.pattern, '/'));
    return out;
  }();
  const auto segments = split(path, '/');
  Match match;
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    auto parts = match_path(patterns[i], segments);
    if (!parts) continue;
    const Route& route = all_routes()[i];
    if (route.method == method) return {&route, std::move(*parts), ""};
    match.allow += (match.allow.empty() ? "" : ", ") + std::string(route.method);
  }
  return match;
}

}  // namespace tundish::edge::api
