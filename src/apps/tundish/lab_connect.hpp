#pragma once
// A TCP connection from inside a lab's networks, as ssh's ProxyCommand.
#include <string>

#include "lab/lab.hpp"

namespace tundish {

struct LabPeer {
  std::string address;  ///< name of a node, or an IPv4 address that a node of the lab has
  std::string at = {};  ///< node that has the address; empty: the first one that has it
  int port = 22;
};

/// Pipes standard input and output to the peer until either side ends. Enters the network of the
/// node that owns the address (a tenant's segment has no route from outside), else the lab's own.
Result<> connect_in_lab(const lab::LabPaths& paths, const LabPeer& peer);

}  // namespace tundish
