#pragma once
// The lab's storage: folders that tenants' nodes mount with sshfs, from addresses that were granted
// to them. `storage-export` (storage_script.hpp) is what its driver calls.
#include <string>
#include <vector>

#include "base/result.hpp"
#include "lab/service_keeper.hpp"
#include "lab/topology.hpp"

namespace tundish::lab {

/// Upper layer of its root file system; exports that are there stay.
Result<> prepare_storage(const LabSpec& spec, const std::string& disk);
/// Inside it, before its services start: address, filter, what was granted before.
Result<> configure_storage(const LabSpec& spec);
std::vector<Service> storage_services();

}  // namespace tundish::lab
