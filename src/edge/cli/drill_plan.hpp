#pragma once
// A drill as people write it, and how one step of it is judged.
#include <optional>
#include <string>
#include <vector>

#include "edge/api/contract.hpp"
#include "model/incident.hpp"

namespace tundish::edge::cli {

/// Which node breaks: by name, or the first that fits.
struct DrillNode {
  std::string name, cluster, role = "member", rack;
  int index = 0;
  void fields(Fields& f) {
    f(1, "name", name, "name or id");
    f(2, "cluster", cluster, "a node that serves this cluster");
    f(3, "role", role, "member, spare, login or controller there; free: a node that serves nobody");
    f(4, "rack", rack, "only nodes of this rack");
    f(5, "index", index, "which one of those, sorted by name, from 0");
  }
};

/// Most that may pass from the injection, in milliseconds; 0, or left out: no band, any time will
/// do. So 0 does not mean "at once": nothing that is measured in milliseconds could keep that.
struct DrillBands {
  std::int64_t detected_ms = 0, claimed_ms = 0, drained_ms = 0, replaced_ms = 0, returned_ms = 0;
  void fields(Fields& f) {
    f(1, "detected_ms", detected_ms, "until an agent read the witness; 0: no band");
    f(2, "claimed_ms", claimed_ms, "until the node took no new work");
    f(3, "drained_ms", drained_ms, "until it was known to be empty");
    f(4, "replaced_ms", replaced_ms, "until another node served in its place");
    f(5, "returned_ms", returned_ms, "until it was back, repaired and proved");
  }
};

struct DrillExpect {
  std::string opens = "yes";
  std::string fault, action, ends;
  void fields(Fields& f) {
    f(1, "opens", opens, "yes, or no: a decoy that must cost nobody anything");
    f(2, "fault", fault, "what the incident calls it, for example xid 79; empty: anything");
    f(3, "action", action, "a repair that must have been done, for example reboot");
    f(4, "ends", ends, "state of the incident at the end: resolved or rma; empty: not waited for");
  }
};

struct DrillStep {
  std::string name, fault;
  DrillNode node;
  int xid = 0, gpu = 0, for_s = 0, copies = 0, before_s = 0;
  std::int64_t wait_s = 120;
  bool sticky = false, userspace = false;
  std::string text, part;
  DrillExpect expect;
  DrillBands bands;
  void fields(Fields& f) {
    f(1, "name", name, "of the step");
    f(2, "fault", fault, "kind, see tundish fault kinds");
    f(3, "node", node, "which node breaks");
    f(4, "xid", xid, "code, for xid and sxid");
    f(5, "gpu", gpu, "NVML index");
    f(6, "sticky", sticky, "survives reset and reboot");
    f(7, "userspace", userspace, "as a rater writes it");
    f(8, "text", text, "own kernel line");
    f(9, "part", part, "HCA, interface or storage server");
    f(10, "for_s", for_s, "seconds that it lasts");
    f(11, "copies", copies, "lines of a storm");
    f(12, "before_s", before_s, "seconds to wait before it");
    f(13, "wait_s", wait_s, "seconds to wait for all that is expected");
    f(14, "expect", expect, "what must follow");
    f(15, "bands", bands, "how fast");
  }
};

struct DrillPlan {
  std::string name, doc;
  std::vector<DrillStep> steps;
  void fields(Fields& f) {
    f(1, "name", name, "of the drill");
    f(2, "doc", doc, "what it proves");
    f(3, "steps", steps, "one after the other");
  }
};

enum class DrillOutcome { passed, failed, unknown };
inline std::span<const std::string_view> enum_names(DrillOutcome) {
  static constexpr std::string_view names[] = {"passed", "failed", "unknown"};
  return names;
}

/// One point of the stopwatch. took_ms -1: it did not come.
struct DrillLap {
  std::string what;
  std::int64_t took_ms = -1, band_ms = 0;
  DrillOutcome outcome = DrillOutcome::unknown;
  void fields(Fields& f) {
    f(1, "what", what, "detected, claimed, drained, replaced or returned");
    f(2, "took_ms", took_ms, "milliseconds from the injection; -1: it did not come");
    f(3, "band_ms", band_ms, "most that it may take; 0: only measured");
    f(4, "outcome", outcome, "passed, failed or unknown");
  }
};

struct DrillResult {
  std::string step, fault, node, incident;
  DrillOutcome outcome = DrillOutcome::unknown;
  std::string why;
  std::vector<DrillLap> laps;
  void fields(Fields& f) {
    f(1, "step", step, "name");
    f(2, "fault", fault, "kind");
    f(3, "node", node, "that was broken");
    f(4, "incident", incident, "that followed; empty: none");
    f(5, "outcome", outcome, "passed, failed or unknown");
    f(6, "why", why, "what was not as expected");
    f(7, "laps", laps, "stopwatch");
  }
};

struct DrillReport {
  std::string drill;
  DrillOutcome outcome = DrillOutcome::unknown;
  std::vector<DrillResult> steps;
  void fields(Fields& f) {
    f(1, "drill", drill, "name");
    f(2, "outcome", outcome, "passed, failed or unknown");
    f(3, "steps", steps, "in order");
  }
};

/// Names that a plan may not lack, numbers that make no sense.
Result<> check_drill(const DrillPlan& plan);

enum class DrillTime { left, over };
/// Pure. What the step came to as the incident (nullopt: there is none) stands now; `done`: nothing
/// more is waited for.
struct DrillJudgement {
  bool done = false;
  DrillResult result;
};
DrillJudgement judge_step(const DrillStep& step, Instant injected,
                          const std::optional<Incident>& incident, DrillTime time);
/// The worst of its steps: failed before unknown before passed.
DrillOutcome outcome_of(const std::vector<DrillResult>& steps);

}  // namespace tundish::edge::cli
