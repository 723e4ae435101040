#pragma once
// Baseboard controllers of all nodes: the part of Redfish that a provider needs for power.
#include <map>
#include <memory>
#include <string>

#include "lab/node_power.hpp"
#include "runtime/net/http_server.hpp"

namespace tundish::lab {

/// How a BMC answers a reset. Real ones do all three.
enum class BmcMode {
  normal,
  ignore,  ///< answers success and does nothing
  late     ///< acts at once, answers after a delay
};

/// One server on every BMC address; the address that was called chooses the node.
class BmcSimulator {
 public:
  BmcSimulator(net::Loop& loop, const LabSpec& spec, NodePower& power);
  Result<> listen();
  void set_mode(const std::string& node, BmcMode mode, Duration delay);

 private:
  struct Behaviour {
    BmcMode mode = BmcMode::normal;
    Duration delay;
  };
  void answer(const net::ServerRequest& request, const net::Reply& reply);
  void reset(NodeState& node, const std::string& body, const net::Reply& reply);
  bool allowed(const net::ServerRequest& request) const;

  net::Loop& loop_;
  std::string password_file_;
  NodePower& power_;
  std::map<std::string, Behaviour> behaviour_;
  std::unique_ptr<net::HttpServer> server_;
};

}  // namespace tundish::lab
