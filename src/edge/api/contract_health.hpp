#pragma once
// Checks: what there is, and running them now.
//
// GET  /v1/checks                                -> [CheckInfo]
// POST /v1/checks/run          CheckRunRequest   -> CheckRunAnswer
#include <string>
#include <vector>

#include "model/limit.hpp"
#include "model/resource.hpp"
#include "model/verdict.hpp"

namespace tundish::edge {

struct CheckInfo {
  std::string name, doc, source, cost;
  CheckKind kind = CheckKind::passive;
  Resource watches = Resource::unknown;
  Locality locality = Locality::symptom;
  Duration every;
  int looks = 1;
  bool gates = false;
  std::vector<std::string> needs;
  std::vector<Limit> limits;
  void fields(Fields& f) {
    f(1, "name", name, "name");
    f(2, "doc", doc, "what holds when it is ok");
    f(3, "source", source, "where the evidence and the limits come from");
    f(4, "cost", cost, "what it costs the node");
    f(5, "kind", kind, "passive: always; active: on free nodes, or asked for");
    f(6, "watches", watches, "the part that it looks at");
    f(7, "locality", locality, "device_local: the part itself is broken; symptom: maybe another's");
    f(8, "every", every, "microseconds between looks of a passive one");
    f(9, "looks", looks, "looks in a row that must be bad before it is told");
    f(10, "gates", gates, "a node that fails it does not serve or return");
    f(11, "needs", needs, "evidence that it is judged from");
    f(12, "limits", limits, "its rows of thresholds.yaml");
  }
};

struct CheckRunRequest {
  std::string node;
  std::vector<std::string> checks;
  void fields(Fields& f) {
    f(1, "node", node, "name or id");
    f(2, "checks", checks, "names; empty: every passive one");
  }
};

struct CheckRunAnswer {
  std::string node;
  std::vector<Verdict> verdicts;
  void fields(Fields& f) {
    f(1, "node", node, "name");
    f(2, "verdicts", verdicts, "of the checks that were asked for");
  }
};

}  // namespace tundish::edge
