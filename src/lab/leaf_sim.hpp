#pragma once
// Leaf switches: which segment each port is configured for, and what the kernel shows of it.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lab/fabric.hpp"
#include "lab/topology.hpp"
#include "runtime/net/http_server.hpp"

namespace tundish::lab {

/// A port as the switch shows it.
struct LeafPortView {
  std::string port;
  std::string node;
  std::string interface;
  std::string link;              ///< up or down, from the kernel
  std::string segment;           ///< configured; kept while the node is off
  std::string observed_segment;  ///< from the kernel: the bridge that the cable is in

  void fields(Fields& f);
};

struct LeafPortConfig {
  std::string segment;

  void fields(Fields& f);
};

/// Every leaf of the lab. Lives on the loop thread. GET /ports, GET and PUT /ports/<port>.
class LeafSwitches final : public Fabric {
 public:
  LeafSwitches(net::Loop& loop, const LabSpec& spec);
  Result<> start() override;
  /// The node's cables are new: puts back what its ports are configured for.
  Result<> plug(const LabNode& node, int pid) override;
  void unplug(const LabNode& node) override;

  std::vector<LeafPortView> ports(const std::string& leaf) const;
  Result<> configure(const std::string& leaf, const std::string& port, const std::string& segment);

 private:
  struct Port {
    std::string leaf;
    std::string name;
    std::string node;
    std::string interface;
    std::string segment;
  };
  void answer(const std::string& leaf, const net::ServerRequest& request, const net::Reply& reply);
  LeafPortView view(const Port& port) const;

  net::Loop& loop_;
  LabPaths paths_;
  std::vector<LabLeaf> leaves_;
  std::vector<Port> ports_;
  std::vector<std::unique_ptr<net::HttpServer>> servers_;
};

}  // namespace tundish::lab
