#pragma once
// The health log of an NVMe drive.
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "model/node_readings.hpp"

namespace tundish::agent {

/// The 512 bytes of log page 2.
Result<> parse_nvme_health(std::string_view page, NvmeReading& out);
/// Asks the drive: one admin command, which may hang with it.
Result<std::string> read_nvme_health(const std::string& device);

}  // namespace tundish::agent
