#pragma once
// A kind of switch: one file per item, whose exported symbol is named like the file. All functions
// are pure; drivers carry the texts (families/switches/driver).
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/switch_state.hpp"

namespace tundish::switches {

struct SwitchFile {
  std::string name;  ///< what the switch calls it: running-config, config_db.json, frr.conf, kernel
  std::string text;
  bool operator==(const SwitchFile&) const = default;
};
using SwitchFiles = std::vector<SwitchFile>;

/// One step of a change, in the order to run them. Isolation comes first, deletion last.
struct SwitchStep {
  std::string what;  ///< for people: "port swp3 leaves vlan 110"
  std::string file;  ///< which way it goes: as SwitchFile::name
  std::string text;  ///< commands, patch or request body in the dialect
};

enum class ProofLevel { self_consistent, emulator, wire };
inline std::span<const std::string_view> enum_names(ProofLevel) {
  static constexpr std::string_view names[] = {"self-consistent", "emulator", "wire"};
  return names;
}

struct SwitchCapabilities {
  bool confirmed_commit = false;  ///< the switch undoes a change that nobody confirms
  bool session_diff = false;      ///< it shows its own difference before the commit
  bool needs_l3vlan = false;      ///< an L3VNI needs a VLAN of its own
  bool address_routes = false;       ///< VrfState::routes
  bool transitive_leak = true;    ///< a leaked route may be leaked again
  int vrf_name_limit = 15;
  int acl_name_limit = 31;
  std::vector<std::pair<int, int>> reserved_vlans;
  ProofLevel proof = ProofLevel::self_consistent;
  std::string proof_by;  ///< which test proves it
};

struct SwitchItem {
  std::string_view name;
  std::string_view doc;
  std::string_view source;  ///< documents the grammar follows
  SwitchCapabilities (*capabilities)();
  /// Refuses what this vendor cannot hold, naming the object and what would work.
  Result<> (*accept)(const SwitchState& desired);
  /// Every line of ours, complete. parse(render(x)).own == x.
  Result<SwitchFiles> (*render)(const SwitchState& desired);
  /// Total: foreign lines are kept out of `own` and their numbers are noted.
  Result<SwitchSeen> (*parse)(const SwitchFiles& files, const SwitchOwnership& ownership);
  /// Steps from one state to another; empty when they are the same. Obeys the vendor's order.
  Result<std::vector<SwitchStep>> (*steps)(const SwitchState& from, const SwitchState& to);
};

const SwitchItem* find_switch_item(std::string_view name);

}  // namespace tundish::switches

namespace tundish {
std::span<const switches::SwitchItem* const> all_switch_items();
}  // namespace tundish
