// The audit of partitions: InfiniBand and NVLink.
#include <algorithm>
#include <array>
#include <cstdio>

#include "control/network/audit_parts.hpp"

namespace tundish::control::network::parts {
namespace {

const std::string undo = "restore it: tundish network plan shows the lines";

std::string hex(int pkey) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "0x%04x", static_cast<unsigned>(pkey));
  return text.data();
}

class FabricAudit {
 public:
  FabricAudit(const Intent& intent, const std::string& name, const FabricSeen& seen)
      : intent_(intent), name_(name), seen_(seen), out_(name) {}

  std::vector<AuditFinding> run() {
    if (seen_.default_is_full) {
      out_.add(AuditRule::default_limited, "default partition",
               "its members are full: every port reaches every other",
               "declare ALL=limited for the default partition", all_here());
    }
    for (const auto& line : seen_.unclear) {
      add(AuditRule::unclear, "line", "not understood: " + line);
    }
    for (const auto& partition : seen_.own.partitions) check_partition(partition);
    for (const auto& partition : seen_.own.nvlink) check_nvlink(partition);
    check_present();
    check_foreign();
    return std::move(out_.list);
  }

 private:
  void add(AuditRule rule, const std::string& object, const std::string& what,
           std::set<int> joins = {}) {
    out_.add(rule, object, what, undo, std::move(joins));
  }
  /// Every network whose partition is there. What was not written yet joins nobody.
  std::set<int> all_here() const {
    std::set<int> out;
    for (const auto& partition : seen_.own.partitions) {
      const int owner = find_in(intent_.by_pkey, partition.pkey);
      if (owner != nobody && network(owner).partition_fabric == name_) out.insert(owner);
    }
    return out;
  }
  const WantedNetwork& network(int index) const {
    return intent_.networks[static_cast<std::size_t>(index)];
  }
  static int find_in(const std::map<int, int>& table, int number) {
    const auto it = table.find(number);
    return it == table.end() ? nobody : it->second;
  }

  void check_partition(const IbPartitionState& partition) {
    const std::string object = "PKey " + hex(partition.pkey);
    if (partition.pkey < 1 || partition.pkey > 0x7ffe) {
      add(AuditRule::numbering, object, "does not fit 15 bits, or is a reserved key");
    }
    if (!pkeys_.insert(partition.pkey).second) {
      add(AuditRule::one_owner, object, "is there twice: its members are joined");
    }
    const int owner = find_in(intent_.by_pkey, partition.pkey);
    if (owner == nobody || network(owner).partition_fabric != name_) {
      add(AuditRule::one_owner, object, "of \"" + partition.name + "\" belongs to no network");
    } else {
      check_shape(object, partition, network(owner));
    }
    std::set<std::string> members;
    for (const auto& member : partition.members) {
      if (!members.insert(member.guid).second) {
        add(AuditRule::missing, object, member.guid + " is a member twice");
      }
      check_member(object, member, owner);
    }
    if (owner == nobody) return;
    for (const auto& guid : network(owner).guids) {
      if (!members.contains(guid)) {
        add(AuditRule::missing, object, "lacks " + guid + " of " + node_of(intent_.guids, guid));
      }
    }
  }

  void check_shape(const std::string& object, const IbPartitionState& partition,
                   const WantedNetwork& wants) {
    const IbPartitionState fresh;
    const auto differs = [&](const std::string& what, bool same) {
      if (!same) add(AuditRule::missing, object, what + " is not as wanted");
    };
    if (partition.name != wants.partition) {
      add(AuditRule::one_owner, object,
          "is called \"" + partition.name + "\", wanted " + wants.partition);
    }
    differs("IP over InfiniBand", partition.ipoib);
    differs("index 0", partition.index0);
    differs("MTU", partition.mtu_bytes == fresh.mtu_bytes);
    differs("rate", partition.rate_gbps == fresh.rate_gbps);
    differs("service level", partition.service_level == fresh.service_level);
  }

  std::string node_of(const std::map<std::string, Device>& table, const std::string& key) const {
    const auto it = table.find(key);
    return it == table.end() ? "no node of the inventory" : "node " + it->second.node;
  }

  void check_member(const std::string& object, const IbMember& member, int owner) {
    const auto known = intent_.guids.find(member.guid);
    if (known == intent_.guids.end()) {
      add(AuditRule::ports, object,
          "has member " + member.guid + ", which is not in the inventory");
      return;
    }
    if (known->second.network == nobody || known->second.network != owner) {
      add(AuditRule::ports, object,
          "has member " + member.guid + " of node " + known->second.node + ", which belongs to " +
              label_of(intent_, known->second.network),
          {owner, known->second.network});
    } else if (member.membership != IbMembership::full) {
      add(AuditRule::missing, object, member.guid + " is a limited member, wanted full");
    }
  }

  void check_nvlink(const NvlinkPartitionState& partition) {
    const std::string object = "NVLink partition " + std::to_string(partition.partition_id);
    if (partition.partition_id < 1 || partition.partition_id > 32766) {
      add(AuditRule::numbering, object, "is outside 1 to 32766");
    }
    if (!nvlink_.insert(partition.partition_id).second) {
      add(AuditRule::one_owner, object, "is there twice");
    }
    const int owner = find_in(intent_.by_nvlink, partition.partition_id);
    if (owner == nobody || network(owner).nvlink_fabric != name_) {
      add(AuditRule::one_owner, object, "of \"" + partition.name + "\" belongs to no network");
    } else if (partition.name != network(owner).partition) {
      add(AuditRule::one_owner, object,
          "is called \"" + partition.name + "\", wanted " + network(owner).partition);
    }
    for (const auto& gpu : partition.gpus) {
      if (!gpus_.insert(gpu).second) add(AuditRule::ports, object, gpu + " is in two partitions");
      const auto known = intent_.gpus.find(gpu);
      const int lives_in = known == intent_.gpus.end() ? nobody : known->second.network;
      if (lives_in != nobody && lives_in == owner) continue;
      add(AuditRule::ports, object,
          "has " + gpu + " of " + node_of(intent_.gpus, gpu) + ", which belongs to " +
              label_of(intent_, lives_in),
          {owner, lives_in});
    }
    if (owner == nobody) return;
    check_imex(object, partition, network(owner));
    for (const auto& gpu : network(owner).gpus) {
      if (std::find(partition.gpus.begin(), partition.gpus.end(), gpu) == partition.gpus.end()) {
        add(AuditRule::missing, object, "lacks " + gpu);
      }
    }
  }

  void check_imex(const std::string& object, const NvlinkPartitionState& partition,
                  const WantedNetwork& wants) {
    const std::set<std::string> has(partition.imex_nodes.begin(), partition.imex_nodes.end());
    for (const auto& address : has) {
      if (!wants.imex_nodes.contains(address)) {
        add(AuditRule::ports, object, "trusts " + address + ", which is no node of its network");
      }
    }
    for (const auto& address : wants.imex_nodes) {
      if (!has.contains(address)) add(AuditRule::missing, object, "does not trust " + address);
    }
  }

  void check_present() {
    for (const auto& wants : intent_.networks) {
      const bool here = wants.partition_fabric == name_ && !wants.guids.empty();
      if (here && !pkeys_.contains(wants.pkey)) {
        add(AuditRule::missing, "PKey " + hex(wants.pkey), "of " + wants.label + " is not there");
      }
      const bool linked = wants.nvlink_fabric == name_ && !wants.gpus.empty();
      if (linked && !nvlink_.contains(wants.nvlink_partition)) {
        add(AuditRule::missing, "NVLink partition " + std::to_string(wants.nvlink_partition),
            "of " + wants.label + " is not there");
      }
    }
  }

  void check_foreign() {
    for (const int pkey : seen_.foreign_pkeys) {
      const int owner = find_in(intent_.by_pkey, pkey);
      if (owner == nobody || network(owner).partition_fabric != name_) continue;
      add(AuditRule::one_owner, "PKey " + hex(pkey),
          "belongs to " + label_of(intent_, owner) + " and is used by somebody else");
    }
  }

  const Intent& intent_;
  const std::string& name_;
  const FabricSeen& seen_;
  Findings out_;
  std::set<int> pkeys_, nvlink_;
  std::set<std::string> gpus_;
};

}  // namespace

void audit_fabric(const Intent& intent, const std::string& name, const FabricSeen& seen,
                  std::vector<AuditFinding>& out) {
  auto found = FabricAudit(intent, name, seen).run();
  out.insert(out.end(), std::make_move_iterator(found.begin()),
             std::make_move_iterator(found.end()));
}

}  // namespace tundish::control::network::parts
