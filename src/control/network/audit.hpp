#pragma once
// The semantic audit: what was read back from all switches and fabrics together, against who owns
// what. It shares no code with the plans: it derives every name and target anew.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "control/network/intent.hpp"

namespace tundish::control::network {

enum class AuditRule {
  one_owner,        ///< I4: a number has one owner
  routes,           ///< I11: own targets and the storage's only; no two tenants join
  ports,            ///< I12: a port is in its owner's network or in quarantine
  overlap,          ///< I14: prefixes in one VRF, or leaked into one, do not overlap
  numbering,        ///< a number that its field cannot hold
  default_limited,  ///< ports are limited members of the default partition
  firewall,         ///< a list lets through what is not declared
  gateway,          ///< leaves of one segment answer alike
  untouchable,      ///< underlay, management and identity of the switch
  unclear,          ///< a line within our objects was not understood
  missing           ///< something wanted is not there, or not as wanted: nobody is let in by it
};
inline std::span<const std::string_view> enum_names(AuditRule) {
  static constexpr std::string_view names[] = {
      "one_owner", "routes",  "ports",       "overlap", "numbering", "default_limited",
      "firewall",  "gateway", "untouchable", "unclear", "missing"};
  return names;
}

/// Among `joins`: somebody who is no network of ours.
constexpr int stranger = -2;

struct AuditFinding {
  AuditRule rule = AuditRule::missing;
  std::string object;       ///< network, port, list or number
  std::string switch_name;  ///< or fabric
  std::string what;
  std::string remedy;
  /// Networks that it joins, two at least; or one and `stranger`. Empty: it joins nobody.
  std::set<int> joins = {};
};

/// Isolation is at stake: everything but `missing`.
bool is_breach(const AuditFinding& finding);

using SwitchesSeen = std::map<std::string, SwitchSeen>;
using FabricsSeen = std::map<std::string, FabricSeen>;

/// Switches that are not in `switches` are not judged: the caller says what it has not seen.
std::vector<AuditFinding> audit(const Intent& intent, const SwitchesSeen& switches,
                                const FabricsSeen& fabrics);

}  // namespace tundish::control::network
