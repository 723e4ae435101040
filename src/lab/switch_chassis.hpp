#pragma once
// A switch without its software: its ports, which outlive a crash and a restart as metal does.
#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace tundish::lab {

/// A port as found in one of the switch's network namespaces.
struct PortState {
  std::string network;  ///< file of the namespace
  std::string master;   ///< bridge; empty: none
  std::string mac;
  int mtu = 0;
  bool up = false;
  std::vector<std::string> addresses;  ///< with length
};

class Chassis {
 public:
  Chassis() = default;
  ~Chassis();
  Chassis(const Chassis&) = delete;
  Chassis& operator=(const Chassis&) = delete;

  /// `ports` are its hardware, which the caller then puts in.
  Result<> make(std::vector<std::string> ports);
  int network_fd() const { return root_; }
  /// File of the namespace that holds the underlay; valid for programs this process starts.
  std::string network() const;

  /// Looks at the namespaces that the switch's software has made; call it often. When one goes
  /// away, the ports in it come back down to the underlay's, as real ports do and veths do not.
  void follow(int pid);
  /// The software is gone: ports come back, and everything that is no port vanishes.
  void reset();
  /// `not_found` when no namespace of the switch has it.
  Result<PortState> find(const std::string& port) const;

 private:
  struct Held {
    int fd = -1;
    unsigned long inode = 0;
  };
  void give_back(const Held& held);
  bool is_port(const std::string& name) const;

  std::vector<std::string> ports_;
  int root_ = -1;
  std::map<std::string, Held> held_;  ///< by name below the switch's /run/netns
};

}  // namespace tundish::lab
