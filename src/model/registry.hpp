#pragma once
// Every durable object in memory. Only operations (operation.hpp) change it, through a Txn.
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <vector>

#include "model/allocation.hpp"
#include "model/governance.hpp"
#include "model/incident.hpp"
#include "model/maintenance.hpp"
#include "model/network.hpp"
#include "model/node.hpp"
#include "model/node_report.hpp"
#include "model/notice.hpp"
#include "model/physical.hpp"
#include "model/rma.hpp"
#include "model/tenancy.hpp"

namespace tundish {

template <class T>
using Table = std::map<Id<T>, T>;

using Tables =
    std::tuple<Table<Site>, Table<Rack>, Table<Sku>, Table<Cable>, Table<Switch>, Table<Node>,
               Table<Tenant>, Table<User>, Table<Token>, Table<Secret>, Table<Allocation>,
               Table<Cluster>, Table<Claim>, Table<Incident>, Table<Authority>, Table<Hold>,
               Table<Proposal>, Table<PoolEntry>, Table<AgentCursor>, Table<Fabric>, Table<Network>,
               Table<Maintenance>, Table<Notice>, Table<NodeReport>, Table<Rma>>;

/// Read side. Lookups by name are per kind and tenant.
class Registry {
 public:
  template <class T>
  const Table<T>& all() const {
    return std::get<Table<T>>(tables_);
  }
  template <class T>
  const T* find(const Id<T>& id) const {
    const auto& table = all<T>();
    const auto it = table.find(id);
    return it == table.end() ? nullptr : &it->second;
  }
  /// By id or by name; objects of another tenant are not found. `tenant` empty: the operator's
  /// view, which finds any object when the name is unambiguous.
  template <class T>
  const T* find_named(const std::string& name_or_id, const TenantId& tenant = {}) const;

  /// Active claims on a node.
  const std::set<Id<Claim>>& claims_on(const NodeId& node) const;
  /// Open incidents of a node (state open or rma); of the empty id: those on shared parts.
  const std::set<IncidentId>& incidents_on(const NodeId& node) const;
  /// Windows that are not over and have the node in them.
  const std::set<MaintenanceId>& windows_of(const NodeId& node) const;
  /// The notice about an object; nullptr: nobody was told of it.
  const Notice* notice_about(const std::string& object) const;
  /// Token by the hash of its secret.
  const Token* find_token(const std::string& hash) const;

  std::int64_t revision() const { return revision_; }
  /// While loading only: takes a stored object as it is. False for a kind it does not know.
  bool adopt(const ObjectBase& object);
  /// While loading only: revisions start above `revision`, which fences all that was written.
  void raise_revision(std::int64_t revision) { revision_ = std::max(revision_, revision); }

 private:
  friend class Txn;
  template <class T>
  void set(const Id<T>& id, const T* value);
  void index(const Claim* before, const Claim* after);
  void index(const Incident* before, const Incident* after);
  void index(const Token* before, const Token* after);
  void index(const Maintenance* before, const Maintenance* after);
  void index(const Notice* before, const Notice* after);
  template <class T>
  void index(const T*, const T*) {}
  Tables tables_;
  std::map<std::pair<std::string, std::string>, std::set<std::string>> names_;
  std::map<NodeId, std::set<Id<Claim>>> claims_on_;
  std::map<NodeId, std::set<IncidentId>> incidents_on_;
  std::map<std::string, Id<Token>> token_by_hash_;
  std::map<NodeId, std::set<MaintenanceId>> windows_of_;
  std::map<std::string, Id<Notice>> notice_about_;
  std::int64_t revision_ = 0;
};

/// An object written or deleted.
struct Change {
  std::string kind;
  std::string id;
  std::int64_t revision = 0;
  std::shared_ptr<ObjectBase> body;  ///< nullptr: deleted
};

/// What an operation may do: read, put, erase. Undone as a whole when the operation fails.
class Txn {
 public:
  Txn(Registry& registry, Instant now, std::string actor)
      : registry_(registry), now_(now), actor_(std::move(actor)) {}

  const Registry& view() const { return registry_; }
  Instant now() const { return now_; }
  const std::string& actor() const { return actor_; }
  /// A fresh id: kind and the revision that creates it, so it is never reused.
  template <class T>
  Id<T> make_id() {
    return Id<T>(std::string(T::kind) + "-" + std::to_string(next_revision()));
  }
  template <class T>
  void put(T object);
  template <class T>
  void erase(const Id<T>& id);

  std::vector<Change>& changes() { return changes_; }
  void undo();

 private:
  std::int64_t next_revision() { return ++registry_.revision_; }

  Registry& registry_;
  Instant now_;
  std::string actor_;
  std::vector<Change> changes_;
  std::vector<std::function<void()>> undo_;
};

}  // namespace tundish

#include "model/registry_impl.hpp"
