#pragma once
// Shared by the files of the audit.
#include "control/network/audit.hpp"

namespace tundish::control::network::parts {

class Findings {
 public:
  explicit Findings(std::string where) : where_(std::move(where)) {}
  void add(AuditRule rule, const std::string& object, const std::string& what,
           const std::string& remedy, std::set<int> joins = {}) {
    joins.erase(nobody);
    if (joins.size() < 2) joins.clear();
    list.push_back({rule, object, where_, what, remedy, std::move(joins)});
  }
  std::vector<AuditFinding> list;

 private:
  std::string where_;
};

/// "acme/train" for the network that owns it.
std::string label_of(const Intent& intent, int index);
/// Whose route target it is: "VRF of acme/train", "storage", "nobody".
std::string owner_of_target(const Intent& intent, const std::string& target);
/// The network that it belongs to; nobody: no network.
int network_of_target(const Intent& intent, const std::string& target);

void audit_switch(const Intent& intent, const std::string& name, const SwitchSeen& seen,
                  std::vector<AuditFinding>& out);
void audit_fabric(const Intent& intent, const std::string& name, const FabricSeen& seen,
                  std::vector<AuditFinding>& out);
/// Numbers that two networks hold in the registry, and what only shows over all switches.
void audit_intent(const Intent& intent, const SwitchesSeen& switches,
                  std::vector<AuditFinding>& out);

}  // namespace tundish::control::network::parts
