#pragma once
// The shell programs that driver_frr runs on a switch, one ssh call each: vtysh, iproute2 and nft.
#include <string>
#include <string_view>
#include <vector>

#include "base/instant.hpp"
#include "base/result.hpp"
#include "families/switches/driver_scripts.hpp"

namespace tundish::switches {

using FrrSection = ShellSection;

/// Prints sections: conf, addr, nft and, where the tool is there, vlan, tunnel and lldp;
/// `interrupted` when a change was cut off on the switch itself.
std::string frr_read_program(Duration limit);
std::string frr_run_program(const std::vector<SwitchStep>& steps, StepMode mode, Duration limit);
/// Goes on with an interrupted change, if there is one.
std::string frr_resume_program(Duration limit);
/// Saves frr.conf and what makes the kernel's part anew before FRR starts.
std::string frr_save_program(const std::vector<SwitchStep>& from_nothing, Duration limit);

/// Refuses an answer that is cut off.
Result<std::vector<FrrSection>> parse_frr_sections(std::string_view answer);

}  // namespace tundish::switches
