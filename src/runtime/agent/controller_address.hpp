#pragma once
// A service node carries one address for each cluster. It is noted before it is set, so that it can
// be taken off when the cluster goes, also after a set-up that never ended: left behind it would
// answer for the next cluster that gets the number.
#include <optional>
#include <string>

#include "base/result.hpp"
#include "model/verbs.hpp"

namespace tundish::agent {

struct ControllerAddress {
  std::string interface;
  std::string address;
  int prefix_length = 24;
  void fields(Fields& f) {
    f(1, "interface", interface, "port that carries the tenant's network");
    f(2, "address", address, "IPv4 address of the cluster's controller on it");
    f(3, "prefix_length", prefix_length, "of the segment");
  }
};

/// Takes an older address of the cluster off first, if it had another one.
Result<> record_controller_address(const std::string& state_dir, const SetupController& setup);
/// nullopt: none is noted.
Result<std::optional<ControllerAddress>> load_controller_address(const std::string& state_dir,
                                                                 const std::string& cluster);
/// Takes the address off its port and forgets it. Done when none is noted.
Result<> drop_controller_address(const std::string& state_dir, const std::string& cluster);

}  // namespace tundish::agent
