// NVLink partitions of one domain, and the IMEX lists of the nodes in them. Its text is JSON in the
// manner of NMX: {"partitions": [{"name", "partition_id", "gpus"}], "imex": {NAME: [addresses]}}.
// No manager of a vendor has read it: it is proved against the simulator in tests/sims alone.
// Source: NMX Controller 1.0 gRPC API (partition ids, one partition per GPU); IMEX guide,
// deployment models (nodes_config.cfg, the same list on every node); checked 2026-11
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.hpp"
#include "codec/json.hpp"
#include "families/fabrics/fabric_item.hpp"
#include "families/fabrics/parts/rules.hpp"

namespace tundish::fabrics {
namespace {

using Json = nlohmann::ordered_json;  // foreign values keep their order
using Names = std::vector<std::string>;

Error refused(const std::string& name, std::string what, std::string remedy) {
  return make_error(Code::invalid, "NVLink partition " + name + ": " + std::move(what))
      .about("partition/" + name)
      .with_remedy(std::move(remedy));
}

bool is_word(std::string_view text, std::string_view extra) {
  return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), [&](char c) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    return plain || extra.find(c) != std::string_view::npos;
  });
}

bool is_ordered(const Names& names) {
  return std::adjacent_find(names.begin(), names.end(), std::greater_equal<>()) == names.end();
}

Result<> check_partition(const NvlinkPartitionState& partition) {
  const std::string& name = partition.name;
  const auto prefix = std::string_view(name).substr(0, name.find_first_of("0123456789"));
  if (prefix.empty() || !is_word(prefix, "") || !is_own_name(name, prefix)) {
    return refused("?", "a name is not letters and five digits", "use a name such as t00010");
  }
  // 32766 is the manager's own default partition.
  if (partition.partition_id < 1 || partition.partition_id > 32765) {
    return refused(name, "there is no id " + std::to_string(partition.partition_id),
                   "use 1 to 32765");
  }
  for (const auto& gpu : partition.gpus) {
    if (!gpu.starts_with("GPU-") || !is_word(gpu, "-")) {
      return refused(name, "lists something that is no GPU UUID", "use the inventory's GPU-...");
    }
  }
  for (const auto& node : partition.imex_nodes) {
    if (!is_word(node, ".:") || node.find_first_of(".:") == std::string::npos) {
      return refused(name, "lists something that is no address", "use the nodes' IP addresses");
    }
  }
  if (!is_ordered(partition.gpus) || !is_ordered(partition.imex_nodes)) {
    return refused(name, "a GPU or node comes twice or unsorted", "list each once, sorted");
  }
  return {};
}

Result<> accept(const FabricState& desired) {
  std::map<std::string, std::string> owner;
  std::set<std::string> names;
  int before = 0;
  for (const auto& partition : desired.nvlink) {
    TRY_VOID(check_partition(partition));
    if (partition.partition_id <= before || !names.insert(partition.name).second) {
      return refused(partition.name, "its id or name comes twice or unsorted",
                     "list each id once, sorted");
    }
    before = partition.partition_id;
    for (const auto& gpu : partition.gpus) {
      const auto [at, is_new] = owner.emplace(gpu, partition.name);
      if (is_new) continue;
      return refused(partition.name, gpu + " is also in " + at->second,
                     "a GPU is in one partition at most");
    }
    for (const auto& node : partition.imex_nodes) {
      const auto [at, is_new] = owner.emplace(node, partition.name);
      if (is_new) continue;
      return refused(partition.name, "node " + node + " is also in the IMEX list of " + at->second,
                     "a node is in one IMEX list at most");
    }
  }
  if (!desired.partitions.empty()) {
    return make_error(Code::unsupported, "an NVLink manager holds no InfiniBand partitions")
        .about("partition/" + desired.partitions.front().name)
        .with_remedy("give them to the fabric whose manager is opensm or ufm");
  }
  return {};
}

Names read_names(const JsonValue& list) {
  Names out;
  for (const auto& item : list.items()) {
    if (auto name = item.as_text()) out.push_back(std::move(*name));
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

Result<FabricSeen> parse(const std::string& text, const FabricOwnership& ownership) {
  FabricSeen seen;
  if (text.empty()) return seen;
  const JsonValue root = TRY(JsonValue::parse(text));
  const JsonValue list = root.at("partitions");
  if (list.kind() != JsonValue::Kind::list) {
    return make_error(Code::corrupt, "the NVLink manager's answer has no partitions");
  }
  std::set<std::string> named;
  for (const auto& item : list.items()) {
    const auto name = item.at("name").as_text();
    const auto id = item.at("partition_id").as_integer();
    if (!name || !id || *id < 0 || *id > 32766) {
      seen.unclear.push_back("an NVLink partition without name or id");
      continue;
    }
    if (!is_own_name(*name, ownership.name_prefix) || !named.insert(*name).second) continue;
    NvlinkPartitionState partition;
    partition.name = *name;
    partition.partition_id = static_cast<int>(*id);
    partition.gpus = read_names(item.at("gpus"));
    partition.imex_nodes = read_names(root.at("imex").at(*name));
    seen.own.nvlink.push_back(std::move(partition));
  }
  std::sort(seen.own.nvlink.begin(), seen.own.nvlink.end(),
            [](const auto& a, const auto& b) { return a.partition_id < b.partition_id; });
  for (const auto& [name, nodes] : root.at("imex").members()) {
    if (!is_own_name(name, ownership.name_prefix) || named.contains(name)) continue;
    seen.unclear.push_back("an IMEX list " + name + " without its partition");
  }
  return seen;
}

Result<std::string> render(const FabricState& desired, const std::string& foreign,
                           const FabricOwnership& ownership) {
  TRY_VOID(accept(desired));
  TRY_VOID(parse(foreign, ownership));
  Json root = foreign.empty() ? Json::object() : Json::parse(foreign, nullptr, false);
  if (!root.is_object()) root = Json::object();
  Json list = Json::array();
  Json imex = Json::object();
  const auto is_ours = [&](const Json& name) {
    return name.is_string() && is_own_name(name.get<std::string>(), ownership.name_prefix);
  };
  std::set<std::string> taken;
  if (root["partitions"].is_array()) {
    for (const auto& item : root["partitions"]) {
      if (item.is_object() && item.contains("name") && is_ours(item["name"])) continue;
      if (item.is_object() && item.contains("partition_id")) {
        taken.insert(item["partition_id"].dump(-1, ' ', false, Json::error_handler_t::replace));
      }
      list.push_back(item);
    }
  }
  if (root["imex"].is_object()) {
    for (const auto& [name, nodes] : root["imex"].items()) {
      if (!is_own_name(name, ownership.name_prefix)) imex[name] = nodes;
    }
  }
  for (const auto& partition : desired.nvlink) {
    if (!is_own_name(partition.name, ownership.name_prefix)) {
      return refused(partition.name, "the name is not among ours",
                     "use " + ownership.name_prefix + " and five digits");
    }
    if (taken.contains(std::to_string(partition.partition_id))) {
      return make_error(Code::conflict, "NVLink partition id " +
                                            std::to_string(partition.partition_id) + " of " +
                                            partition.name + " is somebody else's")
          .about("partition/" + partition.name)
          .with_remedy("take the id out of the fabric's pool");
    }
    list.push_back({{"name", partition.name},
                    {"partition_id", partition.partition_id},
                    {"gpus", partition.gpus}});
    imex[partition.name] = partition.imex_nodes;
  }
  root["partitions"] = std::move(list);
  root["imex"] = std::move(imex);
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

const NvlinkPartitionState* find_id(const FabricState& state, int id) {
  for (const auto& partition : state.nvlink) {
    if (partition.partition_id == id) return &partition;
  }
  return nullptr;
}

Names without(const Names& from, const Names& what) {
  Names out;
  std::set_difference(from.begin(), from.end(), what.begin(), what.end(), std::back_inserter(out));
  return out;
}

FabricStep gpu_step(const char* verb, const NvlinkPartitionState& partition, const Names& gpus) {
  const bool leaves = std::string_view(verb) == "remove gpus";
  Json body = {{"partition_id", partition.partition_id}, {"gpus", gpus}};
  return {join(gpus, ", ") + (leaves ? " leaves " : " joins ") + partition.name, verb, body.dump()};
}

FabricStep imex_step(const std::string& name, const Names& nodes) {
  Json body = {{"name", name}, {"nodes", nodes}};
  return {"IMEX list of " + name + " is " + (nodes.empty() ? "removed" : join(nodes, ", ")),
          "set imex", body.dump()};
}

/// Trust ends first (IMEX), then the links part; links join before trust begins.
Result<std::vector<FabricStep>> steps(const FabricState& from, const FabricState& to) {
  TRY_VOID(accept(to));
  std::vector<FabricStep> leave, join_up;
  static const NvlinkPartitionState none;
  for (const auto& old : from.nvlink) {
    const auto* const wanted = find_id(to, old.partition_id);
    const bool ends = wanted == nullptr || wanted->name != old.name;
    const auto& next = ends ? none : *wanted;
    const Names nodes_out = without(old.imex_nodes, next.imex_nodes);
    const Names gpus_out = without(old.gpus, next.gpus);
    if (!nodes_out.empty() || ends) {
      leave.push_back(imex_step(old.name, without(old.imex_nodes, nodes_out)));
    }
    if (!gpus_out.empty()) leave.push_back(gpu_step("remove gpus", old, gpus_out));
    if (ends) {
      Json body = {{"partition_id", old.partition_id}};
      leave.push_back(
          {"NVLink partition " + old.name + " is removed", "delete partition", body.dump()});
    }
  }
  for (const auto& wanted : to.nvlink) {
    const auto* const old = find_id(from, wanted.partition_id);
    const bool begins = old == nullptr || old->name != wanted.name;
    const auto& past = begins ? none : *old;
    if (begins) {
      Json body = {{"partition_id", wanted.partition_id}, {"name", wanted.name}};
      join_up.push_back(
          {"NVLink partition " + wanted.name + " is created", "create partition", body.dump()});
    }
    const Names gpus_in = without(wanted.gpus, past.gpus);
    if (!gpus_in.empty()) join_up.push_back(gpu_step("add gpus", wanted, gpus_in));
    if (!without(wanted.imex_nodes, past.imex_nodes).empty()) {
      join_up.push_back(imex_step(wanted.name, wanted.imex_nodes));
    }
  }
  leave.insert(leave.end(), join_up.begin(), join_up.end());
  return leave;
}

}  // namespace

extern const FabricItem nvlink;
const FabricItem nvlink = {
    "nvlink",
    "NVLink partitions of one domain and the IMEX lists of their nodes",
    "NMX Controller 1.0 gRPC API; IMEX guide, deployment models",
    accept,
    render,
    parse,
    steps,
};

}  // namespace tundish::fabrics
