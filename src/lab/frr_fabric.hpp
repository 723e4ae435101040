#pragma once
// A fabric of FRR routers: one box per switch, one for the storage, one for the InfiniBand fabric's
// manager, and the cables between boxes and nodes.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lab/fabric.hpp"
#include "lab/ib_fabric.hpp"
#include "lab/links.hpp"
#include "lab/switch_chassis.hpp"
#include "lab/switch_plan.hpp"

namespace tundish::lab {

class FrrFabric final : public Fabric {
 public:
  FrrFabric(net::Loop& loop, const LabSpec& spec);

  Result<> start() override;
  Result<> plug(const LabNode& node, int pid) override;
  void unplug(const LabNode& node) override;
  void poll() override;
  bool is_settled() const override;
  void stop_all() override;
  std::vector<LabSwitchStatus> status() const override;
  std::vector<LabHcaStatus> hcas() const override;
  int pid_of(const std::string& switch_name) const override;
  Result<> set_switch(const SwitchRequest& request) override;
  Result<> set_cable(const CableRequest& request) override;
  Result<> set_storage(const StorageRequest& request) override;
  Result<> swap_cables(const SwapRequest& request) override;

 private:
  enum class Phase { off, booting, running, slow, frozen, failed };
  struct Box {
    LabSwitch plan;
    Chassis chassis;
    Phase phase = Phase::off;
    bool wanted = true;
    int pid = 0;  ///< its process 1, as seen from the lab
    int starts = 0;
    Instant start_at;
    std::string failure;
    int orders = 0;  ///< of its pace: an older one's next step is none any more
    std::map<std::string, LinkState> links;  ///< of uplinks: down when the cable is cut
  };
  /// From an interface of a node or the storage to a port of a leaf. The node's end lies in the
  /// lab's root network as port_peer(node, interface); what the node sees is on top of it, so that
  /// a node can neither remove a cable nor take one with it when it dies.
  struct Cable {
    std::string node;
    std::string interface;
    std::string mac;
    std::string leaf;
    std::string port;
    LinkState state = LinkState::up;
    std::string network = {};  ///< of the node, as `ip` names it; empty: it has no power
  };

  static std::string_view phase_name(Phase phase);
  Result<> wire();
  void start_box(Box& box);
  Result<> try_start(Box& box);
  void ended(Box& box, int status);
  void booted(Box& box);
  Result<> send(Box& box, const std::string& signal);
  Result<> tell(Box& box, const std::string& script);
  void answer_late(int order, Duration delay);
  Result<Cable*> find_cable(const std::string& end);
  Result<> set_uplink(const std::string& end, LinkState state);
  Result<> set_state(const std::string& end, LinkState state);
  std::string cable_line(const Cable& cable) const;
  Result<> plug_cable(Cable& cable, const std::string& network);
  Result<> plug_box(const Box& box);
  void pull(const std::string& node);
  void mend_lost_cables(const Box& box);

  net::Loop& loop_;
  LabSpec spec_;
  LabPaths paths_;
  std::map<std::string, std::unique_ptr<Box>> boxes_;
  std::vector<Cable> cables_;
  std::unique_ptr<IbFabric> ib_;
};

}  // namespace tundish::lab
