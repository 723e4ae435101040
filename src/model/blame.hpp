#pragma once
// Which part is at fault for what was seen, on what evidence, and what would change that.
#include <string>
#include <vector>

#include "base/describe.hpp"
#include "model/resource.hpp"

namespace tundish {

/// What an incident is about. Everything but a node is shared: it takes no node out of service.
enum class SubjectKind {
  node,
  network_switch,
  storage,  ///< a storage server
  domain,   ///< NVLink domain
  job,
  engine,  ///< the scheduler of one cluster
  rack,
  site
};
inline std::span<const std::string_view> enum_names(SubjectKind) {
  static constexpr std::string_view names[] = {"node", "switch", "storage", "domain",
                                               "job",  "engine", "rack",    "site"};
  return names;
}

struct BlameEvidence {
  Instant at;
  std::string node;
  Resource part = Resource::unknown;
  std::string what;
  std::string says;
  int weight = 0;
  void fields(Fields& f) {
    f(1, "at", at, "when it was first seen");
    f(2, "node", node, "name of the node that showed it; empty: not a node's");
    f(3, "part", part, "what it was seen on");
    f(4, "what", what, "check or kernel event");
    f(5, "says", says, "in words");
    f(6, "weight", weight, "how much it counts, 0 to 100; the heaviest come first");
  }
};

/// A part that could have been the cause and is not held to be.
struct ClearedPart {
  Resource part = Resource::unknown;
  std::string object;
  std::string why;
  void fields(Fields& f) {
    f(1, "part", part, "what it is");
    f(2, "object", object, "which one");
    f(3, "why", why, "what speaks against it");
  }
};

struct Blame {
  Resource part = Resource::unknown;
  SubjectKind subject_kind = SubjectKind::node;
  std::string object;
  int confidence = 0;
  std::string rule;
  std::vector<BlameEvidence> evidence;
  std::vector<ClearedPart> cleared;
  std::vector<std::string> would_change;
  void fields(Fields& f) {
    f(1, "part", part, "part that is blamed");
    f(2, "subject_kind", subject_kind, "node, switch, storage, domain, job, engine, rack or site");
    f(3, "object", object, "which one: name of the node, leaf1 or leaf1/swp3, server, job ...");
    f(4, "confidence", confidence, "0 to 100; below 60 nothing is taken out of service for it");
    f(5, "rule", rule, "rule that decided, for example shared_fate");
    f(6, "evidence", evidence, "heaviest first");
    f(7, "cleared", cleared, "parts that could have caused it, and why they did not");
    f(8, "would_change", would_change, "what, once seen, would change this");
  }
};

/// "storage server nas1", "leaf1/swp3": for people.
std::string subject_text(const Blame& blame);
/// One sentence: who, how sure, and the heaviest evidence.
std::string blame_sentence(const Blame& blame);

}  // namespace tundish
