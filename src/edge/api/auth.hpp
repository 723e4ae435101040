#pragma once
// Who calls, and what the role lets them do: one table.
#include <map>
#include <set>
#include <string>

#include "base/result.hpp"
#include "control/ledger.hpp"
#include "model/tenancy.hpp"

namespace tundish::edge::api {

enum class Right {
  none,       ///< no token needed
  read,       ///< objects that one can see
  read_site,  ///< capacity and what else speaks of every tenant
  read_history,
  scale_clusters,
  write_clusters,
  write_users,
  write_tokens,
  write_tenants,
  write_secrets,
  report,  ///< a node that serves them is slow
  work_nodes,
  work_incidents,
  decide,  ///< proposals
  hold,
  release_claims,
  force,   ///< against another holder
  govern,  ///< authorities
  inventory,
  drill,
  backup
};

struct Identity {
  Id<Token> token;
  Role role = Role::viewer;
  TenantId tenant;   ///< empty: operator side
  std::string name;  ///< token's name; of a tenant's token TENANT/NAME
};

/// A role of the operator side gives a tenant's token nothing, and the other way round.
bool may(const Identity& who, Right right);
/// Whom to ask: "the operator's side's operator; a tenant's tenant-admin".
std::string roles_with(Right right);
/// invalid when the role does not fit the side; the reason says what would.
Result<> check_role_side(Role role, const TenantId& tenant);

/// The identity behind `Authorization: Bearer TOKEN`, or denied. `hash` is of the token.
Result<Identity> identify(const Registry& view, const std::string& hash, Instant now);
/// The token still exists and has not expired: streams ask again.
bool is_valid(const Registry& view, const Identity& who, Instant now);
/// "" when the header is no bearer token.
std::string bearer_of(const std::map<std::string, std::string>& headers);

/// Refused logins in the history: at most one line per second and peer, so that guessing cannot
/// fill the disk.
class RefusedLogins {
 public:
  bool should_record(const std::string& peer, Instant now);

 private:
  std::map<std::string, Instant> last_;
};

}  // namespace tundish::edge::api
