#pragma once
// Checks: what there is, and running them now.
//
// GET  /v1/checks                                -> [CheckInfo]
// POST /v1/checks/run          CheckRunRequest   -> CheckRunAnswer
// POST /v1/checks/runs         ActiveRunRequest  -> ActiveRunInfo, at once
// POST /v1/checks/pairs        PairRunRequest    -> ActiveRunInfo, at once
// GET  /v1/checks/runs                           -> [ActiveRunInfo]
// GET  /v1/checks/runs/{id}                      -> ActiveRunInfo
// POST /v1/checks/runs/{id}/stop                 -> ActiveRunInfo
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
  Tier tier = Tier::light;
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
    f(13, "tier", tier, "of an active one: light takes seconds, heavy needs the whole node");
  }
};

struct CheckRunRequest {
  std::string node;
  std::vector<std::string> checks;
  void fields(Fields& f) {
    f(1, "node", node, "name or id");
    f(2, "checks", checks, "names of passive ones; empty: every one of them");
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

struct ActiveRunRequest {
  std::string node;
  std::vector<std::string> checks;
  std::string tier;
  void fields(Fields& f) {
    f(1, "node", node, "name or id; it must be free, or claimed and in no allocation");
    f(2, "checks", checks, "names of active ones; empty: all of the tier");
    f(3, "tier", tier, "light or heavy; empty: light");
  }
};

struct PairRunRequest {
  std::vector<std::string> nodes;
  std::string check = "ib_write_bw";
  int round = 0;
  void fields(Fields& f) {
    f(1, "nodes", nodes, "names or ids, at least two");
    f(2, "check", check, "one that two nodes make together");
    f(3, "round", round, "who meets whom at first: another round, other pairs");
  }
};

/// An active run, while it runs and for a while after.
struct ActiveRunInfo {
  std::string id;
  std::vector<std::string> nodes;
  std::vector<std::string> checks;
  std::string asked_by;
  Instant since;
  Instant ended_at;
  std::string step;
  std::vector<Verdict> verdicts;
  std::vector<std::string> next;
  void fields(Fields& f) {
    f(1, "id", id, "of the run");
    f(2, "nodes", nodes, "names");
    f(3, "checks", checks, "active checks");
    f(4, "asked_by", asked_by, "who asked; empty: the schedule, or the repair of an incident");
    f(5, "since", since, "when it began");
    f(6, "ended_at", ended_at, "empty: it runs");
    f(7, "step", step, "what it does now, or why it ended");
    f(8, "verdicts", verdicts, "at the end; of a run over pairs `device` is the node");
    f(9, "next", next, "what becomes of the nodes that failed, in words");
  }
};

}  // namespace tundish::edge
