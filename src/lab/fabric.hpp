#pragma once
// The tenants' network as hardware: switches, and the cables between them and the nodes.
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "lab/control_model.hpp"
#include "lab/topology.hpp"
#include "runtime/net/loop.hpp"

namespace tundish::lab {

/// Lives on the loop thread.
class Fabric {
 public:
  virtual ~Fabric() = default;
  virtual Result<> start() = 0;
  /// Puts the node's ports into the network namespace of its process 1.
  virtual Result<> plug(const LabNode& node, int pid) = 0;
  /// The node's process 1 is gone.
  virtual void unplug(const LabNode& node) = 0;

  /// Looks for switches that started or died; call it as NodePower::poll.
  virtual void poll() {}
  /// Every switch has come up or failed to.
  virtual bool is_settled() const { return true; }
  /// Blocks until the switches' processes are gone.
  virtual void stop_all() {}
  virtual std::vector<LabSwitchStatus> status() const { return {}; }
  virtual std::vector<LabHcaStatus> hcas() const { return {}; }

  /// Process 1 of a switch, as seen from the lab; 0: there is none.
  virtual int pid_of(const std::string&) const { return 0; }

  // What a person does to switches, cables and the storage server. A flat fabric has none.
  virtual Result<> set_switch(const SwitchRequest& request);
  virtual Result<> set_cable(const CableRequest& request);
  virtual Result<> set_storage(const StorageRequest& request);
  virtual Result<> swap_cables(const SwapRequest& request);
};

std::unique_ptr<Fabric> make_fabric(net::Loop& loop, const LabSpec& spec);

}  // namespace tundish::lab
