#pragma once
// Partitions of an InfiniBand or NVLink fabric, without a manager's words. Desired and observed are
// both this. Source: facts/cloud.md section 3.8.
#include <string>
#include <vector>

#include "base/describe.hpp"

namespace tundish {

enum class IbMembership { limited, full };
inline std::span<const std::string_view> enum_names(IbMembership) {
  static constexpr std::string_view names[] = {"limited", "full"};
  return names;
}

struct IbMember {
  std::string guid;
  IbMembership membership = IbMembership::full;
  bool operator==(const IbMember&) const = default;
  void fields(Fields& f) {
    f(1, "guid", guid, "port GUID, 0x and 16 lower-case hex digits");
    f(2, "membership", membership, "full or limited");
  }
};

struct IbPartitionState {
  std::string name;
  int pkey = 0;
  bool ipoib = false;
  bool index0 = false;
  int mtu_bytes = 4096;
  int rate_gbps = 0;
  int service_level = 0;
  std::vector<IbMember> members;
  bool operator==(const IbPartitionState&) const = default;
  void fields(Fields& f) {
    f(1, "name", name, "t00010: from the number, no tenant's own text");
    f(2, "pkey", pkey, "0x0001..0x7ffe: low 15 bits");
    f(3, "ipoib", ipoib, "multicast group for IP over InfiniBand");
    f(4, "index0", index0, "put at index 0 of the members' tables");
    f(5, "mtu_bytes", mtu_bytes, "256, 512, 1024, 2048 or 4096");
    f(6, "rate_gbps", rate_gbps, "limit in Gb/s; 0: none");
    f(7, "service_level", service_level, "0..15");
    f(8, "members", members, "sorted by GUID");
  }
};

/// NVLink: a set of GPUs of one domain, and the nodes whose IMEX daemons trust each other.
struct NvlinkPartitionState {
  std::string name;
  int partition_id = 0;
  std::vector<std::string> gpus;
  std::vector<std::string> imex_nodes;
  bool operator==(const NvlinkPartitionState&) const = default;
  void fields(Fields& f) {
    f(1, "name", name, "t00010: from the number");
    f(2, "partition_id", partition_id, "1..32766 within the domain; 0 is the default partition");
    f(3, "gpus", gpus, "GPU UUIDs, sorted; a GPU is in one partition at most");
    f(4, "imex_nodes", imex_nodes, "addresses in the IMEX list, sorted");
  }
};

struct FabricState {
  std::vector<IbPartitionState> partitions;
  std::vector<NvlinkPartitionState> nvlink;
  bool operator==(const FabricState&) const = default;
  void fields(Fields& f) {
    f(1, "partitions", partitions, "InfiniBand, sorted by pkey; the default partition is not ours");
    f(2, "nvlink", nvlink, "NVLink, sorted by partition_id");
  }
};

struct FabricOwnership {
  int pkey_from = 0x0100, pkey_to = 0x3fff;
  std::string name_prefix = "t";
  void fields(Fields& f) {
    f(1, "pkey_from", pkey_from, "first PKey that is ours");
    f(2, "pkey_to", pkey_to, "last PKey that is ours");
    f(3, "name_prefix", name_prefix, "partitions whose name is this and five digits are ours");
  }
};

struct FabricSeen {
  FabricState own;
  std::vector<int> foreign_pkeys;
  std::vector<std::string> unclear;
  bool default_is_full = false;
  void fields(Fields& f) {
    f(1, "own", own, "our partitions, as read");
    f(2, "foreign_pkeys", foreign_pkeys, "PKeys of others");
    f(3, "unclear", unclear, "what was not understood");
    f(4, "default_is_full", default_is_full,
      "ports are full members of the default partition: nobody is isolated");
  }
};

}  // namespace tundish
