#pragma once
// The machine with the InfiniBand fabric's manager: opensm on an HCA that ibsim simulates, and
// infiniband-diags that use this HCA without being told.
#include <string>
#include <vector>

#include "base/result.hpp"
#include "lab/service_keeper.hpp"
#include "lab/topology.hpp"

namespace tundish::lab {

/// Upper layer of its root file system. An /etc/opensm/partitions.conf that is there stays.
Result<> prepare_manager(const LabSpec& spec, const std::string& disk);
/// Inside it, before its services start.
Result<> configure_manager();
std::vector<Service> manager_services(const LabSpec& spec);
/// As the lab finds it.
std::string opensm_log_of(const LabPaths& paths);

}  // namespace tundish::lab
