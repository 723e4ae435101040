#include "edge/api/auth.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace tundish::edge::api {
namespace {

constexpr Duration refusal_pause = seconds(1);
constexpr std::size_t most_peers = 10000;

struct RoleRights {
  Role role;
  bool of_tenant;  ///< the row holds for tokens of a tenant; else for the operator side
  std::set<Right> rights;
};

const std::vector<RoleRights>& role_table() {
  using enum Right;
  static const std::vector<RoleRights> table = {
      {Role::viewer, true, {read}},
      {Role::member, true, {read, scale_clusters, report}},
      {Role::tenant_admin,
       true,
       {read, scale_clusters, report, write_clusters, write_users, write_tokens}},
      {Role::viewer, false, {read, read_site}},
      {Role::auditor, false, {read, read_site, read_history}},
      {Role::on_call,
       false,
       {read, read_site, read_history, report, work_nodes, work_incidents, decide, hold,
        release_claims}},
      {Role::operator_,
       false,
       {read, read_site, read_history, scale_clusters, write_clusters, write_users, write_tokens,
        write_tenants, write_secrets, report, work_nodes, work_incidents, decide, hold,
        release_claims, force, govern, inventory, drill, backup}},
  };
  return table;
}

const RoleRights* find_row(Role role, bool of_tenant) {
  for (const auto& row : role_table()) {
    if (row.role == role && row.of_tenant == of_tenant) return &row;
  }
  return nullptr;
}

}  // namespace

bool may(const Identity& who, Right right) {
  if (right == Right::none) return true;
  const RoleRights* row = find_row(who.role, !who.tenant.empty());
  return row && row->rights.contains(right);
}

std::string roles_with(Right right) {
  std::vector<std::string> ours, theirs;
  for (const auto& row : role_table()) {
    if (!row.rights.contains(right)) continue;
    const auto name = std::string(enum_names(row.role)[static_cast<std::size_t>(row.role)]);
    (row.of_tenant ? theirs : ours).push_back(name);
  }
  std::string out = "the operator's side's " + join(ours, ", ");
  return theirs.empty() ? out : out + "; a tenant's " + join(theirs, ", ");
}

Result<> check_role_side(Role role, const TenantId& tenant) {
  if (find_row(role, !tenant.empty())) return {};
  const auto name = std::string(enum_names(role)[static_cast<std::size_t>(role)]);
  if (role == Role::agent) {
    return make_error(Code::invalid, "role agent is taken by enrolment only")
        .with_remedy("give the node's BMC MAC to get an enrolment token");
  }
  if (tenant.empty()) {
    return make_error(Code::invalid, "role " + name + " needs a tenant")
        .with_remedy("add --tenant NAME, or use viewer, auditor, on-call or operator");
  }
  return make_error(Code::invalid, "role " + name + " is of the operator's side, not a tenant's")
      .with_remedy("use viewer, member or tenant-admin");
}

std::string bearer_of(const std::map<std::string, std::string>& headers) {
  const auto it = headers.find("authorization");
  if (it == headers.end()) return "";
  const std::string_view text = trim(it->second);
  constexpr std::string_view scheme = "bearer ";
  if (text.size() <= scheme.size() || to_lower(text.substr(0, scheme.size())) != scheme) return "";
  return std::string(trim(text.substr(scheme.size())));
}

Result<Identity> identify(const Registry& view, const std::string& hash, Instant now) {
  const auto refuse = [](std::string what) {
    return make_error(Code::denied, std::move(what))
        .with_remedy("send a valid token as Authorization: Bearer TOKEN");
  };
  const Token* token = hash.empty() ? nullptr : view.find_token(hash);
  if (!token) return refuse("the token is not known");
  if (token->expires_at.is_set() && token->expires_at <= now) {
    return refuse("the token has expired");
  }
  if (token->one_time || token->role == Role::agent) {
    return refuse("the token is an agent's; it opens /v1/agent only");
  }
  Identity who;
  who.token = token->id;
  who.role = token->role;
  who.tenant = token->meta.tenant;
  who.name = token->meta.name;
  if (!who.tenant.empty()) {
    const Tenant* tenant = view.find(who.tenant);
    if (!tenant) return refuse("the token's tenant does not exist any more");
    who.name = tenant->meta.name + "/" + who.name;
  }
  return who;
}

bool is_valid(const Registry& view, const Identity& who, Instant now) {
  const Token* token = view.find(who.token);
  if (!token) return false;
  return !token->expires_at.is_set() || token->expires_at > now;
}

bool RefusedLogins::should_record(const std::string& peer, Instant now) {
  if (last_.size() >= most_peers) {
    std::erase_if(last_, [&](const auto& entry) { return now - entry.second >= refusal_pause; });
  }
  if (last_.size() >= most_peers && !last_.contains(peer)) return false;
  Instant& last = last_[peer];
  if (last.is_set() && now - last < refusal_pause) return false;
  last = now;
  return true;
}

}  // namespace tundish::edge::api
