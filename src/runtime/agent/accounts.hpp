#pragma once
// Accounts of tenants: our own lines in passwd, group and shadow. Lines of others are not touched.
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/engine.hpp"

namespace tundish::agent {

struct TenantAccount {
  std::string name;
  long uid = 0;
  std::string home;
};

/// Lines of passwd text whose uid is a tenant's.
std::vector<TenantAccount> parse_tenant_accounts(const std::string& passwd);
/// passwd, group or shadow text with `users` as the only tenant accounts. `conflict` when a name
/// belongs to an account of the system.
struct AccountTexts {
  std::string passwd, group, shadow;
};
Result<AccountTexts> plan_accounts(const AccountTexts& before,
                                   const std::vector<AccountUser>& users);

/// Makes `users` the only tenant accounts of `etc`.
Result<> apply_accounts(const std::string& etc, const std::vector<AccountUser>& users);
Result<std::vector<TenantAccount>> load_tenant_accounts(const std::string& etc);

/// Creates `homes`/NAME, owned by the user, without following a link that a tenant left there.
Result<> make_home(const std::string& homes, const AccountUser& user);

}  // namespace tundish::agent
