#include "families/fabrics/opensm_parts/canary.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>

#include "base/text.hpp"
#include "families/fabrics/opensm_parts/partition_text.hpp"
#include "families/fabrics/opensm_parts/sweep.hpp"

namespace tundish::fabrics {
namespace {

std::string digits_of(std::uint64_t guid) {
  std::string out;
  for (int shift = 60; shift >= 0; shift -= 4) out += "0123456789abcdef"[(guid >> shift) & 15U];
  return out;
}

/// ibsim numbers ports from the node's GUID: the port's is one above it.
std::optional<std::uint64_t> node_guid(const std::string& port_guid) {
  std::uint64_t out = 0;
  for (const char c : std::string_view(port_guid).substr(2)) {
    out = out * 16 + static_cast<std::uint64_t>(c <= '9' ? c - '0' : c - 'a' + 10);
  }
  if (out < 2) return std::nullopt;
  return out - 1;
}

/// One member of every partition, then a second of every one, until there are enough.
std::vector<std::string> pick_members(const FabricState& desired, std::size_t limit) {
  std::vector<std::string> out;
  std::set<std::string> taken;
  bool more = true;
  for (std::size_t turn = 0; more && out.size() < limit; ++turn) {
    more = false;
    for (const auto& partition : desired.partitions) {
      if (turn >= partition.members.size()) continue;
      more = true;
      const std::string& guid = partition.members[turn].guid;
      if (out.size() < limit && node_guid(guid) && taken.insert(guid).second) out.push_back(guid);
    }
  }
  return out;
}

/// Port GUIDs that nobody in the file has, far apart so that node GUIDs differ too.
std::vector<std::string> free_guids(const std::string& text, std::size_t count) {
  std::set<std::string> used;
  for (const auto& definition : read_partition_text(text).definitions) {
    for (const auto& port : definition.ports) used.insert(port.guid);
  }
  std::vector<std::string> out;
  for (std::uint64_t guid = 0x00ca0a0100000011; out.size() < count; guid += 16) {
    const auto at = [&](std::uint64_t value) { return used.contains("0x" + digits_of(value)); };
    if (!at(guid) && !at(guid - 1) && !at(guid + 1)) out.push_back("0x" + digits_of(guid));
  }
  return out;
}

}  // namespace

Canary make_canary(const FabricState& desired, const std::string& text, int limit) {
  Canary out;
  out.guids = pick_members(desired, static_cast<std::size_t>(std::max(limit, 0)));
  const auto free = free_guids(text, 3);  // manager, outsider, the switch
  std::vector<std::string> ports = {free[0], free[1]};
  ports.insert(ports.end(), out.guids.begin(), out.guids.end());
  const std::string leaf = free[2].substr(2);
  std::string nodes;
  out.net = "switchguid=0x" + leaf + "(" + leaf + ")\nSwitch " + std::to_string(ports.size()) +
            " \"S-" + leaf + "\" # \"canary\"\n";
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const std::string node = digits_of(*node_guid(ports[i]));
    const std::string number = std::to_string(i + 1);
    out.net += "[" + number + "] \"H-" + node + "\"[1]\n";
    nodes += "\ncaguid=0x" + node + "\nHca 1 \"H-" + node + "\" # \"port" + number + "\"\n[1](" +
             ports[i].substr(2) + ") \"S-" + leaf + "\"[" + number + "]\n";
    if (i == 0) out.manager_node = "H-" + node;
    if (i == 0) out.manager_guid = ports[i];
  }
  out.net += nodes;
  return out;
}

Result<> judge_canary(const std::string& output, const FabricState& desired, const Canary& canary,
                      const FabricOwnership& ownership, const std::string& text) {
  const auto refused = [](std::string what) {
    return make_error(Code::conflict, "the canary refuses the new partitions.conf: " + what)
        .about("file/partitions.conf")
        .with_remedy("nothing was written; correct the line or the member it names");
  };
  bool is_up = false;
  for (const auto& line : split(output, '\n')) {
    if (!line.starts_with("opensm ")) continue;
    if (line.find("PARSE ERROR") != std::string::npos ||
        line.find("Partition configuration") != std::string::npos) {
      return refused(line.substr(7, 160));
    }
    is_up = is_up || line.find("SUBNET UP") != std::string::npos;
  }
  // The canary's opensm has ended by now, so that it cannot say itself who it was.
  const Sweep sweep = parse_sweep("sminfo: guid " + canary.manager_guid + "\n" + output);
  const auto answered = std::count_if(sweep.ports.begin(), sweep.ports.end(),
                                      [](const FabricPort& port) { return port.has_table; });
  if (!is_up || static_cast<std::size_t>(answered) != canary.guids.size() + 2) {
    return make_error(Code::unavailable,
                      "the canary fabric did not come up (" + std::to_string(answered) + " of " +
                          std::to_string(canary.guids.size() + 2) + " ports answered)")
        .about("file/partitions.conf")
        .with_remedy("nothing was written; see whether opensm and ibsim run on the manager's node");
  }
  const auto rule = read_default_rule(read_partition_text(text));
  const auto faults = find_faults(sweep, desired, ownership, rule.full_guids);
  if (!faults.empty()) return refused(faults.front().what);
  return {};
}

}  // namespace tundish::fabrics
