#pragma once
// Processes that run under a tenant's uid.
#include <string>
#include <vector>

#include "base/instant.hpp"

namespace tundish::agent {

struct TenantProcess {
  int pid = 0;
  long uid = 0;
  std::string name;
};
std::vector<TenantProcess> find_tenant_processes(const std::string& proc = "/proc");
/// Kills until none is left or `limit` has passed; returns the ones that are left (D state).
std::vector<TenantProcess> kill_tenant_processes(Duration limit);

}  // namespace tundish::agent
