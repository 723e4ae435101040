#pragma once
// What the HCAs' own PKey tables say, against what is wanted: a manager's file is only its word.
#include "control/network/difference.hpp"

namespace tundish::control::network {

inline constexpr int default_pkey = 0x7fff;

/// A port that is down is not in the look: the manager tells it its keys when it comes up.
enum class Carries { yes, no, silent, down };
Carries carries(const FabricObserved& seen, const std::string& guid, int pkey);

/// The port is seen in another partition of ours than `pkey`, by the file or by its own table.
bool is_elsewhere(const FabricObserved& seen, const FabricOwnership& ownership,
                  const std::string& guid, int pkey);
/// Why the port is not in `pkey` alone as seen: it is elsewhere, or a full member of the default
/// partition, or did not answer. Empty: nothing speaks against it.
std::string stranger_in(const FabricObserved& seen, const FabricOwnership& ownership,
                        const std::string& guid, int pkey);

struct PortFindings {
  std::vector<Difference> differences;             ///< ports that are where they must not be
  std::map<int, std::vector<std::string>> doubts;  ///< by network: not seen in place, no fault
};
PortFindings look_at_ports(const Intent& intent, const std::string& fabric,
                           const FabricOwnership& ownership, const FabricObserved& seen);

/// 0x0110.
std::string pkey_text(int pkey);
/// The text with the owner behind each GUID: "0x0002c90301000101 (n01)".
std::string name_guids(const Intent& intent, const std::string& text);

}  // namespace tundish::control::network
