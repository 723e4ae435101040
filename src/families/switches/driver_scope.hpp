#pragma once
// What one change of a switch may touch: it is judged by that and nothing else, and when it fails
// nothing else is put back. Whatever another order or a person does meanwhile stays.
#include <set>
#include <string>
#include <vector>

#include "ports/drivers.hpp"

namespace tundish::switches {

struct ChangeScope {
  std::set<std::string> ports, vrfs, acls;
  std::set<int> vlans;
};

/// What differs between the two.
ChangeScope scope_of(const SwitchState& before, const SwitchState& wanted);

/// The first difference of what the change touches, or a line within our objects that is not
/// understood and is not one of `known`; empty: it shows what is wanted.
std::string find_missing(const SwitchState& wanted, const SwitchSeen& seen,
                         const ChangeScope& scope, const std::vector<std::string>& known);
/// Lines of `seen` that are not among `known`.
std::vector<std::string> new_lines(const std::vector<std::string>& seen,
                                   const std::vector<std::string>& known);

/// `now` with what the change touches as it was before. Ports that were to be isolated stay
/// isolated: undoing must not put a node back into a network that it was to leave.
SwitchState put_back(SwitchState now, const SwitchState& before, const SwitchState& wanted,
                     const ChangeScope& scope);

/// The order takes its ports out of everything and does nothing else on the switch that waits for
/// anybody.
bool only_isolates(const PortIntent& intent);
/// `before` with those ports out; nothing else changes.
SwitchState only_ports_out(SwitchState before, const PortIntent& intent);

/// The first of the lines that may be about what the change touches: it names an object or a port
/// of it, or nobody can tell whose it is. Empty: none.
std::string line_about(const std::vector<std::string>& unclear, const SwitchState& before,
                       const SwitchState& wanted, const ChangeScope& scope);
/// The first of the lines that names a port of the order. Empty: none.
std::string line_about_port(const std::vector<std::string>& unclear, const PortIntent& intent);

}  // namespace tundish::switches
