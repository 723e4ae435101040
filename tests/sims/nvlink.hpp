#pragma once
// An NVLink domain as the documents describe it: a GPU is in one partition at most, and what is
// not in the same partition has no link. Shares no code with src/families.
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

namespace tundish::sims {

class NvlinkDomain {
 public:
  struct Partition {
    std::string name;
    std::set<std::string> gpus;
  };
  std::map<int, Partition> partitions;
  std::map<std::string, std::set<std::string>> imex;

  /// Empty when done, else why not.
  std::string run(const std::string& call, const std::string& text) {
    const auto body = nlohmann::json::parse(text, nullptr, false);
    if (!body.is_object()) return "no body";
    if (call == "set imex") {
      const std::set<std::string> nodes = body["nodes"];
      if (nodes.empty())
        imex.erase(body["name"]);
      else
        imex[body["name"]] = nodes;
      return "";
    }
    const int id = body.value("partition_id", 0);
    if (call == "create partition") {
      if (id < 1 || id > 32765 || partitions.contains(id)) return "id taken or out of range";
      partitions[id].name = body["name"];
      return "";
    }
    if (!partitions.contains(id)) return "no such partition";
    if (call == "delete partition") {
      if (!partitions[id].gpus.empty()) return "still has GPUs";
      partitions.erase(id);
      return "";
    }
    for (const std::string gpu : body["gpus"]) {
      if (call == "remove gpus" && partitions[id].gpus.erase(gpu) == 0) return "not a member";
      if (call != "add gpus") continue;
      for (const auto& [other, partition] : partitions) {
        if (partition.gpus.contains(gpu)) return gpu + " is in a partition already";
      }
      partitions[id].gpus.insert(gpu);
    }
    return call == "add gpus" || call == "remove gpus" ? "" : "no such call";
  }

  bool linked(const std::string& a, const std::string& b) const {
    for (const auto& [id, partition] : partitions) {
      if (partition.gpus.contains(a) && partition.gpus.contains(b)) return true;
    }
    return false;
  }

  std::string show() const {
    nlohmann::json out = {{"partitions", nlohmann::json::array()},
                          {"imex", nlohmann::json::object()}};
    for (const auto& [id, partition] : partitions) {
      out["partitions"].push_back(
          {{"partition_id", id}, {"name", partition.name}, {"gpus", partition.gpus}});
    }
    for (const auto& [name, nodes] : imex) out["imex"][name] = nodes;
    return out.dump();
  }
};

}  // namespace tundish::sims
