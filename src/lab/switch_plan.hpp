#pragma once
// Leaves and spines of an frr fabric, and the machines beside them: names, numbers, cabling and the
// underlay's configuration. Pure, as topology.hpp is.
#include <cstdint>
#include <string>
#include <vector>

#include "lab/topology.hpp"

namespace tundish::lab {

/// IP bytes of a tenant's segment (9000) and 54 more fit. Unit: bytes.
inline constexpr int fabric_mtu = 9216;

/// A manager runs opensm, a storage exports folders: both are reached as a switch is.
enum class SwitchRole { leaf, spine, manager, storage };
std::string_view role_name(SwitchRole role);
inline const std::string manager_name = "sm1";
inline const std::string storage_name = "stor1";

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
/// These, and the fabric manager and the storage where the lab has them.
std::vector<LabSwitch> boxes_of(const LabSpec& spec);

/// How the storage is cabled: to the first port of leaf1 after those of the nodes.
struct StorageCable {
  std::string interface;  ///< of the storage
  std::string mac;
  std::string leaf;
  std::string port;
};
StorageCable storage_cable_of(const LabSpec& spec);
/// Of the storage on its cable, and of the leaf's end once somebody has configured it.
inline const std::string storage_address = "10.200.0.10";
inline const std::string storage_gateway = "10.200.0.1";
inline constexpr int storage_prefix_length = 24;
/// The interface of a switch on the out-of-band network, and its other end in the lab's root.
inline const std::string management_port = "eth0";
std::string management_peer(const std::string& switch_name);

/// frr.conf with the underlay and nothing of a tenant.
std::string render_underlay(const LabSwitch& plan);
/// `ip -batch` lines that bring up loopback, management and uplinks.
std::string render_addresses(const LabSwitch& plan);

}  // namespace tundish::lab
