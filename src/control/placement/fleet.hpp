#pragma once
// The fleet as placement sees it: free and busy nodes in pods, leaf groups and NVLink domains.
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace tundish::control::placement {

/// One node. Texts may be empty where the site does not know: an empty pod or leaf group is a
/// place like any other, an empty NVLink domain means that NVLink ends inside the node.
struct Slot {
  std::string node;
  std::string pod;
  std::string leaf_group;
  std::string nvlink_domain;
  std::string sku;
  std::string rack;
  bool placeable = false;          ///< free, healthy and unclaimed now
  bool counts_as_capacity = true;  ///< false: retired or only expected; never keeps a leaf "busy"
  int gpus = 0;
  bool operator==(const Slot&) const = default;
};

struct Fleet {
  std::vector<Slot> slots;
};

/// Nodes of one leaf group or domain. `usable` differs from `free` only inside one request.
struct Tally {
  int free = 0;
  int busy = 0;
  int usable = 0;
  bool wholly_free() const { return free > 0 && busy == 0; }
  bool operator==(const Tally&) const = default;
};

struct Domain {
  std::string name;
  int leaf = 0;
  int slot_begin = 0;
  int slot_end = 0;
  bool operator==(const Domain&) const = default;
};

struct Leaf {
  std::string name;
  int pod = 0;
  int domain_begin = 0;
  int domain_end = 0;
  bool operator==(const Leaf&) const = default;
};

struct Pod {
  std::string name;
  int leaf_begin = 0;
  int leaf_end = 0;
  bool operator==(const Pod&) const = default;
};

/// All nodes of one sku, ordered by (pod, leaf group, domain, node): a range of slots per domain,
/// of domains per leaf, of leaves per pod. A gang never mixes skus, so neither does a leaf here.
struct Pool {
  std::vector<Slot> slots;
  std::vector<char> free;
  std::vector<int> domain_of;
  std::vector<Pod> pods;
  std::vector<Leaf> leaves;
  std::vector<Domain> domains;
  std::vector<Tally> leaf_tally;
  std::vector<Tally> domain_tally;
  bool operator==(const Pool&) const = default;
};

/// Built once from a snapshot, then kept true by one O(log n) call per node that changes.
/// Nodes that appear or move need a new index.
class FleetIndex {
 public:
  struct Where {
    const Pool* pool = nullptr;
    int slot = 0;
  };

  static Result<FleetIndex> create(Fleet fleet);
  /// Idempotent. not_found for a node that the index was not built with.
  Result<void> mark_free(std::string_view node);
  Result<void> mark_busy(std::string_view node);

  const Pool* find_pool(std::string_view sku) const;
  std::optional<Where> find_node(std::string_view node) const;
  bool operator==(const FleetIndex&) const = default;

 private:
  struct Entry {
    int pool = 0;
    int slot = 0;
    bool operator==(const Entry&) const = default;
  };
  Result<void> set_free(std::string_view node, char free);
  const Entry* find_entry(std::string_view node) const;

  std::vector<Pool> pools_;
  std::map<std::string, int, std::less<>> pool_by_sku_;
  std::map<std::string, Entry, std::less<>> entry_by_node_;
};

}  // namespace tundish::control::placement
