#pragma once
// Reads partitions.conf as opensm's own parser does, with its oddities: keywords and flags match by
// their beginning, numbers wrap at 16 bits, a line ends after 4094 bytes, a partition without a
// number is looked up by its name. Where opensm rejects a line it drops the whole file and makes
// every port a full member of the default partition, so "rejected" is what matters most here; what
// we are not sure of counts as rejected.
// Source: linux-rdma/opensm opensm/osm_prtn_config.c and osm_prtn.c, 3.3.23; checked 2026-11
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/fabric_state.hpp"

namespace tundish::fabrics {

enum class PortSet { one, all, cas, switches, routers, self, none };

struct ListedPort {
  PortSet set = PortSet::one;
  std::string guid;  ///< canonical, of one port
  IbMembership membership = IbMembership::limited;
  bool is_plain = true;  ///< written out; abbreviated keywords and flags are not
};

struct PartitionFlag {
  std::string name, value;
};

/// `name=pkey, flags : ports ;` at bytes [begin, end).
struct PartitionDefinition {
  std::size_t begin = 0, end = 0;
  int line = 0;
  std::string name;
  std::optional<int> pkey;  ///< low 15 bits; absent: opensm finds it by name or makes one up
  std::vector<PartitionFlag> flags;
  IbMembership default_membership = IbMembership::limited;
  std::vector<ListedPort> ports;
  bool has_groups = false;  ///< lists multicast groups
  bool is_closed = false;
};

struct RejectedLine {
  int line = 0;
  std::string why;
};

struct PartitionText {
  std::vector<PartitionDefinition> definitions;
  std::vector<RejectedLine> rejected;  ///< opensm would drop the whole file
};

PartitionText read_partition_text(std::string_view text);

/// The default partition as the definitions leave it.
struct DefaultRule {
  bool is_written = false;  ///< somebody's rule names it
  bool all_full = false;
  int line = 0;  ///< of the rule that made all full
  std::set<std::string> full_guids;
};
DefaultRule read_default_rule(const PartitionText& text);

}  // namespace tundish::fabrics
