#pragma once
// Files and kernel objects of tenants outside their storage.
#include <string>
#include <vector>

namespace tundish::agent {

/// Topmost files and folders owned by a tenant's uid in the places where users can write. Does not
/// look into other file systems mounted there.
std::vector<std::string> find_tenant_files();
std::vector<std::string> find_tenant_files_in(const std::vector<std::string>& places);

/// System V shared memory, semaphores and queues of tenants, as "shm 12".
std::vector<std::string> find_tenant_ipc();
void remove_tenant_ipc();

}  // namespace tundish::agent
