#pragma once
// InfiniBand of an frr lab: ibsim is the switches, HCAs and cables; the manager's box runs opensm
// on it; what the ports have is shown to the nodes.
#include <string>
#include <vector>

#include "lab/control_model.hpp"
#include "lab/hca_files.hpp"
#include "lab/ib_plan.hpp"
#include "lab/links.hpp"
#include "runtime/net/loop.hpp"

namespace tundish::lab {

/// Lives on the loop thread. Meant for a lab that has HCAs.
class IbFabric {
 public:
  IbFabric(net::Loop& loop, const LabSpec& spec);
  ~IbFabric();
  IbFabric(const IbFabric&) = delete;
  IbFabric& operator=(const IbFabric&) = delete;

  /// `network_fd`: namespace of the manager, whose HCA finds the simulator there. Every port but
  /// the manager's is down until its node has power.
  Result<> start(int network_fd);
  void set_power(const std::string& node, LinkState power);
  /// Ends as n01/mlx5_0, ibleaf1/14, ibspine1/2.
  bool has_end(const std::string& end) const;
  Result<> set_link(const std::string& end, LinkState state);
  /// `manager_pid`: process 1 of the manager's box while it runs; 0: nobody can read tables.
  void poll(int manager_pid);
  void stop();
  std::vector<LabHcaStatus> status() const;

 private:
  struct Hca {
    std::string node;
    LabHca hardware;
    LinkState power = LinkState::down;
    LinkState cable = LinkState::up;
    HcaState shown;
  };
  struct Trunk {
    IbTrunk plan;
    std::string leaf_id;
    LinkState cable = LinkState::up;
  };
  struct Reading {
    std::vector<IbPortDump> ports;
    std::vector<IbKeys> keys;
  };

  Result<> launch();
  void relaunch(int manager_pid);
  void say(const std::string& line);
  void connect(const Hca& hca);
  void connect(const Trunk& trunk);
  void look_soon();
  void look(int manager_pid);
  static Reading read(int console, const std::string& printed_file, int manager_pid);
  void take(const Reading& reading);
  void show(Hca& hca, const HcaState& state);

  net::Loop& loop_;
  LabPaths paths_;
  IbPlan plan_;
  std::vector<Hca> hcas_;
  std::vector<Trunk> trunks_;
  int network_fd_ = -1;
  int pid_ = 0;
  int console_ = -1;   ///< we write; outlives ibsim
  int commands_ = -1;  ///< ibsim reads
  bool reading_ = false;
  long log_size_ = -1;
  Instant look_at_;
  Instant settled_at_;
};

}  // namespace tundish::lab
