#pragma once
// Process 1 of a lab node.
#include <string>
#include <vector>

namespace tundish::lab {

/// `--spec FILE --node NAME`. Waits for its cables (descriptor 3), builds the node's root file
/// system, network and device files, gives up privileges over the machine, then keeps the agent
/// running and reaps orphans. Signals: SIGUSR1 stops the agent, SIGUSR2 starts it, SIGRTMIN kills
/// it (it comes back like under systemd), SIGTERM shuts the node down.
int node_init_main(const std::vector<std::string>& args);

}  // namespace tundish::lab
