#pragma once
// The shell programs that driver_sonic runs on a switch: config apply-patch, vtysh in the bgp
// container, and dumps of the databases.
// Source: sonic-utilities doc/Command-Reference.md and config/main.py (apply-patch, option -n: a
// table without YANG model is not validated; save -y), scripts/generate_dump (sonic-db-dump -n DB
// -y -k PATTERN), sonic-buildimage dockers/docker-fpm-frr (container bgp), dockers/docker-lldp;
// checked 2026-11.
#include <string>
#include <string_view>
#include <vector>

#include "families/switches/driver_scripts.hpp"

namespace tundish::switches {

/// Section config only: CONFIG_DB as JSON.
std::string sonic_config_program(Duration limit);
/// Sections config, conf (FRR), appl, asic, counters, state and, where there is lldpd, lldp;
/// `interrupted` when a change was cut off on the switch itself.
std::string sonic_read_program(Duration limit);
/// Steps of kind `config_db.json` (a patch that fits), `applied` (keys to wait for) and `vtysh`.
std::string sonic_run_program(const std::vector<SwitchStep>& steps, StepMode mode, Duration limit);
std::string sonic_resume_program(Duration limit);
/// FRR's configuration first: CONFIG_DB without route targets would come up with automatic ones.
std::string sonic_save_program(Duration limit);

}  // namespace tundish::switches
