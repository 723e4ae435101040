#pragma once
// What must be measured after a repair before a node counts as mended: beside what every node must
// pass to serve, each check that showed the fault, and those that judge the part that the kernel
// accused. Pure.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "model/incident.hpp"

namespace tundish {

/// What an XID speaks of.
Resource part_of_xid(int code);

/// Of a call of checks: all that a node must pass to serve, beside others that are named.
inline constexpr std::string_view serve_checks = "serve";

struct Proof {
  /// Passive checks, and the worst that each may say.
  std::map<std::string, VerdictState> passive;
  std::set<std::string> active;
};

/// Checks whose fail was a witness of the incident. What only a cluster gives a node, storage and
/// links to it for example, is left out: it can be measured once it serves again.
std::set<std::string> failed_checks(const Incident& incident);
Proof proof_of(const Incident& incident);
/// The first passive check of the proof that is not measured or says too little; empty: all do.
std::string unproved(const Proof& proof, const std::vector<Verdict>& verdicts);

}  // namespace tundish
