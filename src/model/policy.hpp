#pragma once
// A remediation policy as data: states, what they do, and where they go when which facts hold.
#include <map>
#include <string>
#include <vector>

#include "base/describe.hpp"
#include "model/incident.hpp"

namespace tundish {

struct PolicyEdge {
  std::vector<std::string> when;
  int after_s = 0;
  std::string go;
  void fields(Fields& f) {
    f(1, "when", when, "facts that must all hold; a leading ! negates; empty: always");
    f(2, "after_s", after_s, "and so many seconds must have passed in the state");
    f(3, "go", go, "next state");
  }
};

struct PolicyState {
  std::string doc;
  std::string action;
  int limit_s = 0;
  int budget = 0;
  bool final = false;
  TimeOwner owner = TimeOwner::provider;
  std::vector<std::string> checks;
  std::vector<PolicyEdge> next;
  void fields(Fields& f) {
    f(1, "doc", doc, "one sentence for the timeline");
    f(2, "action", action, "what is done on entering; empty: only wait");
    f(3, "limit_s", limit_s, "deadline of the action in seconds");
    f(4, "budget", budget, "how often it may be entered in one incident; 0: no limit");
    f(5, "final", final, "the incident leaves the policy here");
    f(6, "owner", owner, "whose time it is");
    f(7, "checks", checks, "for run_checks; empty: all");
    f(8, "next", next, "edges in order; the first that holds is taken");
  }
};

struct RemediationPolicy {
  std::string name;
  int version = 1;
  std::string initial;
  std::map<std::string, PolicyState> states;
  void fields(Fields& f) {
    f(1, "name", name, "name of the policy");
    f(2, "version", version, "raised with every change");
    f(3, "initial", initial, "first state of an incident");
    f(4, "states", states, "by name");
  }
};

}  // namespace tundish
