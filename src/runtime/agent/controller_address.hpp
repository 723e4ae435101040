#pragma once
// A service node carries one port and address for each cluster. They are noted before they are set,
// so that they can be taken off when the cluster goes, also after a set-up that never ended: left
// behind they would answer for the next cluster that gets the number.
#include <optional>
#include <string>

#include "base/result.hpp"
#include "model/verbs.hpp"

namespace tundish::agent {

struct ControllerAddress {
  std::string interface;
  std::string address;
  int prefix_length = 24;
  bool own_network = false;
  void fields(Fields& f) {
    f(1, "interface", interface, "port that carries the tenant's network");
    f(2, "address", address, "IPv4 address of the cluster's controller on it");
    f(3, "prefix_length", prefix_length, "of the segment");
    f(4, "own_network", own_network, "the port lies in a network namespace of the cluster's own");
  }
};

enum class PortPlace { own_network, shared };
/// Takes an older address of the cluster off first, if it had another one or lay elsewhere.
Result<> record_controller_address(const std::string& state_dir, const SetupController& setup,
                                   PortPlace place);
/// Refused when another cluster whose port is shared has addresses in the prefix: on a node without
/// network namespaces packets of one would go to the other.
Result<> check_shared_prefix(const std::string& state_dir, const SetupController& setup);
/// nullopt: none is noted.
Result<std::optional<ControllerAddress>> load_controller_address(const std::string& state_dir,
                                                                 const std::string& cluster);
/// Takes the address off its port, ends the cluster's own network and forgets both. Done when none
/// is noted.
Result<> drop_controller_address(const std::string& state_dir, const std::string& cluster);

}  // namespace tundish::agent
