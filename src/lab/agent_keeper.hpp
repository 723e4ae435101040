#pragma once
// What systemd does on a real node: keeps the agent running and reaps what it leaves behind.

namespace tundish::lab {

/// Before the node is reported booted: a signal sent from then on is not lost.
void block_keeper_signals();
/// As process 1 of the node; returns when it is told to shut down.
void keep_agent(int log_fd);

}  // namespace tundish::lab
