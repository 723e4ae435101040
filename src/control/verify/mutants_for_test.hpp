#pragma once
// Every policy that is one weakened guard away from a given one.
#include <string>
#include <vector>

#include "model/policy.hpp"

namespace tundish::control::verify {

struct Mutant {
  std::string what;
  RemediationPolicy policy;
};

inline void add_edge_mutants(const RemediationPolicy& from, const std::string& name,
                             std::size_t number, std::vector<Mutant>& out) {
  const PolicyEdge& edge = from.states.at(name).next[number];
  const std::string where = name + "." + std::to_string(number) + " -> " + edge.go;
  const auto change = [&](const std::string& what, auto&& with) {
    Mutant mutant{where + ": " + what, from};
    with(mutant.policy.states.at(name).next, mutant.policy.states.at(name).next[number]);
    out.push_back(std::move(mutant));
  };
  for (std::size_t i = 0; i < edge.when.size(); ++i) {
    change("without " + edge.when[i], [i](auto&, PolicyEdge& changed) {
      changed.when.erase(changed.when.begin() + static_cast<std::ptrdiff_t>(i));
    });
  }
  change("edge dropped", [number](auto& next, PolicyEdge&) {
    next.erase(next.begin() + static_cast<std::ptrdiff_t>(number));
  });
  if (edge.after_s > 0) {
    change("deadline dropped", [](auto&, PolicyEdge& changed) { changed.after_s = 0; });
  }
  if (edge.escalate != Escalation::log) {
    change("nobody told", [](auto&, PolicyEdge& changed) { changed.escalate = Escalation::log; });
  }
}

inline std::vector<Mutant> mutants_of(const RemediationPolicy& from) {
  std::vector<Mutant> out;
  for (const auto& [name, state] : from.states) {
    for (std::size_t i = 0; i < state.next.size(); ++i) add_edge_mutants(from, name, i, out);
    if (state.budget > 0) {
      out.push_back({name + ": budget plus one", from});
      ++out.back().policy.states.at(name).budget;
      out.push_back({name + ": no budget", from});
      out.back().policy.states.at(name).budget = 0;
    }
  }
  const auto rule = [&](const std::string& what, auto&& with) {
    out.push_back({what, from});
    with(out.back().policy);
  };
  rule("budgets forgotten", [](auto& p) { p.budgets.kept_in = BudgetKeeper::object; });
  rule("no window", [](auto& p) { p.budgets.window_h = 0; });
  rule("one act fewer in all", [](auto& p) { --p.budgets.disruptive_most; });
  rule("claims in a slot", [](auto& p) { p.claims = ClaimKeeping::slot; });
  rule("the brake stops the return", [](auto& p) { p.limits.brake_stops = {"return_node"}; });
  rule("every claim released", [](auto& p) {
    for (auto& [name, state] : p.states) {
      if (state.action == "return_node") state.releases = Releases::every;
    }
  });
  rule("touched when drained", [](auto& p) { p.limits.touch = "drained"; });
  return out;
}

}  // namespace tundish::control::verify
