#pragma once
// Answers that sum up the site and are no object: status, capacity, explanation, history check.
#include <string>
#include <vector>

#include "base/describe.hpp"

namespace tundish::edge {

struct Explanation {
  std::string node, phase, placeable, why;
  std::vector<std::string> claims;
  std::string next, how_to_stop;
  std::vector<std::string> you_can, shows, past;
  void fields(Fields& f) {
    f(1, "node", node, "name");
    f(2, "phase", phase, "life cycle");
    f(3, "placeable", placeable, "yes, or the reason why not");
    f(4, "why", why, "why it is out of service; empty when it is not");
    f(5, "claims", claims, "holder, reason and since of each claim");
    f(6, "next", next, "what happens next, and what it waits for");
    f(7, "how_to_stop", how_to_stop,
      "command that stops it; empty: nothing automatic is under way");
    f(8, "you_can", you_can, "what a person can do now");
    f(9, "shows", shows, "checks that are not ok, unknown ones among them");
    f(10, "past", past, "its last incidents that have ended, newest first");
  }
};

struct StatusReport {
  std::string version, site, tenant, role;
  std::int64_t revision = 0, epoch = 0;
  int nodes = 0, nodes_ready = 0, nodes_assigned = 0, nodes_claimed = 0, agents_heard = 0;
  int clusters_active = 0, clusters = 0, incidents_open = 0, proposals_waiting = 0;
  std::vector<std::string> holds, notices;
  void fields(Fields& f) {
    f(1, "version", version, "of tundishd");
    f(2, "site", site, "name of the site");
    f(3, "revision", revision, "global revision");
    f(4, "epoch", epoch, "raised by a restore");
    f(5, "nodes", nodes, "not retired");
    f(6, "nodes_ready", nodes_ready, "free and proved");
    f(7, "nodes_assigned", nodes_assigned, "in an allocation");
    f(8, "nodes_claimed", nodes_claimed, "out of service");
    f(9, "agents_heard", agents_heard, "heard lately; silence is unknown, not a fault");
    f(10, "clusters_active", clusters_active, "whole");
    f(11, "clusters", clusters, "all");
    f(12, "incidents_open", incidents_open, "open");
    f(13, "proposals_waiting", proposals_waiting, "waiting for a person");
    f(14, "holds", holds, "in force");
    f(15, "notices", notices, "what an operator should know");
    f(16, "tenant", tenant, "whose view this is; empty: the operator's");
    f(17, "role", role, "of the token that asked");
  }
};

struct CapacityRow {
  std::string sku;
  int nodes = 0, free = 0, assigned = 0, spares = 0, claimed = 0, unknown = 0, largest_gang = 0;
  void fields(Fields& f) {
    f(1, "sku", sku, "kind of node");
    f(2, "nodes", nodes, "not retired");
    f(3, "free", free, "placeable now");
    f(4, "assigned", assigned, "members of allocations");
    f(5, "spares", spares, "held as spares");
    f(6, "claimed", claimed, "out of service");
    f(7, "unknown", unknown, "not heard or not proved");
    f(8, "largest_gang", largest_gang, "largest cluster that fits now, in nodes");
  }
};

struct HistoryVerdict {
  bool intact = false;
  std::int64_t entries = 0;
  std::string fault, last_hash;
  void fields(Fields& f) {
    f(1, "intact", intact, "every hash fits");
    f(2, "entries", entries, "checked");
    f(3, "fault", fault, "first entry that does not fit");
    f(4, "last_hash", last_hash, "keep it elsewhere to detect a truncated tail");
  }
};

}  // namespace tundish::edge
