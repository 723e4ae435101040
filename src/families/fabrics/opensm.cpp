// opensm's partitions.conf. One line that opensm rejects makes it drop the whole file and every
// port a full member of the default partition, so nothing is written that has not been read back
// by the rules of opensm's own parser, and a file that already has such a line is not touched.
// Source: opensm(8), partition configuration, 3.3.23; facts/cloud.md 3.8; checked 2026-11
#include <algorithm>
#include <array>
#include <map>

#include "base/text.hpp"
#include "families/fabrics/fabric_item.hpp"
#include "families/fabrics/opensm_parts/default_rule.hpp"
#include "families/fabrics/opensm_parts/partition_text.hpp"
#include "families/fabrics/parts/rules.hpp"

namespace tundish::fabrics {
namespace {

struct CodeRow {
  int value;
  int code;
};
/// Source: InfiniBand Architecture volume 1, MCMemberRecord MTU; opensm(8) "mtu="; checked 2026-11
constexpr std::array<CodeRow, 5> mtu_codes = {
    {{256, 1}, {512, 2}, {1024, 3}, {2048, 4}, {4096, 5}}};
/// Gb/s. 2.5 (code 2) has no whole number and is not offered.
/// Source: rdma-core libibumad/umad_sa.h UMAD_SA_RATE_*; checked 2026-11
constexpr std::array<CodeRow, 20> rate_codes = {
    {{5, 5},    {10, 3},   {14, 11},  {20, 6},   {25, 15},  {28, 19},  {30, 4},
     {40, 7},   {50, 20},  {56, 12},  {60, 8},   {80, 9},   {100, 16}, {112, 13},
     {120, 10}, {168, 14}, {200, 17}, {300, 18}, {400, 21}, {600, 22}}};

template <std::size_t Size>
std::optional<int> code_of(const std::array<CodeRow, Size>& rows, int value) {
  for (const auto& row : rows) {
    if (row.value == value) return row.code;
  }
  return std::nullopt;
}

template <std::size_t Size>
std::optional<int> value_of(const std::array<CodeRow, Size>& rows, const std::string& code) {
  for (const auto& row : rows) {
    if (std::to_string(row.code) == code) return row.value;
  }
  return std::nullopt;
}

template <std::size_t Size>
std::string values(const std::array<CodeRow, Size>& rows) {
  std::vector<std::string> out;
  for (const auto& row : rows) out.push_back(std::to_string(row.value));
  return join(out, ", ");
}

Result<> accept(const FabricState& desired) {
  TRY_VOID(check_ib_partitions(desired));
  for (const auto& partition : desired.partitions) {
    if (!code_of(mtu_codes, partition.mtu_bytes)) {
      return make_error(Code::invalid, "MTU " + std::to_string(partition.mtu_bytes) + " of " +
                                           partition.name + " does not exist in InfiniBand")
          .about("partition/" + partition.name)
          .with_remedy("use one of " + values(mtu_codes));
    }
    if (partition.rate_gbps != 0 && !code_of(rate_codes, partition.rate_gbps)) {
      return make_error(Code::invalid, "rate " + std::to_string(partition.rate_gbps) + " Gb/s of " +
                                           partition.name + " has no code")
          .about("partition/" + partition.name)
          .with_remedy("use 0 (none) or one of " + values(rate_codes));
    }
  }
  if (!desired.nvlink.empty()) {
    return make_error(Code::unsupported, "opensm holds no NVLink partitions")
        .about("partition/" + desired.nvlink.front().name)
        .with_remedy("give them to the fabric whose manager is nvlink");
  }
  return {};
}

std::string render_partition(const IbPartitionState& partition) {
  std::string out = partition.name + "=" + pkey_text(partition.pkey);
  if (partition.index0) out += ", indx0";
  if (partition.ipoib) out += ", ipoib";
  if (partition.rate_gbps != 0) {
    out += ", rate=" + std::to_string(*code_of(rate_codes, partition.rate_gbps));
  }
  out += ", mtu=" + std::to_string(*code_of(mtu_codes, partition.mtu_bytes));
  out += ", sl=" + std::to_string(partition.service_level) + ", defmember=limited :";
  for (const auto& member : partition.members) {
    out += &member == &partition.members.front() ? "\n  " : ",\n  ";
    out += member.guid + (member.membership == IbMembership::full ? "=full" : "=limited");
  }
  return out + " ;\n";
}

bool is_ours(const PartitionDefinition& definition, const FabricOwnership& ownership) {
  return is_own_name(definition.name, ownership.name_prefix) &&
         (!definition.pkey || is_own_pkey(*definition.pkey, ownership));
}

/// Takes out [begin, end), with its line when nothing else is on it.
void cut(std::string& text, std::size_t begin, std::size_t end) {
  const auto blank = [&](std::size_t at) { return text[at] == ' ' || text[at] == '\t'; };
  std::size_t first = begin, last = end;
  while (first > 0 && blank(first - 1)) --first;
  while (last < text.size() && blank(last)) ++last;
  const bool whole =
      (first == 0 || text[first - 1] == '\n') && (last == text.size() || text[last] == '\n');
  if (whole) {
    begin = first;
    end = std::min(last + 1, text.size());
  }
  text.erase(begin, end - begin);
}

void cut_line(std::string& text, std::string_view line) {
  for (std::size_t at = 0; (at = text.find(line, at)) != std::string::npos;) {
    if (at == 0 || text[at - 1] == '\n') {
      text.erase(at, line.size());
    } else {
      ++at;
    }
  }
}

std::string without_ours(std::string text, const FabricOwnership& ownership) {
  // A foreign line is never cut: cutting our lines first leaves definitions where they are.
  cut_line(text, notice_line);
  cut_line(text, default_rule_line);
  const PartitionText read = read_partition_text(text);
  for (auto at = read.definitions.rbegin(); at != read.definitions.rend(); ++at) {
    if (is_ours(*at, ownership)) cut(text, at->begin, at->end);
  }
  return text;
}

Error in_the_way(std::string what, std::string remedy) {
  return make_error(Code::conflict, "partitions.conf " + what)
      .about("file/partitions.conf")
      .with_remedy(std::move(remedy));
}

std::string line_of(int line) { return "line " + std::to_string(line); }

Result<> check_foreign(const FabricState& desired, const std::string& foreign) {
  const PartitionText read = read_partition_text(foreign);
  if (!read.rejected.empty()) {
    const auto& bad = read.rejected.front();
    return in_the_way(
        line_of(bad.line) + " " + bad.why + ": opensm would drop the whole file and isolate nobody",
        "correct that line by hand; lines are counted without ours");
  }
  for (const auto& definition : read.definitions) {
    if (!definition.pkey || find_partition(desired, *definition.pkey) == nullptr) continue;
    return in_the_way(line_of(definition.line) + " gives PKey " + pkey_text(*definition.pkey) +
                          ", which is " + find_partition(desired, *definition.pkey)->name +
                          "'s, to another partition, and opensm would merge the two",
                      "remove it, or take the PKey out of the fabric's pool");
  }
  const DefaultRule rule = read_default_rule(read);
  if (rule.all_full) {
    return in_the_way(line_of(rule.line) +
                          " makes every port a full member of the default partition: nobody would "
                          "be isolated",
                      "write ALL=limited, SELF=full in its place");
  }
  for (const auto& partition : desired.partitions) {
    for (const auto& member : partition.members) {
      if (!rule.full_guids.contains(member.guid)) continue;
      return in_the_way("makes GUID " + member.guid + " of " + partition.name +
                            " a full member of the default partition: it would reach every port",
                        "take that GUID out of the Default rule");
    }
  }
  return {};
}

void read_flag(const PartitionFlag& flag, IbPartitionState& into, FabricSeen& seen) {
  const auto unclear = [&] {
    seen.unclear.push_back("partition " + into.name + ": flag '" + flag.name + "=" + flag.value +
                           "' is not ours");
  };
  const auto take = [&](std::optional<int> value, int& field) {
    if (value)
      field = *value;
    else
      unclear();
  };
  if (flag.name == "indx0")
    into.index0 = true;
  else if (flag.name == "ipoib")
    into.ipoib = true;
  else if (flag.name == "mtu")
    take(value_of(mtu_codes, flag.value), into.mtu_bytes);
  else if (flag.name == "rate")
    take(value_of(rate_codes, flag.value), into.rate_gbps);
  else if (flag.name == "sl") {
    const auto level = parse_integer(flag.value);
    take(level && *level >= 0 && *level <= 15 ? std::optional<int>(static_cast<int>(*level))
                                              : std::nullopt,
         into.service_level);
  } else if (flag.name != "defmember") {
    unclear();
  }
}

/// opensm merges definitions of one PKey; of a port listed twice the last counts.
void read_own(const PartitionDefinition& definition, std::map<int, IbPartitionState>& own,
              FabricSeen& seen) {
  if (!definition.pkey) {
    seen.unclear.push_back("partition " + definition.name + " (" + line_of(definition.line) +
                           ") has no PKey of its own");
    return;
  }
  const auto [at, is_new] = own.try_emplace(*definition.pkey);
  IbPartitionState& partition = at->second;
  if (is_new) {
    partition.name = definition.name;
    partition.pkey = *definition.pkey;
    partition.mtu_bytes = 2048;  // opensm's default
    for (const auto& flag : definition.flags) read_flag(flag, partition, seen);
  } else {
    seen.unclear.push_back("partition " + partition.name + " is written a second time (" +
                           line_of(definition.line) + ")");
  }
  for (const auto& port : definition.ports) {
    if (port.set != PortSet::one || !is_guid(port.guid)) {
      seen.unclear.push_back("partition " + partition.name + " (" + line_of(definition.line) +
                             ") lists more than single ports");
      continue;
    }
    const auto by_guid = [](const IbMember& a, const std::string& guid) { return a.guid < guid; };
    auto member =
        std::lower_bound(partition.members.begin(), partition.members.end(), port.guid, by_guid);
    if (member == partition.members.end() || member->guid != port.guid) {
      member = partition.members.insert(member, {port.guid, port.membership});
    }
    member->membership = port.membership;
  }
}

void read_foreign(const PartitionDefinition& definition, const FabricOwnership& ownership,
                  FabricSeen& seen) {
  if (!definition.pkey) {
    if (definition.name == "Default") return;
    seen.unclear.push_back("partition '" + definition.name + "' (" + line_of(definition.line) +
                           ") gets its PKey from opensm");
    return;
  }
  if (*definition.pkey == 0x7fff) return;
  seen.foreign_pkeys.push_back(*definition.pkey);
  if (is_own_name(definition.name, ownership.name_prefix)) {
    seen.unclear.push_back("partition " + definition.name + " has our name but PKey " +
                           pkey_text(*definition.pkey));
  }
  for (const auto& port : definition.ports) {
    const bool everybody = port.set == PortSet::all || port.set == PortSet::cas;
    if (!everybody || port.membership != IbMembership::full) continue;
    seen.unclear.push_back("partition " + pkey_text(*definition.pkey) + " (" +
                           line_of(definition.line) + ") makes every port a full member");
  }
}

Result<FabricSeen> parse(const std::string& text, const FabricOwnership& ownership) {
  FabricSeen seen;
  const PartitionText read = read_partition_text(text);
  for (const auto& bad : read.rejected) {
    seen.unclear.push_back(line_of(bad.line) + " " + bad.why);
  }
  std::map<int, IbPartitionState> own;
  for (const auto& definition : read.definitions) {
    if (is_ours(definition, ownership))
      read_own(definition, own, seen);
    else
      read_foreign(definition, ownership, seen);
  }
  for (const auto& definition : read.definitions) {
    if (is_ours(definition, ownership) || !definition.pkey) continue;
    const auto merged = own.find(*definition.pkey);
    if (merged == own.end()) continue;
    seen.unclear.push_back("partition " + merged->second.name + " is also written by " +
                           line_of(definition.line) + ", and opensm merges the two");
  }
  for (auto& [pkey, partition] : own) seen.own.partitions.push_back(std::move(partition));
  std::sort(seen.foreign_pkeys.begin(), seen.foreign_pkeys.end());
  const auto twice = std::unique(seen.foreign_pkeys.begin(), seen.foreign_pkeys.end());
  seen.foreign_pkeys.erase(twice, seen.foreign_pkeys.end());
  seen.default_is_full = !read.rejected.empty() || read_default_rule(read).all_full;
  return seen;
}

Result<std::string> render(const FabricState& desired, const std::string& foreign,
                           const FabricOwnership& ownership) {
  TRY_VOID(accept(desired));
  TRY_VOID(check_ownership(desired, ownership));
  const std::string rest = without_ours(foreign, ownership);
  TRY_VOID(check_foreign(desired, rest));
  // Ours comes first: a last foreign definition without its ';' would swallow what follows it.
  std::string out(notice_line);
  if (!read_default_rule(read_partition_text(rest)).is_written) out += default_rule_line;
  for (const auto& partition : desired.partitions) out += render_partition(partition);
  out += rest;
  const PartitionText read = read_partition_text(out);
  const FabricSeen seen = TRY(parse(out, ownership));
  if (!read.rejected.empty() || seen.default_is_full || !(seen.own == desired)) {
    return make_error(Code::internal, "the rendered partitions.conf does not read back")
        .about("file/partitions.conf");
  }
  return out;
}

FabricStep make_step(const FabricState& from, const FabricState& to) {
  FabricStep step;
  std::vector<std::string> parts;
  for (const auto& change : member_changes(from, to)) parts.push_back(describe(change));
  for (const auto& partition : to.partitions) {
    if (find_partition(from, partition.pkey) == nullptr) {
      parts.push_back("partition " + partition.name + " is added");
    }
  }
  for (const auto& partition : from.partitions) {
    if (find_partition(to, partition.pkey) == nullptr) {
      parts.push_back("partition " + partition.name + " is removed");
    }
  }
  step.what = parts.empty() ? "settings of partitions change" : join(parts, "; ");
  step.call = "replace partitions.conf";
  step.text = std::string(notice_line) + std::string(default_rule_line);
  for (const auto& partition : to.partitions) step.text += render_partition(partition);
  return step;
}

/// At most two files: whoever leaves has left before anybody joins.
Result<std::vector<FabricStep>> steps(const FabricState& from, const FabricState& to) {
  TRY_VOID(accept(to));
  std::vector<FabricStep> out;
  if (from == to) return out;
  const FabricState between = without_leavers(from, to);
  const bool leaves = std::any_of(
      from.partitions.begin(), from.partitions.end(), [&](const IbPartitionState& partition) {
        const auto* kept = find_partition(between, partition.pkey);
        return kept == nullptr || kept->members.size() < partition.members.size();
      });
  if (leaves && !(between == to)) {
    out.push_back(make_step(from, between));
    out.push_back(make_step(between, to));
  } else {
    out.push_back(make_step(from, to));
  }
  return out;
}

}  // namespace

extern const FabricItem opensm;
const FabricItem opensm = {
    "opensm",
    "opensm's partitions.conf, replaced as a whole beside what others wrote in it",
    "opensm(8) 3.3.23, partition configuration; facts/cloud.md 3.8",
    accept,
    render,
    parse,
    steps,
};

}  // namespace tundish::fabrics
