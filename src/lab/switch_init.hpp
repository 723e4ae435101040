#pragma once
// Process 1 of a switch: the switch's operating system.
#include <string>
#include <vector>

namespace tundish::lab {

/// `--spec FILE --switch NAME`. Waits for its ports (descriptor 3), builds its root file system,
/// brings up management and underlay, runs /etc/network/switch-up when somebody saved one, then
/// keeps zebra, staticd, bgpd, sshd and lldpd running.
int switch_init_main(const std::vector<std::string>& args);

}  // namespace tundish::lab
