#pragma once
// The shell programs that driver_frr runs on a switch, one ssh call each. They need no more than
// sh, flock, vtysh, iproute2 and nft, and are parsed as a whole before their first command runs:
// a connection that dies cannot leave half of one behind.
#include <string>
#include <string_view>
#include <vector>

#include "base/instant.hpp"
#include "base/result.hpp"
#include "families/switches/driver_transport.hpp"

namespace tundish::switches {

/// A part of the answer of a read: `kind` and, where there are several, the namespace.
struct FrrSection {
  std::string kind;
  std::string netns;  ///< "-": the switch's own
  std::string text;
};

/// Prints sections: conf, addr, nft and, where the tool is there, vlan, tunnel and lldp;
/// `interrupted` when a change was cut off on the switch itself.
std::string frr_read_program(Duration limit);
/// Writes the steps down, then runs them; whoever comes after a crash of this program goes on
/// where it stopped. Exit 3: a step failed, and the first line of output says `@failed NUMBER`.
std::string frr_run_program(const std::vector<SwitchStep>& steps, StepMode mode, Duration limit);
/// Goes on with an interrupted change, if there is one.
std::string frr_resume_program(Duration limit);
/// Saves frr.conf and what makes the kernel's part anew before FRR starts.
std::string frr_save_program(const std::vector<SwitchStep>& from_nothing, Duration limit);

/// Refuses an answer that is cut off.
Result<std::vector<FrrSection>> parse_frr_sections(std::string_view answer);

}  // namespace tundish::switches
