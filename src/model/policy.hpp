#pragma once
// A remediation policy as data: states, what they do, where they go when which facts hold, the
// checks and faults that they speak of, budgets and limits. docs/policy.md is its manual.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/describe.hpp"
#include "model/active.hpp"
#include "model/incident.hpp"

namespace tundish {

/// Who is told when an edge is taken. `log` tells nobody who must act.
enum class Escalation { log, ticket, page };
inline std::span<const std::string_view> enum_names(Escalation) {
  static constexpr std::string_view names[] = {"log", "ticket", "page"};
  return names;
}

struct PolicyEdge {
  std::vector<std::string> when;
  int after_s = 0;
  std::string go;
  Escalation escalate = Escalation::log;
  void fields(Fields& f) {
    f(1, "when", when, "facts that must all hold; a leading ! negates; empty: always");
    f(2, "after_s", after_s, "and so many seconds must have passed in the state");
    f(3, "go", go, "next state");
    f(4, "escalate", escalate, "who is told when it is taken: log, ticket or page");
  }
};

/// Whose claims the act that returns a node releases.
enum class Releases { own, every };
inline std::span<const std::string_view> enum_names(Releases) {
  static constexpr std::string_view names[] = {"own", "every"};
  return names;
}

struct PolicyState {
  std::string doc;
  std::string action;
  int limit_s = 0;
  int budget = 0;
  bool final = false;
  TimeOwner owner = TimeOwner::provider;
  std::vector<std::string> checks;
  std::vector<PolicyEdge> next;
  std::string node;
  Releases releases = Releases::own;
  std::vector<std::string> active;
  void fields(Fields& f) {
    f(1, "doc", doc, "one sentence for the timeline");
    f(2, "action", action, "what is done on entering; empty: only wait");
    f(3, "limit_s", limit_s, "deadline of the action in seconds");
    f(4, "budget", budget, "how often it may be entered in one incident; 0: no limit");
    f(5, "final", final, "the incident leaves the policy here");
    f(6, "owner", owner, "whose time it is");
    f(7, "checks", checks, "for run_checks; empty: all");
    f(8, "next", next, "edges in order; the first that holds is taken");
    f(9, "node", node, "what the node is meanwhile: in_service, draining, drained, isolated ...");
    f(10, "releases", releases, "for return_node: own claims, or every claim on the node");
    f(11, "active", active, "for run_checks: active checks beside the others");
  }
};

/// What the policy makes of a check that gave no verdict.
enum class CheckReading { unknown, fail, pass };
inline std::span<const std::string_view> enum_names(CheckReading) {
  static constexpr std::string_view names[] = {"unknown", "fail", "pass"};
  return names;
}

/// What becomes of a check whose preconditions do not hold.
enum class UnmetReading { wait, skip };
inline std::span<const std::string_view> enum_names(UnmetReading) {
  static constexpr std::string_view names[] = {"wait", "skip"};
  return names;
}

/// Whether a check measures the part now or reads events that nobody reported before.
enum class CheckSight { now, new_events };
inline std::span<const std::string_view> enum_names(CheckSight) {
  static constexpr std::string_view names[] = {"now", "new_events"};
  return names;
}

enum class LimitSide { below, above };
inline std::span<const std::string_view> enum_names(LimitSide) {
  static constexpr std::string_view names[] = {"below", "above"};
  return names;
}

/// A limit and what a sound part can show, in one whole unit.
struct PolicyThreshold {
  LimitSide fails = LimitSide::below;
  std::int64_t limit = 0;
  std::int64_t low = 0;
  std::int64_t nameplate = 0;
  std::string unit;
  void fields(Fields& f) {
    f(1, "fails", fails, "below or above the limit");
    f(2, "limit", limit, "the limit");
    f(3, "low", low, "least value that can be read at all");
    f(4, "nameplate", nameplate, "most value that can be read: the nameplate");
    f(5, "unit", unit, "unit of all three");
  }
};

/// What a check needs before it can run. Checks that are not listed need an agent only.
struct PolicyCheck {
  std::string doc;
  std::vector<std::string> runs_in;
  std::vector<std::string> needs;
  std::vector<std::string> after;
  UnmetReading if_unmet = UnmetReading::wait;
  CheckReading if_error = CheckReading::unknown;
  CheckSight sees = CheckSight::now;
  std::optional<PolicyThreshold> threshold;
  void fields(Fields& f) {
    f(1, "doc", doc, "one sentence, with the source");
    f(2, "runs_in", runs_in, "what the node may be, see `node` of a state; empty: anything");
    f(3, "needs", needs, "facts that must hold; a leading ! negates");
    f(4, "after", after, "checks that must have run before it");
    f(5, "if_unmet", if_unmet, "preconditions do not hold: wait for them, or skip the check");
    f(6, "if_error", if_error, "it crashed, hung or gave no verdict: unknown, fail or pass");
    f(7, "sees", sees, "now: it measures the part; new_events: it reads what was not reported yet");
    f(8, "threshold", threshold, "its limit, when it has one");
  }
};

/// A fault that the policy knows by name, beside the catalogue.
struct PolicyFault {
  std::string name;
  std::string action = "none";
  bool device_lost = false;
  bool by_person = false;
  void fields(Fields& f) {
    f(1, "name", name, "as an incident states it, for example xid 79");
    f(2, "action", action, "none, reset, reboot or rma, as in the catalogue");
    f(3, "device_lost", device_lost, "the GPU is gone");
    f(4, "by_person", by_person, "left to a person on purpose");
  }
};

/// Where what was spent is remembered.
enum class BudgetKeeper { history, object };
inline std::span<const std::string_view> enum_names(BudgetKeeper) {
  static constexpr std::string_view names[] = {"history", "object"};
  return names;
}

struct PolicyBudgets {
  BudgetKeeper kept_in = BudgetKeeper::history;
  int window_h = 0;
  int disruptive_most = 0;
  void fields(Fields& f) {
    f(1, "kept_in", kept_in, "history: append-only; object: gone with the thing that carries it");
    f(2, "window_h", window_h,
      "resets, reboots and power cycles of earlier incidents of the same fault count so long");
    f(3, "disruptive_most", disruptive_most,
      "resets, reboots and power cycles that one fault may cost in all; 0: not stated");
  }
};

/// Rate limits and blast radius. The permit enforces them; 0: no limit.
struct PolicyLimits {
  int resets_per_hour = 0;
  int power_acts_per_hour = 0;
  int rack_per_hour = 0;
  int tenant_per_hour = 0;
  int domain_at_once = 0;
  int user_lines_per_hour = 0;
  std::string touch = "drained";
  std::vector<std::string> brake_stops;
  void fields(Fields& f) {
    f(1, "resets_per_hour", resets_per_hour, "GPU resets of the site");
    f(2, "power_acts_per_hour", power_acts_per_hour, "reboots and power cycles of the site");
    f(3, "rack_per_hour", rack_per_hour, "both kinds in one rack");
    f(4, "tenant_per_hour", tenant_per_hour, "both kinds on nodes of one tenant");
    f(5, "domain_at_once", domain_at_once, "trays of one NVLink domain that are touched at once");
    f(6, "touch", touch, "fact that must be known before the node is reset or restarted");
    f(7, "brake_stops", brake_stops,
      "actions that the brake stops; empty: resets, reboots and power cycles");
    f(8, "user_lines_per_hour", user_lines_per_hour,
      "nodes of one tenant that are evacuated for what only a user wrote");
  }
};

/// Whether claims on a node are kept beside each other or the last one replaces the others.
enum class ClaimKeeping { set, slot };
inline std::span<const std::string_view> enum_names(ClaimKeeping) {
  static constexpr std::string_view names[] = {"set", "slot"};
  return names;
}

struct RemediationPolicy {
  std::string name;
  int version = 1;
  std::string initial;
  std::map<std::string, PolicyState> states;
  std::string doc;
  std::map<std::string, PolicyCheck> checks;
  std::vector<PolicyFault> faults;
  PolicyBudgets budgets;
  PolicyLimits limits;
  ClaimKeeping claims = ClaimKeeping::set;
  ActiveSchedule active;
  void fields(Fields& f) {
    f(1, "name", name, "name of the policy");
    f(2, "version", version, "raised with every change");
    f(3, "initial", initial, "first state of an incident");
    f(4, "states", states, "by name");
    f(5, "doc", doc, "what it is for, with the source");
    f(6, "checks", checks, "what checks need, by name");
    f(7, "faults", faults, "faults known by name; empty: those of the catalogue");
    f(8, "budgets", budgets, "where spending is remembered, and for how long");
    f(9, "limits", limits, "rate limits and blast radius");
    f(10, "claims", claims, "set: beside each other; slot: the last one replaces the others");
    f(11, "active", active, "active checks that idle nodes run by themselves");
  }
};

}  // namespace tundish
