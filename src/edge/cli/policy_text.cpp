#include "edge/cli/policy_text.hpp"

#include <algorithm>
#include <deque>
#include <set>

#include "base/text.hpp"
#include "edge/cli/output.hpp"

namespace tundish::edge::cli {
namespace {

std::vector<std::string> in_order(const RemediationPolicy& policy) {
  std::vector<std::string> out;
  std::set<std::string> seen = {policy.initial};
  std::deque<std::string> todo = {policy.initial};
  while (!todo.empty()) {
    const std::string name = todo.front();
    todo.pop_front();
    const auto state = policy.states.find(name);
    if (state == policy.states.end()) continue;
    out.push_back(name);
    for (const auto& edge : state->second.next) {
      if (seen.insert(edge.go).second) todo.push_back(edge.go);
    }
  }
  for (const auto& [name, state] : policy.states) {
    if (!seen.contains(name)) out.push_back(name);
  }
  return out;
}

std::string head_of(const std::string& name, const PolicyState& state,
                    const RemediationPolicy& policy) {
  std::vector<std::string> parts;
  if (name == policy.initial) parts.push_back("begins here");
  if (!state.action.empty()) {
    parts.push_back(
        "does " + state.action +
        (state.limit_s > 0 ? " within " + render_duration(seconds(state.limit_s)) : ""));
  }
  if (!state.checks.empty()) parts.push_back("checks " + join(state.checks, ", "));
  if (state.budget > 0) parts.push_back("at most " + std::to_string(state.budget) + " times");
  if (!state.node.empty()) parts.push_back("node " + state.node);
  if (state.owner != TimeOwner::provider) parts.push_back("time of the " + word(state.owner));
  if (state.final) parts.push_back("ends the incident");
  return "[" + name + "]" + (parts.empty() ? "" : "  " + join(parts, "; ")) + "\n";
}

std::string edge_text(const PolicyEdge& edge, const std::string& from) {
  std::string when = join(edge.when, " and ");
  if (edge.after_s > 0) {
    when += (when.empty() ? "" : ", ") + ("after " + render_duration(seconds(edge.after_s)));
  }
  if (when.empty()) when = "else";
  std::string out = "  |-- " + when + " --> " + (edge.go == from ? "again" : edge.go);
  if (edge.escalate != Escalation::log) out += "  (" + word(edge.escalate) + ")";
  return out + "\n";
}

void add_limit(std::vector<std::string>& out, int limit, const std::string& what) {
  if (limit > 0) out.push_back(std::to_string(limit) + " " + what);
}

std::string rules_of(const RemediationPolicy& policy) {
  const auto& limits = policy.limits;
  std::vector<std::string> parts;
  add_limit(parts, limits.resets_per_hour, "resets an hour");
  add_limit(parts, limits.power_acts_per_hour, "power acts an hour");
  add_limit(parts, limits.rack_per_hour, "an hour in one rack");
  add_limit(parts, limits.tenant_per_hour, "an hour on one tenant's nodes");
  add_limit(parts, limits.domain_at_once, "tray of an NVLink domain at once");
  add_limit(parts, limits.user_lines_per_hour, "nodes of a tenant an hour for a user's line alone");
  std::string out = "limits: " + (parts.empty() ? "none" : join(parts, ", ")) +
                    "; touched only when " + limits.touch + "\n";
  out += "budgets: kept in the " + word(policy.budgets.kept_in);
  if (policy.budgets.window_h > 0) {
    out += ", the same fault counts " + render_duration(hours(policy.budgets.window_h));
  }
  if (policy.budgets.disruptive_most > 0) {
    out += ", at most " + std::to_string(policy.budgets.disruptive_most) +
           " resets, reboots and power cycles in all";
  }
  return out + "\n";
}

std::string check_text(const std::string& name, const PolicyCheck& check) {
  std::string out = "check " + name + ": " + (check.doc.empty() ? "no preconditions" : check.doc);
  if (!check.runs_in.empty()) out += "; on nodes " + join(check.runs_in, ", ");
  if (!check.needs.empty()) out += "; needs " + join(check.needs, ", ");
  if (!check.after.empty()) out += "; after " + join(check.after, ", ");
  if (check.if_unmet != UnmetReading::wait) out += "; else skipped";
  if (check.if_error != CheckReading::unknown) out += "; no verdict is " + word(check.if_error);
  return out + "\n";
}

}  // namespace

std::string draw_policy(const RemediationPolicy& policy) {
  std::string out = policy.name + " version " + std::to_string(policy.version);
  out += (policy.doc.empty() ? "" : ": " + policy.doc) + "\n" + rules_of(policy);
  out += "edges: the first whose facts hold, and whose time has passed, is taken; again: the state "
         "is entered anew, with its clock and its act\n";
  for (const auto& [name, check] : policy.checks) out += check_text(name, check);
  for (const auto& name : in_order(policy)) {
    const PolicyState& state = policy.states.at(name);
    out += "\n" + head_of(name, state, policy);
    if (!state.doc.empty()) out += "  | " + state.doc + "\n";
    for (const auto& edge : state.next) out += edge_text(edge, name);
  }
  return out;
}

std::string tell_rehearsals(const std::vector<control::verify::Rehearsal>& rows) {
  std::string out;
  int differ = 0, agrees = 0, disagrees = 0;
  for (const auto& row : rows) {
    agrees += row.agreement == "agrees" ? 1 : 0;
    disagrees += row.agreement == "disagrees" ? 1 : 0;
    differ += row.differs ? 1 : 0;
    if (!row.differs && row.person.empty()) continue;
    out += row.incident + " " + row.node + " " + row.fault + "\n";
    out +=
        "  did    " + (row.did.empty() ? "nothing" : join(row.did, ", ")) + "; " + row.ended + "\n";
    out += "  would  " + (row.would.empty() ? "nothing" : join(row.would, ", ")) + "; " +
           row.would_end + "\n";
    if (!row.person.empty()) out += "  a person " + row.person + ": " + row.agreement + "\n";
  }
  out += std::to_string(rows.size()) + " incidents, " + std::to_string(differ) +
         " would have gone another way; people agreed with it " + std::to_string(agrees) +
         " times and disagreed " + std::to_string(disagrees) + " times\n";
  return out;
}

}  // namespace tundish::edge::cli
