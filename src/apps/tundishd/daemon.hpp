#pragma once
#include <memory>

#include "apps/tundishd/daemon_config.hpp"
#include "base/result.hpp"

namespace tundish::tundishd {

/// Runs until SIGTERM or SIGINT.
Result<> run_daemon(const DaemonConfig& config);

}  // namespace tundish::tundishd
