#pragma once
// LLDP on both ends of every cable of an frr fabric: cabling is read from it, as in a data centre.
#include <string>

#include "base/result.hpp"
#include "lab/service_keeper.hpp"

namespace tundish::lab {

struct LldpPlace {
  std::string ports;    ///< pattern of interface names
  std::string network;  ///< name below /run/netns; empty: the caller's own
};

/// Files that lldpd needs, in the caller's /run.
Result<> prepare_lldp();
/// Its control socket: /run/lldpd.socket, lldpd's default, or /run/lldpd.<network>.socket.
Service lldp_service(const LldpPlace& place);

}  // namespace tundish::lab
