#pragma once
// Active checks: what a node was asked to run, what came out, and when the loaded policy wants it
// run. A run is leased: tundishd grants it, and takes it back when placement wants the node.
#include <string>
#include <vector>

#include "base/describe.hpp"

namespace tundish {

/// How the program of an active check ended, before anybody reads what it wrote.
enum class ToolEnd {
  done,       ///< it ended by itself, with any exit code
  missing,    ///< it is not installed
  failed,     ///< it could not be started, or what it needs is not there
  timed_out,  ///< it hung, and was killed
  preempted   ///< the lease ended, and it was killed: the node was wanted, or tundishd was away
};
inline std::span<const std::string_view> enum_names(ToolEnd) {
  static constexpr std::string_view names[] = {"done", "missing", "failed", "timed_out",
                                               "preempted"};
  return names;
}

/// One run of one program; stored as it is, it gives the same verdict again.
struct ToolRun {
  std::string check;
  std::string tool;
  std::string package;
  std::string device;
  std::string command;
  ToolEnd end = ToolEnd::failed;
  int exit_code = -1;
  int signal = 0;
  std::string out;
  std::string err;
  Duration took;
  void fields(Fields& f) {
    f(1, "check", check, "active check that it was run for");
    f(2, "tool", tool, "name of the program");
    f(3, "package", package, "where the program comes from");
    f(4, "device", device, "GPU by PCI address, rail, folder; empty: the whole node");
    f(5, "command", command, "as it was run");
    f(6, "end", end, "done, missing, failed, timed_out or preempted");
    f(7, "exit_code", exit_code, "-1: a signal ended it, or it never ran");
    f(8, "signal", signal, "that ended it; 0: none");
    f(9, "out", out, "standard output");
    f(10, "err", err, "standard error, or why it is not there");
    f(11, "took", took, "microseconds");
  }
};

enum class PairRole { none, server, client };
inline std::span<const std::string_view> enum_names(PairRole) {
  static constexpr std::string_view names[] = {"none", "server", "client"};
  return names;
}

/// The other node of a check that two nodes make together. The client's verdict counts for both.
struct PairSide {
  PairRole role = PairRole::none;
  std::string peer;
  std::string peer_address;
  void fields(Fields& f) {
    f(1, "role", role, "server waits, client begins and measures");
    f(2, "peer", peer, "name of the other node");
    f(3, "peer_address", peer_address, "its IPv4 address on the out-of-band network");
  }
};

/// Which active checks idle nodes run by themselves, and how often. Zero or empty: none.
struct ActiveSchedule {
  std::vector<std::string> light;
  std::vector<std::string> heavy;
  int light_every_h = 24;
  int heavy_every_h = 168;
  int idle_percent = 5;
  void fields(Fields& f) {
    f(1, "light", light, "active checks that an idle node runs every light_every_h");
    f(2, "heavy", heavy, "those that it runs every heavy_every_h");
    f(3, "light_every_h", light_every_h, "hours; nodes are spread over them");
    f(4, "heavy_every_h", heavy_every_h, "hours; nodes are spread over them");
    f(5, "idle_percent", idle_percent, "of the idle nodes at most run one at once, at least one");
  }
};

}  // namespace tundish
