#pragma once
// The lab's control socket: what a person with a screwdriver can do in a data centre.
#include <memory>

#include "lab/bmc_sim.hpp"
#include "lab/control_model.hpp"
#include "lab/daemon_keeper.hpp"
#include "lab/fabric.hpp"
#include "lab/node_power.hpp"
#include "runtime/net/http_server.hpp"

namespace tundish::lab {

struct LabParts {
  net::Loop& loop;
  const LabSpec& spec;
  KernelLogServer& kernel_log;
  NodePower& power;
  BmcSimulator& bmc;
  DaemonKeeper& daemon;
  Fabric& fabric;
};

/// Lives on the loop thread. GET /status, /nodes/<n>, /switches/<n>; POST /fault, /power, /agent,
/// /network, /bmc, /switch, /cable, /storage, /swap, /daemon, /run.
class ControlApi {
 public:
  explicit ControlApi(LabParts parts) : parts_(parts), paths_(paths_of(parts.spec)) {}
  Result<> listen();

 private:
  void answer(const net::ServerRequest& request, const net::Reply& reply);
  void get(const net::ServerRequest& request, const net::Reply& reply);
  Result<> post(const std::string& path, const std::string& body);
  void get_switch(const std::string& name, const net::ServerRequest& request,
                  const net::Reply& reply);
  Result<> post_fabric(const std::string& path, const std::string& body);
  /// Process 1 of a node that runs or of a switch, as seen from here; 0: neither.
  int pid_of(const std::string& name) const;
  Result<> inject(const FaultRequest& request);
  Result<> write_lines(const FaultRequest& request);
  Result<> set_agent(const AgentRequest& request);
  void set_daemon(const std::string& body, const net::Reply& reply);
  void run(const std::string& body, const net::Reply& reply);
  LabNodeStatus status_of_node(const NodeState& node) const;
  LabStatus status() const;

  LabParts parts_;
  LabPaths paths_;
  std::unique_ptr<net::HttpServer> server_;
};

}  // namespace tundish::lab
