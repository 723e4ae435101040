#pragma once
// Handlers by noun; routes.cpp names each of them once.
#include "edge/api/backend.hpp"

namespace tundish::edge::api {

// nodes.cpp
Result<Later> drain_node(Backend& b, const Call& call);
Result<Later> return_node_call(Backend& b, const Call& call);
Result<Later> replace_node(Backend& b, const Call& call);
Result<Later> confirm_node(Backend& b, const Call& call);
Result<Later> retire_node_call(Backend& b, const Call& call);
Result<Answer> explain_node(Backend& b, const Call& call);

// tenancy.cpp
Result<Later> post_tenant(Backend& b, const Call& call);
Result<Later> delete_tenant_call(Backend& b, const Call& call);
Result<Later> put_quota(Backend& b, const Call& call);
Result<Later> post_user(Backend& b, const Call& call);
Result<Later> delete_user_call(Backend& b, const Call& call);
Result<Later> post_secret(Backend& b, const Call& call);
Result<Later> delete_secret_call(Backend& b, const Call& call);

// tokens.cpp
Result<Later> post_token(Backend& b, const Call& call);
Result<Later> delete_token_call(Backend& b, const Call& call);

// clusters.cpp
Result<Later> post_cluster(Backend& b, const Call& call);
Result<Later> delete_cluster(Backend& b, const Call& call);
Result<Later> change_firewall(Backend& b, const Call& call);
Result<Later> change_checks(Backend& b, const Call& call);
Result<Later> scale_cluster(Backend& b, const Call& call);

// incidents.cpp
Result<Later> ack_incident(Backend& b, const Call& call);
Result<Later> note_incident_call(Backend& b, const Call& call);
Result<Later> hold_incident(Backend& b, const Call& call);
Result<Later> resume_incident(Backend& b, const Call& call);
Result<Later> close_incident_call(Backend& b, const Call& call);
Result<Later> release_claim_call(Backend& b, const Call& call);

// governance.cpp
Result<Later> approve_proposal(Backend& b, const Call& call);
Result<Later> deny_proposal(Backend& b, const Call& call);
Result<Later> post_hold(Backend& b, const Call& call);
Result<Later> delete_hold(Backend& b, const Call& call);
Result<Later> put_authority(Backend& b, const Call& call);

// inventory.cpp
void import_inventory(Backend& b, const Call& call, Respond respond);
Result<Answer> export_inventory_call(Backend& b, const Call& call);
void diff_inventory_call(Backend& b, const Call& call, Respond respond);

// history.cpp
Result<Answer> get_history(Backend& b, const Call& call);
void verify_history(Backend& b, const Call& call, Respond respond);
void post_backup(Backend& b, const Call& call, Respond respond);

// status.cpp
Result<Answer> get_health(Backend& b, const Call& call);
Result<Answer> get_status(Backend& b, const Call& call);
Result<Answer> get_capacity(Backend& b, const Call& call);
Result<Answer> get_openapi(Backend& b, const Call& call);

// metrics.cpp
Result<Answer> get_metrics(Backend& b, const Call& call);

// faults.cpp
Result<Answer> list_faults(Backend& b, const Call& call);
void post_fault(Backend& b, const Call& call, Respond respond);

// checks.cpp
Result<Answer> list_checks(Backend& b, const Call& call);
void run_checks_now(Backend& b, const Call& call, Respond respond);

// active_checks.cpp
Result<Answer> list_active_runs(Backend& b, const Call& call);
Result<Answer> get_active_run(Backend& b, const Call& call);
void post_active_run(Backend& b, const Call& call, Respond respond);
void stop_active_run(Backend& b, const Call& call, Respond respond);
// pair_checks.cpp
void post_pair_run(Backend& b, const Call& call, Respond respond);

// network.cpp
Result<Answer> report_network(Backend& b, const Call& call);
Result<Answer> plan_networks(Backend& b, const Call& call);
Result<Answer> list_switch_drivers(Backend& b, const Call& call);
void probe_networks(Backend& b, const Call& call, Respond respond);

// maintenance.cpp
Result<Later> post_maintenance(Backend& b, const Call& call);
Result<Later> end_maintenance_call(Backend& b, const Call& call);
Result<Later> ack_notice(Backend& b, const Call& call);

// node_reports.cpp
Result<Later> report_node(Backend& b, const Call& call);
Result<Answer> list_lemons(Backend& b, const Call& call);

// evidence.cpp
Result<Later> post_bundle(Backend& b, const Call& call);

// shift.cpp
Result<Answer> get_shift_report(Backend& b, const Call& call);

// policies.cpp
Result<Answer> list_policies(Backend& b, const Call& call);
Result<Answer> get_policy(Backend& b, const Call& call);
void load_policy(Backend& b, const Call& call, Respond respond);
Result<Answer> try_policy(Backend& b, const Call& call);

// watch.cpp
void start_watch(Backend& b, const Call& call, std::shared_ptr<Outlet> outlet);

}  // namespace tundish::edge::api
