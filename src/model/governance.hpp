#pragma once
// What may act where: authority, holds, proposals; and pools of numbers.
#include <string>

#include "model/meta.hpp"
#include "model/recent_event.hpp"

namespace tundish {

/// Classes of action that authority and consent speak of.
enum class ActionClass {
  look,  ///< reads only
  stop_new_work,
  drain,
  requeue,
  reset,
  power,
  network,
  engine_config,
  node_setup,  ///< set up, wipe and check a node that is ours to hand out
  drill        ///< a fault that a person asks for
};
inline std::span<const std::string_view> enum_names(ActionClass) {
  static constexpr std::string_view names[] = {
      "look",  "stop_new_work", "drain",         "requeue",    "reset",
      "power", "network",       "engine_config", "node_setup", "drill"};
  return names;
}

enum class AuthorityLevel { observe, advise, act };
inline std::span<const std::string_view> enum_names(AuthorityLevel) {
  static constexpr std::string_view names[] = {"observe", "advise", "act"};
  return names;
}

/// Level of one scope for one class; the narrowest scope that says something wins, and of equals
/// the lowest level.
struct Authority {
  static constexpr std::string_view kind = "authority";
  Id<Authority> id;
  std::string scope;
  std::string action_class;
  AuthorityLevel level = AuthorityLevel::observe;
  Meta meta;
  void fields(Fields& f) {
    f(1, "id", id, "ours");
    f(2, "scope", scope, "site:S, rack:R, tenant:T, cluster:C, switch:W or node:N");
    f(3, "action_class", action_class, "class of action; * for all");
    f(4, "level", level, "observe, advise or act");
    f(5, "meta", meta, "name, revision");
  }
};

/// Stops automatic actions in a scope until it is released or runs out.
struct Hold {
  static constexpr std::string_view kind = "hold";
  Id<Hold> id;
  std::string scope;
  std::string reason;
  Instant until;
  Meta meta;
  void fields(Fields& f) {
    f(1, "id", id, "ours");
    f(2, "scope", scope, "* for everything, else as authority");
    f(3, "reason", reason, "why, for people");
    f(4, "until", until, "empty: until released");
    f(5, "meta", meta, "name, revision");
  }
};

enum class ProposalState { waiting, approved, denied, expired };
inline std::span<const std::string_view> enum_names(ProposalState) {
  static constexpr std::string_view names[] = {"waiting", "approved", "denied", "expired"};
  return names;
}

/// An act that waits for a person because the scope is at `advise` or consent says `ask`.
struct Proposal {
  static constexpr std::string_view kind = "proposal";
  Id<Proposal> id;
  std::string action_key;
  std::string group;
  std::string action;
  std::string object;
  std::string reason;
  ProposalState state = ProposalState::waiting;
  Instant expires_at;
  std::string decided_by;
  Meta meta;
  void fields(Fields& f) {
    f(1, "id", id, "ours");
    f(2, "action_key", action_key, "identity of the act that it would let through");
    f(3, "group", group, "approval covers every act of this group, for example one incident");
    f(4, "action", action, "what would be done");
    f(5, "object", object, "to what");
    f(6, "reason", reason, "why, and why it was not done at once");
    f(7, "state", state, "waiting, approved, denied or expired");
    f(8, "expires_at", expires_at, "then it is decided anew");
    f(9, "decided_by", decided_by, "who approved or denied");
    f(10, "meta", meta, "name, revision");
  }
};

enum class PoolState { free, held, tombstone };
inline std::span<const std::string_view> enum_names(PoolState) {
  static constexpr std::string_view names[] = {"free", "held", "tombstone"};
  return names;
}

/// One number of a fabric's pool. Reissued only after it was seen absent and its tombstone ran out.
struct PoolEntry {
  static constexpr std::string_view kind = "pool_entry";
  Id<PoolEntry> id;
  std::string fabric;
  std::string pool;
  int value = 0;
  PoolState state = PoolState::held;
  std::string owner;
  Instant since;
  bool seen_absent = false;
  Meta meta;
  void fields(Fields& f) {
    f(1, "id", id, "ours");
    f(2, "fabric", fabric, "pools belong to a fabric");
    f(3, "pool", pool, "segment, address_block, cluster_index, uid ...");
    f(4, "value", value, "the number");
    f(5, "state", state, "free, held or tombstone");
    f(6, "owner", owner, "object that holds it");
    f(7, "since", since, "when it took this state");
    f(8, "seen_absent", seen_absent, "observed gone from the fabric after release");
    f(9, "meta", meta, "name, revision");
  }
};

/// Per agent: how far its witnesses were stored, so that a repeat is recognised, and the latest
/// events that cost nobody anything by themselves: blame reads them beside those of other nodes.
struct AgentCursor {
  static constexpr std::string_view kind = "agent_cursor";
  Id<AgentCursor> id;
  std::map<std::string, std::int64_t> stored;
  std::vector<RecentEvent> recent;
  Meta meta;
  void fields(Fields& f) {
    f(1, "id", id, "node id");
    f(2, "stored", stored, "source and boot id -> highest sequence number stored");
    f(3, "meta", meta, "revision");
    f(4, "recent", recent, "latest kernel events by kind, code and device, the newest 24");
  }
};

}  // namespace tundish
