#pragma once
// Leaves and spines of an frr fabric: names, numbers, cabling and the underlay's configuration.
// Pure, as topology.hpp is.
#include <cstdint>
#include <string>
#include <vector>

#include "lab/topology.hpp"

namespace tundish::lab {

/// IP bytes of a tenant's segment (9000) and 54 more fit. Unit: bytes.
inline constexpr int fabric_mtu = 9216;

enum class SwitchRole { leaf, spine };

/// One end of a cable between a leaf and a spine.
struct SwitchLink {
  std::string port;
  std::string address;
  std::string peer;
  std::string peer_port;
  std::string peer_address;
};

struct LabSwitch {
  SwitchRole role = SwitchRole::leaf;
  std::string name;
  std::string management;  ///< address of its sshd
  std::string loopback;    ///< router id; of a leaf also the tunnel end
  std::int64_t asn = 0;
  std::vector<SwitchLink> links;
  std::vector<std::string> ports;  ///< where nodes are plugged in

  /// Every interface that is hardware: it outlives the switch's software.
  std::vector<std::string> hardware() const;
};

/// Leaves, then spines; none in a flat fabric.
std::vector<LabSwitch> switches_of(const LabSpec& spec);
/// The interface of a switch on the out-of-band network, and its other end in the lab's root.
inline const std::string management_port = "eth0";
std::string management_peer(const std::string& switch_name);

/// frr.conf with the underlay and nothing of a tenant.
std::string render_underlay(const LabSwitch& plan);
/// `ip -batch` lines that bring up loopback, management and uplinks.
std::string render_addresses(const LabSwitch& plan);

}  // namespace tundish::lab
