#pragma once
// Power of the nodes: what a BMC does, carried out on processes.
#include <map>
#include <string>
#include <vector>

#include "lab/fabric.hpp"
#include "lab/kmsg/kernel_log_server.hpp"
#include "lab/links.hpp"
#include "lab/topology.hpp"
#include "runtime/net/loop.hpp"

namespace tundish::lab {

enum class PowerAction { on, force_off, graceful_shutdown, force_restart, graceful_restart, cycle };
enum class NodePhase { off, post, booting, running, stopping, failed };
std::string_view phase_name(NodePhase phase);

/// A node as the supervisor sees it.
struct NodeState {
  LabNode hardware;
  NodePhase phase = NodePhase::off;
  bool powered = false;   ///< what the BMC reports
  LinkState oob = LinkState::up;  ///< cable of oob0; an injected fault that outlives a boot
  int pid = 0;            ///< node-init as seen from the lab
  int generation = 0;     ///< of power: makes delayed steps of an earlier one void
  int boots = 0;
  std::string boot_id;
  std::string failure;    ///< why the last boot failed
  std::vector<std::string> cgroups;
  std::vector<std::string> problems;
  /// Of a liquid-cooled node, as its BMC shows them: name -> DetectorState. Power is no matter.
  std::map<std::string, std::string> leak_detectors;
};

/// Lives on the loop thread. Owns every node-init process.
class NodePower {
 public:
  NodePower(net::Loop& loop, LabSpec spec, KernelLogServer& kernel_log, Fabric& fabric);

  const std::map<std::string, NodeState>& nodes() const { return nodes_; }
  NodeState* find(const std::string& name);
  NodeState* find_by_bmc(const std::string& address);

  Result<> apply(const std::string& node, PowerAction action);
  /// Sends a signal to node-init (see node_init.hpp).
  Result<> signal(const std::string& node, int number);
  Result<> set_oob(const std::string& node, LinkState state);
  /// Looks for nodes that booted or died; call it on SIGCHLD and every few hundred milliseconds.
  void poll();
  /// Everything off at once; blocks until the processes are gone.
  void stop_all();

 private:
  enum class Next { stay_off, power_on };
  void power_on(NodeState& node);
  void power_off(NodeState& node, int signal, Next next);
  void start(NodeState& node);
  Result<> try_start(NodeState& node);
  void ended(NodeState& node, int status);

  net::Loop& loop_;
  LabSpec spec_;
  LabPaths paths_;
  KernelLogServer& kernel_log_;
  Fabric& fabric_;
  std::map<std::string, NodeState> nodes_;
  std::map<std::string, Next> next_;  ///< what follows when a stopping node is gone
};

}  // namespace tundish::lab
