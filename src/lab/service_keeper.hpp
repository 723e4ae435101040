#pragma once
// What systemd does on a real machine: keeps services running and reaps what they leave behind.
#include <functional>
#include <string>
#include <vector>

namespace tundish::lab {

enum class ServiceKind {
  daemon,  ///< runs for good, in the foreground; started anew a second after its end
  task,    ///< runs to its end, once, and again after a service that it follows came back
};

struct Service {
  std::string name;
  ServiceKind kind = ServiceKind::daemon;
  std::vector<std::string> argv;     ///< argv[0] is a path
  std::vector<std::string> needs;    ///< files that must exist before it starts
  std::vector<std::string> leaves;   ///< files to remove when it ended: a socket nobody listens on
  std::vector<std::string> follows;  ///< services whose end ends it, and whose return returns it
};

struct KeeperPlan {
  int log_fd = 2;
  std::vector<Service> services;
  /// Called when every task has ended well for the first time; at once when there is none.
  std::function<void()> settled;
  /// One further service for each file in it, made by `for_entry`; empty: none.
  std::string watched_folder;
  std::function<Service(const std::string& entry)> for_entry;
};

/// Before the machine is reported booted: a signal sent from then on is not lost.
void block_keeper_signals();
/// As process 1; returns when it is told to shut down (SIGTERM). SIGUSR1 stops the first service,
/// SIGUSR2 starts it, SIGRTMIN kills it (it comes back).
void keep_services(KeeperPlan plan);

}  // namespace tundish::lab
