#include "families/fabrics/opensm_parts/withdrawal.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "families/fabrics/fabric_item.hpp"
#include "families/fabrics/opensm_parts/partition_text.hpp"
#include "families/fabrics/parts/rules.hpp"

namespace tundish::fabrics {
namespace {

/// "  0x0000000000020011=full," and "  0x0000000000020011=full ;" are the same member.
std::string_view without_mark(std::string_view line) {
  for (const std::string_view mark : {",", " ;"}) {
    if (!line.ends_with(mark)) continue;
    const auto member = line.substr(0, line.size() - mark.size());
    const auto equals = member.find('=');
    if (!member.starts_with("  0x") || equals == std::string_view::npos) return line;
    const auto kind = member.substr(equals);
    const bool is_member =
        is_guid(member.substr(2, equals - 2)) && (kind == "=full" || kind == "=limited");
    return is_member ? member : line;
  }
  return line;
}

bool only_lines_of(const std::string& before, const std::string& after) {
  const auto old_lines = split(before, '\n');
  const auto new_lines = split(after, '\n');
  std::size_t at = 0;
  for (const auto& line : new_lines) {
    while (at < old_lines.size() && without_mark(old_lines[at]) != without_mark(line)) ++at;
    if (at++ >= old_lines.size()) return false;
  }
  return true;
}

bool only_fewer(const FabricState& before, const FabricState& after) {
  return std::all_of(
      after.partitions.begin(), after.partitions.end(), [&](const IbPartitionState& partition) {
        const auto* const old = find_partition(before, partition.pkey);
        if (old == nullptr || partition.members.empty()) return false;
        IbPartitionState settings = *old;
        settings.members = partition.members;
        const auto stands = [&](const IbMember& member) {
          const auto* const was = find_member(*old, member.guid);
          return was != nullptr && *was == member;
        };
        return settings == partition &&
               std::all_of(partition.members.begin(), partition.members.end(), stands);
      });
}

}  // namespace

bool is_withdrawal(const std::string& before, const std::string& after,
                   const FabricOwnership& ownership) {
  const PartitionText old_text = read_partition_text(before);
  const PartitionText new_text = read_partition_text(after);
  if (!old_text.rejected.empty() || !new_text.rejected.empty()) return false;
  const DefaultRule old_rule = read_default_rule(old_text);
  const DefaultRule new_rule = read_default_rule(new_text);
  const bool same_rule = old_rule.is_written && new_rule.is_written && !old_rule.all_full &&
                         !new_rule.all_full && old_rule.full_guids == new_rule.full_guids;
  const FabricItem& item = *find_fabric_item("opensm");
  const auto old_seen = item.parse(before, ownership);
  const auto new_seen = item.parse(after, ownership);
  return same_rule && old_seen && new_seen && only_lines_of(before, after) &&
         old_seen->foreign_pkeys == new_seen->foreign_pkeys &&
         only_fewer(old_seen->own, new_seen->own);
}

}  // namespace tundish::fabrics
