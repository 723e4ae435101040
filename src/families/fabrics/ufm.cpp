// NVIDIA UFM by REST. Its text is what two reads give: {"guids_data": ..., "qos_conf": ...}, the
// answers of GET /resources/pkeys?guids_data=true and ?qos_conf=true, which UFM does not give at
// once. GUIDs are added and removed by name; the call that sets a whole list drops whom it does not
// name, and taking the last GUID out deletes the partition.
// Source: UFM Enterprise REST API Guide 6.22, PKey GUIDs; facts/cloud.md 3.8; checked 2026-11
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.hpp"
#include "codec/json.hpp"
#include "families/fabrics/fabric_item.hpp"
#include "families/fabrics/parts/rules.hpp"

namespace tundish::fabrics {
namespace {

using Json = nlohmann::ordered_json;  // foreign values keep their order

/// Gb/s that UFM takes as rate_limit. 2.5, its own default, stands for "no limit of ours".
constexpr std::array<int, 16> rates = {5,  10, 14,  20,  25,  30,  40,  56,
                                       60, 80, 100, 112, 120, 168, 200, 300};
constexpr double no_rate = 2.5;

Error refused(const IbPartitionState& partition, std::string what, std::string remedy) {
  return make_error(Code::invalid, partition.name + ": " + std::move(what))
      .about("partition/" + partition.name)
      .with_remedy(std::move(remedy));
}

Result<> accept(const FabricState& desired) {
  TRY_VOID(check_ib_partitions(desired));
  for (const auto& partition : desired.partitions) {
    if (partition.mtu_bytes != 2048 && partition.mtu_bytes != 4096) {
      return refused(partition, "UFM has no MTU " + std::to_string(partition.mtu_bytes),
                     "use 2048 or 4096");
    }
    const int rate = partition.rate_gbps;
    if (rate != 0 && std::find(rates.begin(), rates.end(), rate) == rates.end()) {
      return refused(partition, "UFM has no rate of " + std::to_string(rate) + " Gb/s",
                     "use 0 (none), 5, 10, 14, 20, 25, 30, 40, 56, 60, 80, 100, 112, 120, 168, 200 "
                     "or 300");
    }
    if (partition.index0 && partition.members.empty()) {
      return refused(partition, "UFM keeps index0 with the members, and there are none",
                     "give it members, or leave index0 off");
    }
  }
  if (!desired.nvlink.empty()) {
    return make_error(Code::unsupported, "UFM's PKeys hold no NVLink partitions")
        .about("partition/" + desired.nvlink.front().name)
        .with_remedy("give them to the fabric whose manager is nvlink");
  }
  return {};
}

/// UFM writes 0x1, not 0x0001.
std::string short_pkey(int pkey) {
  const std::string text = pkey_text(pkey);
  return "0x" + text.substr(text.find_first_not_of('0', 2));
}

std::string bare_guid(const std::string& guid) { return guid.substr(2); }

std::string membership_text(IbMembership membership) {
  return membership == IbMembership::full ? "full" : "limited";
}

Json qos_of(const IbPartitionState& partition) {
  Json out;
  out["mtu_limit"] = partition.mtu_bytes / 1024;
  out["service_level"] = partition.service_level;
  if (partition.rate_gbps == 0)
    out["rate_limit"] = no_rate;
  else
    out["rate_limit"] = partition.rate_gbps;
  return out;
}

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<int> read_pkey(const std::string& key) {
  if (!key.starts_with("0x") && !key.starts_with("0X")) return std::nullopt;
  const auto value = parse_integer(std::string_view(key).substr(2), 16);
  if (!value || *value < 1 || *value > 0xffff) return std::nullopt;
  return static_cast<int>(*value & 0x7fff);
}

struct Reading {
  FabricSeen seen;
  const FabricOwnership& ownership;

  void unclear(std::string what) { seen.unclear.push_back(std::move(what)); }

  void read_members(const JsonValue& guids, IbPartitionState& into) {
    std::size_t at_index0 = 0;
    for (const auto& item : guids.items()) {
      const auto guid = normalise_guid(item.at("guid").as_text().value_or(""));
      const std::string kind = item.at("membership").as_text().value_or("");
      if (!guid || (kind != "full" && kind != "limited")) {
        unclear("partition " + into.name + " lists a member that is not understood");
        continue;
      }
      at_index0 += item.at("index0").as_flag().value_or(false) ? 1U : 0U;
      into.members.push_back({*guid, kind == "full" ? IbMembership::full : IbMembership::limited});
    }
    std::sort(into.members.begin(), into.members.end(),
              [](const IbMember& a, const IbMember& b) { return a.guid < b.guid; });
    const auto twice =
        std::unique(into.members.begin(), into.members.end(),
                    [](const IbMember& a, const IbMember& b) { return a.guid == b.guid; });
    if (twice != into.members.end()) unclear("partition " + into.name + " lists a GUID twice");
    into.members.erase(twice, into.members.end());
    into.index0 = at_index0 > 0;
    if (at_index0 != 0 && at_index0 != guids.size()) {
      unclear("partition " + into.name + " is at index 0 of some members only");
    }
  }

  void read_qos(const JsonValue& qos, IbPartitionState& into) {
    const auto mtu = qos.at("mtu_limit").as_integer();
    const auto level = qos.at("service_level").as_integer();
    const auto rate = qos.at("rate_limit").as_real();
    const bool whole = rate && *rate >= 0 && *rate <= 1000 && *rate == static_cast<int>(*rate);
    if (!mtu || (*mtu != 2 && *mtu != 4) || !level || *level < 0 || *level > 15 || !rate ||
        (!whole && *rate != no_rate)) {
      return unclear("partition " + into.name + " has limits that are not understood");
    }
    into.mtu_bytes = static_cast<int>(*mtu) * 1024;
    into.service_level = static_cast<int>(*level);
    into.rate_gbps = whole ? static_cast<int>(*rate) : 0;
  }

  void read_partition(const std::string& key, const JsonValue& value, const JsonValue& qos) {
    const auto pkey = read_pkey(key);
    if (!pkey || value.kind() != JsonValue::Kind::object) return unclear("a PKey has no number");
    const std::string name = value.at("partition").as_text().value_or("");
    if (*pkey == 0x7fff) return;
    if (!is_own_pkey(*pkey, ownership) || !is_own_name(name, ownership.name_prefix)) {
      seen.foreign_pkeys.push_back(*pkey);
      return;
    }
    if (find_partition(seen.own, *pkey) != nullptr) return unclear("a PKey is there twice");
    IbPartitionState partition;
    partition.name = name;
    partition.pkey = *pkey;
    partition.ipoib = value.at("ip_over_ib").as_flag().value_or(false);
    read_members(value.at("guids"), partition);
    read_qos(qos, partition);
    seen.own.partitions.push_back(std::move(partition));
  }

  /// A member of ours that is full in the default partition reaches everybody.
  void read_default(const JsonValue& guids) {
    for (const auto& item : guids.items()) {
      if (item.at("membership").as_text() != "full") continue;
      const auto guid = normalise_guid(item.at("guid").as_text().value_or(""));
      for (const auto& partition : seen.own.partitions) {
        if (guid && find_member(partition, *guid) != nullptr) seen.default_is_full = true;
      }
    }
  }
};

Result<FabricSeen> parse(const std::string& text, const FabricOwnership& ownership) {
  Reading reading{{}, ownership};
  if (text.empty()) return reading.seen;
  const JsonValue root = TRY(JsonValue::parse(text));
  const JsonValue list = root.at("guids_data"), qos = root.at("qos_conf");
  if (list.kind() != JsonValue::Kind::object) {
    return make_error(Code::corrupt, "UFM's answer has no guids_data");
  }
  for (const auto& [key, value] : list.members()) {
    reading.read_partition(key, value, qos.at(key));
  }
  reading.read_default(list.at("0x7fff").at("guids"));
  auto& own = reading.seen.own.partitions;
  std::sort(own.begin(), own.end(), [](const auto& a, const auto& b) { return a.pkey < b.pkey; });
  auto& foreign = reading.seen.foreign_pkeys;
  std::sort(foreign.begin(), foreign.end());
  foreign.erase(std::unique(foreign.begin(), foreign.end()), foreign.end());
  return std::move(reading.seen);
}

/// The reads as they would be. Foreign partitions keep every value.
Result<std::string> render(const FabricState& desired, const std::string& foreign,
                           const FabricOwnership& ownership) {
  TRY_VOID(accept(desired));
  TRY_VOID(check_ownership(desired, ownership));
  const FabricSeen seen = TRY(parse(foreign, ownership));
  Json root = foreign.empty() ? Json::object() : Json::parse(foreign, nullptr, false);
  for (const char* part : {"guids_data", "qos_conf"}) {
    if (!root.is_object() || !root[part].is_object()) root[part] = Json::object();
  }
  std::vector<std::string> ours;
  for (const auto& [key, value] : root["guids_data"].items()) {
    const auto pkey = read_pkey(key);
    if (pkey && find_partition(seen.own, *pkey) != nullptr) ours.push_back(key);
  }
  for (const auto& key : ours) {
    root["guids_data"].erase(key);
    root["qos_conf"].erase(key);
  }
  for (const auto& partition : desired.partitions) {
    if (std::find(seen.foreign_pkeys.begin(), seen.foreign_pkeys.end(), partition.pkey) !=
        seen.foreign_pkeys.end()) {
      return make_error(Code::conflict, "PKey " + pkey_text(partition.pkey) + " of " +
                                            partition.name + " is somebody else's in UFM")
          .about("partition/" + partition.name)
          .with_remedy("take the PKey out of the fabric's pool");
    }
    Json guids = Json::array();
    for (const auto& member : partition.members) {
      guids.push_back({{"guid", bare_guid(member.guid)},
                       {"membership", membership_text(member.membership)},
                       {"index0", partition.index0}});
    }
    const std::string key = short_pkey(partition.pkey);
    root["guids_data"][key] = {
        {"partition", partition.name}, {"ip_over_ib", partition.ipoib}, {"guids", guids}};
    root["qos_conf"][key] = qos_of(partition);
    root["qos_conf"][key]["partition"] = partition.name;
  }
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

FabricStep create_step(const IbPartitionState& partition) {
  Json body = qos_of(partition);
  body["pkey"] = short_pkey(partition.pkey);
  body["partition_name"] = partition.name;
  body["index0"] = partition.index0;
  body["ip_over_ib"] = partition.ipoib;
  return {"partition " + partition.name + " is created", "POST /resources/pkeys/add", dump(body)};
}

std::string list_guids(const std::vector<IbMember>& members) {
  const std::string more =
      members.size() > 1 ? " and " + std::to_string(members.size() - 1) + " more" : "";
  return "GUID " + members.front().guid + more;
}

FabricStep add_step(const IbPartitionState& partition, const std::vector<IbMember>& members) {
  Json body;
  body["pkey"] = short_pkey(partition.pkey);
  body["index0"] = partition.index0;
  body["ip_over_ib"] = partition.ipoib;
  for (const auto& member : members) {
    body["guids"].push_back(bare_guid(member.guid));
    body["memberships"].push_back(membership_text(member.membership));
  }
  return {list_guids(members) + " joins PKey " + pkey_text(partition.pkey), "POST /resources/pkeys",
          dump(body)};
}

FabricStep remove_step(int pkey, const std::vector<IbMember>& members) {
  Json body;
  body["pkey"] = short_pkey(pkey);
  for (const auto& member : members) body["guids"].push_back(bare_guid(member.guid));
  return {list_guids(members) + " leaves PKey " + pkey_text(pkey),
          "POST /actions/remove_guids_from_pkey", dump(body)};
}

FabricStep qos_step(const IbPartitionState& partition) {
  Json body = qos_of(partition);
  body["pkey"] = short_pkey(partition.pkey);
  return {"partition " + partition.name + " changes its limits", "PUT /resources/pkeys/qos_conf",
          dump(body)};
}

FabricStep delete_step(const IbPartitionState& partition) {
  return {"partition " + partition.name + " is removed",
          "DELETE /resources/pkeys/" + short_pkey(partition.pkey), ""};
}

/// Which GUIDs are members of a partition in `to` that they are not in in `from`.
std::set<std::string> joiners(const FabricState& from, const FabricState& to) {
  std::set<std::string> out;
  for (const auto& change : member_changes(from, to)) {
    if (change.to && !change.from) out.insert(change.guid);
  }
  return out;
}

struct Plan {
  std::vector<FabricStep> leave, join, leave_late;
  std::set<std::string> joining;  ///< somewhere

  void change(const IbPartitionState& old, const IbPartitionState& wanted) {
    if (old.name != wanted.name || old.ipoib != wanted.ipoib || old.index0 != wanted.index0) {
      leave.push_back(delete_step(old));  // UFM changes none of these in place
      return create(wanted);
    }
    std::vector<IbMember> out, in, altered;
    for (const auto& member : old.members) {
      const auto* const now = find_member(wanted, member.guid);
      if (now == nullptr || now->membership != member.membership) out.push_back(member);
      if (now != nullptr && now->membership != member.membership) altered.push_back(*now);
    }
    for (const auto& member : wanted.members) {
      if (find_member(old, member.guid) == nullptr) in.push_back(member);
    }
    const bool empties = !out.empty() && out.size() == old.members.size();
    const bool moves = std::any_of(out.begin(), out.end(), [&](const IbMember& member) {
      return joining.contains(member.guid);
    });
    const bool replaces = empties && !in.empty() && altered.empty() && !moves;
    if (replaces) {
      // Nobody of the old ones stays, and the last to leave would take the partition along.
      join.push_back(add_step(wanted, in));
      leave_late.push_back(remove_step(old.pkey, out));
    } else {
      if (!out.empty()) leave.push_back(remove_step(old.pkey, out));
      if (empties) join.push_back(create_step(wanted));
      in.insert(in.end(), altered.begin(), altered.end());
      if (!in.empty()) join.push_back(add_step(wanted, in));
    }
    const bool is_new = empties && !replaces;
    if (!is_new && dump(qos_of(old)) != dump(qos_of(wanted))) join.push_back(qos_step(wanted));
  }

  void create(const IbPartitionState& wanted) {
    join.push_back(create_step(wanted));
    if (!wanted.members.empty()) join.push_back(add_step(wanted, wanted.members));
  }
};

Result<std::vector<FabricStep>> steps(const FabricState& from, const FabricState& to) {
  TRY_VOID(accept(to));
  Plan plan;
  plan.joining = joiners(from, to);
  for (const auto& old : from.partitions) {
    const auto* const wanted = find_partition(to, old.pkey);
    if (wanted == nullptr)
      plan.leave.push_back(delete_step(old));
    else
      plan.change(old, *wanted);
  }
  for (const auto& wanted : to.partitions) {
    if (find_partition(from, wanted.pkey) == nullptr) plan.create(wanted);
  }
  std::vector<FabricStep> out = std::move(plan.leave);
  out.insert(out.end(), plan.join.begin(), plan.join.end());
  out.insert(out.end(), plan.leave_late.begin(), plan.leave_late.end());
  return out;
}

}  // namespace

extern const FabricItem ufm;
const FabricItem ufm = {
    "ufm",
    "NVIDIA UFM's PKeys by REST: members are added and removed, never set as a whole list",
    "UFM Enterprise REST API Guide 6.22, PKey GUIDs; facts/cloud.md 3.8",
    accept,
    render,
    parse,
    steps,
};

}  // namespace tundish::fabrics
