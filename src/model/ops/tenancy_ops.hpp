#pragma once
#include "model/ops/common.hpp"

namespace tundish {

/// Refused when a fabric makes exports and could not make one of that name.
OperationPtr create_tenant(std::string name, TenantSpec spec);
/// The name of a tenant becomes its export's, which is an account on the server.
Result<> check_export_name(const std::string& tenant);
/// Refused while the tenant has clusters.
OperationPtr delete_tenant(TenantId tenant);
/// Refused below what is in use.
OperationPtr set_quota(TenantId tenant, int gpus);
/// Gives the user a numeric id from 20000 that no other user of the site has.
OperationPtr create_user(TenantId tenant, std::string name, std::vector<std::string> ssh_keys);
OperationPtr delete_user(Id<User> user);
/// `token.hash` is set by the caller; the token itself is never stored.
OperationPtr create_token(Token token);
/// Notes that it was used; writes at most once an hour.
OperationPtr touch_token(Id<Token> token);
constexpr Duration token_use_pause = hours(1);
OperationPtr delete_token(Id<Token> token);
/// Gives the agent its own identity; an earlier one ends. The one-time token stays good until the
/// identity was used, because the answer that carries it may be lost.
OperationPtr enrol_agent(Id<Token> one_time, NodeId node, std::string identity_hash);
/// The identity was used: enrolment tokens of the node end.
OperationPtr spend_enrolment(NodeId node);
OperationPtr put_secret(std::string name, std::string purpose, std::string sealed, TenantId tenant);
OperationPtr delete_secret(Id<Secret> secret);

/// GPUs of members that count against the quota, now.
int gpus_in_use(const Registry& view, const TenantId& tenant);

}  // namespace tundish
