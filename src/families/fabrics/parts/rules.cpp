#include "families/fabrics/parts/rules.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "base/text.hpp"

namespace tundish::fabrics {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

Error refused(std::string what, const std::string& object, std::string remedy) {
  return make_error(Code::invalid, std::move(what))
      .about("partition/" + object)
      .with_remedy(std::move(remedy));
}

/// A partition's own text would be quoted in an error: printable and short only.
std::string shown(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, 40)) out += c >= ' ' && c <= '~' ? c : '?';
  return "'" + out + "'";
}

bool is_partition_name(std::string_view name) {
  const std::size_t letters = static_cast<std::size_t>(
      std::find_if(name.begin(), name.end(), [](char c) { return c < 'a' || c > 'z'; }) -
      name.begin());
  return letters >= 1 && letters <= 8 && is_own_name(name, name.substr(0, letters));
}

Result<> check_numbers(const IbPartitionState& partition) {
  const std::string& name = partition.name;
  if (!is_partition_name(name)) {
    return refused("partition name " + shown(name) + " is not letters and five digits", shown(name),
                   "use a name such as t00010, made from the partition's number");
  }
  if (partition.pkey < 1 || partition.pkey > 0x7ffe) {
    return refused("PKey " + std::to_string(partition.pkey) + " of " + name + " does not exist",
                   name, "use 0x0001 to 0x7ffe");
  }
  if (partition.service_level < 0 || partition.service_level > 15) {
    return refused("service level " + std::to_string(partition.service_level) + " of " + name +
                       " does not exist",
                   name, "use 0 to 15");
  }
  return {};
}

Result<> check_members(const IbPartitionState& partition) {
  const IbMember* before = nullptr;
  for (const auto& member : partition.members) {
    if (!is_guid(member.guid)) {
      return refused("partition " + partition.name + " lists " + shown(member.guid) +
                         ", which is no port GUID",
                     partition.name, "give 0x and 16 lower-case hex digits from the inventory");
    }
    if (member.membership != IbMembership::full && member.membership != IbMembership::limited) {
      return refused("GUID " + member.guid + " of " + partition.name + " has no membership",
                     partition.name, "use full or limited");
    }
    if (before != nullptr && before->guid >= member.guid) {
      return refused("GUID " + member.guid + " of " + partition.name + " comes twice or unsorted",
                     partition.name, "list each GUID once, sorted");
    }
    before = &member;
  }
  return {};
}

Result<> check_index0(const FabricState& desired) {
  std::map<std::string, std::string> first;
  for (const auto& partition : desired.partitions) {
    if (!partition.index0) continue;
    for (const auto& member : partition.members) {
      const auto [at, is_new] = first.emplace(member.guid, partition.name);
      if (is_new) continue;
      return refused("GUID " + member.guid + " would have " + at->second + " and " +
                         partition.name + " both at index 0",
                     partition.name, "set index0 on one of the two");
    }
  }
  return {};
}

}  // namespace

bool is_guid(std::string_view text) {
  if (text.size() != 18 || !text.starts_with("0x")) return false;
  const auto digits = text.substr(2);
  const bool hex = std::all_of(digits.begin(), digits.end(),
                               [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); });
  return hex && digits.find_first_not_of('0') != std::string_view::npos &&
         digits.find_first_not_of('f') != std::string_view::npos;
}

std::optional<std::string> normalise_guid(std::string_view text) {
  std::string digits = to_lower(text);
  if (digits.starts_with("0x")) digits = digits.substr(2);
  while (digits.size() > 16 && digits.front() == '0') digits.erase(0, 1);
  const std::string guid = "0x" + digits;
  if (text.size() < 16 || !is_guid(guid)) return std::nullopt;
  return guid;
}

std::string pkey_text(int pkey) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string out = "0x";
  for (int shift = 12; shift >= 0; shift -= 4) out += digits[(pkey >> shift) & 15];
  return out;
}

bool is_own_name(std::string_view name, std::string_view prefix) {
  return name.size() == prefix.size() + 5 && name.starts_with(prefix) &&
         std::all_of(name.end() - 5, name.end(), is_digit);
}

bool is_own_pkey(int pkey, const FabricOwnership& ownership) {
  return pkey >= ownership.pkey_from && pkey <= ownership.pkey_to;
}

Result<> check_ib_partitions(const FabricState& desired) {
  std::set<std::string> names;
  int before = 0;
  for (const auto& partition : desired.partitions) {
    TRY_VOID(check_numbers(partition));
    if (partition.pkey <= before) {
      return refused("PKey " + pkey_text(partition.pkey) + " of " + partition.name +
                         " comes twice or unsorted",
                     partition.name, "list each PKey once, sorted");
    }
    before = partition.pkey;
    if (!names.insert(partition.name).second) {
      return refused("two partitions are called " + partition.name, partition.name,
                     "give each its own name");
    }
    TRY_VOID(check_members(partition));
  }
  return check_index0(desired);
}

Result<> check_ownership(const FabricState& desired, const FabricOwnership& ownership) {
  for (const auto& partition : desired.partitions) {
    if (!is_own_pkey(partition.pkey, ownership)) {
      return refused(
          "PKey " + pkey_text(partition.pkey) + " of " + partition.name + " is not among ours",
          partition.name,
          "use " + pkey_text(ownership.pkey_from) + " to " + pkey_text(ownership.pkey_to) +
              ", or claim more in the fabric's pool");
    }
    if (!is_own_name(partition.name, ownership.name_prefix)) {
      return refused("the name " + partition.name + " is not among ours", partition.name,
                     "use " + ownership.name_prefix + " and five digits");
    }
  }
  return {};
}

const IbPartitionState* find_partition(const FabricState& state, int pkey) {
  for (const auto& partition : state.partitions) {
    if (partition.pkey == pkey) return &partition;
  }
  return nullptr;
}

const IbMember* find_member(const IbPartitionState& partition, std::string_view guid) {
  for (const auto& member : partition.members) {
    if (member.guid == guid) return &member;
  }
  return nullptr;
}

FabricState without_leavers(const FabricState& now, const FabricState& to) {
  FabricState out;
  for (const auto& partition : now.partitions) {
    const IbPartitionState* const wanted = find_partition(to, partition.pkey);
    if (wanted == nullptr) continue;
    IbPartitionState kept = *wanted;
    std::erase_if(kept.members, [&](const IbMember& member) {
      const IbMember* const old = find_member(partition, member.guid);
      return old == nullptr || old->membership != member.membership;
    });
    out.partitions.push_back(std::move(kept));
  }
  return out;
}

std::vector<MemberChange> member_changes(const FabricState& from, const FabricState& to) {
  std::vector<MemberChange> leaving, changing, joining;
  static const IbPartitionState none;
  const auto visit = [&](int pkey) {
    const auto* const a = find_partition(from, pkey);
    const auto* const b = find_partition(to, pkey);
    std::map<std::string, MemberChange> changes;
    for (const auto& member : (a != nullptr ? *a : none).members) {
      changes[member.guid].from = member.membership;
    }
    for (const auto& member : (b != nullptr ? *b : none).members) {
      changes[member.guid].to = member.membership;
    }
    for (auto& [guid, change] : changes) {
      if (change.from == change.to) continue;
      change.guid = guid;
      change.pkey = pkey;
      auto& list = !change.to ? leaving : change.from ? changing : joining;
      list.push_back(change);
    }
  };
  std::set<int> pkeys;
  for (const auto& partition : from.partitions) pkeys.insert(partition.pkey);
  for (const auto& partition : to.partitions) pkeys.insert(partition.pkey);
  for (const int pkey : pkeys) visit(pkey);
  leaving.insert(leaving.end(), changing.begin(), changing.end());
  leaving.insert(leaving.end(), joining.begin(), joining.end());
  return leaving;
}

std::string describe(const MemberChange& change) {
  const auto kind = [](IbMembership m) { return m == IbMembership::full ? "full" : "limited"; };
  const std::string pkey = " PKey " + pkey_text(change.pkey);
  if (!change.to) return "GUID " + change.guid + " leaves" + pkey;
  if (!change.from) return "GUID " + change.guid + " joins" + pkey + " as " + kind(*change.to);
  return "GUID " + change.guid + " becomes " + kind(*change.to) + " in" + pkey;
}

}  // namespace tundish::fabrics
