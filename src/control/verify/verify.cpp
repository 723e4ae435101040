#include "control/verify/verify.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "control/verify/properties.hpp"
#include "control/verify/story.hpp"

namespace tundish::control::verify {
namespace {

const std::vector<std::string>& assumptions() {
  static const std::vector<std::string> lines = {
      "time is abstract: a deadline may fire before, with or after any event",
      "an act fails, succeeds, gives no answer, or was done without an answer, in any order",
      "a second fault, a silent agent, the brake and a restart of tundishd may come at any time",
      "at any time a person sets or releases a hold, claims the node or takes that back, resumes "
      "it or forces the incident's claim, after which the same fault may come again",
      "a hold, missing consent and a limit let no act begin, stop its clock, and end some day",
      "nothing is done any more about an incident that a person ended",
      "the permit refuses resets, reboots and power cycles without a hardware witness",
      "a node in an allocation becomes empty only after leave to drain it was given"};
  return lines;
}

Refutation told(const Space& space, const Property& property, const Broken& broken) {
  Refutation out;
  out.property = property.name;
  out.statement = property.statement;
  out.verdict = broken.verdict;
  out.sticks_in = broken.sticks_in;
  out.about = broken.about;
  out.reading = broken.reading;
  if (broken.config < 0) {
    out.story = broken.after;
    out.hardware_witness = broken.hardware_witness;
    return out;
  }
  int first = broken.config;
  while (space.parent(first) >= 0) first = space.parent(first);
  const Config& start = space.configs()[static_cast<std::size_t>(first)];
  out.hardware_witness = start.hardware;
  out.story.push_back(tell_beginning(space, start));
  const auto way = story_to(space, broken.config);
  out.story.insert(out.story.end(), way.begin(), way.end());
  out.story.insert(out.story.end(), broken.after.begin(), broken.after.end());
  return out;
}

std::string line_of(const StoryStep& step) {
  std::string out = step.state.empty() ? step.event : step.state + ": " + step.event;
  if (!step.go.empty() && step.go != step.state) out += " -> " + step.go;
  return out;
}

}  // namespace

const std::vector<Property>& properties() {
  static const std::vector<Property> list = {
      {"check_runnable", "A check that a state's exit depends on can run in that state.",
       find_unrunnable_check},
      {"way_out",
       "Every state that does not end the incident has a way out: back when repairs help, to the "
       "vendor when they do not.",
       find_no_way_out},
      {"wait_for_acyclic", "Nothing waits, directly or by others, for itself.", find_circular_wait},
      {"deadline", "Every wait has a deadline, and an answer ends it at once.", find_endless_wait},
      {"brake", "The brake stops only what takes capacity away.", find_braked_recovery},
      {"fail_closed",
       "Error, timeout and unknown never lead where pass leads, and nothing is touched or "
       "returned on no evidence.",
       find_open_failure},
      {"claims", "Only its owner releases a claim; a node is free when no claim is left.",
       find_foreign_release},
      {"budget_monotone",
       "What a repair costs is remembered: no restart, deletion or second incident gives it back.",
       find_returned_budget},
      {"threshold", "Every threshold can fire, and a sound part can pass it.", find_dead_threshold},
      {"catalogue",
       "Every known fault has an action that the policy takes, what has to go off is not started "
       "again, and every guard on a fault has one that it waits for.",
       find_unhandled_fault},
      {"ranking", "Every circle spends a budget or tells a person.", find_endless_circle}};
  return list;
}

std::vector<KnownFault> faults_of(const XidCatalogue& catalogue) {
  std::vector<KnownFault> out;
  const auto name_of = [](FaultAction action) {
    return std::string(enum_names(action)[static_cast<std::size_t>(action)]);
  };
  const auto add = [&](const XidTable& table, const std::string& word) {
    for (const auto& row : table.entries) {
      const auto scope = enum_names(row.scope)[static_cast<std::size_t>(row.scope)];
      const bool opens = row.action == FaultAction::reset || row.action == FaultAction::reboot ||
                         row.action == FaultAction::rma || row.action == FaultAction::fabric;
      if (!opens || row.decoy) continue;
      out.push_back({word + " " + std::to_string(row.code), name_of(row.action), std::string(scope),
                     row.device_lost, false});
    }
  };
  add(catalogue.xid, "xid");
  add(catalogue.sxid, "sxid");
  out.push_back({"fallen off bus", "reboot", "gpu", true, false});
  out.push_back({"checks failed", "reset", "node", false, false});
  out.push_back({"leak", "power_off", "node", true, false});  // what its BMC shows
  out.push_back({"symptom", "none", "node", false, false});  // blame found this node
  return out;
}

Result<Verification> verify(const VerifyInput& input) {
  const Space space = TRY(Space::build(input));
  Verification out;
  out.policy = input.policy.name;
  out.version = input.policy.version;
  out.states = static_cast<std::int64_t>(space.configs().size());
  out.transitions = space.transitions();
  out.codes = static_cast<std::int64_t>(input.faults.size());
  out.limits = static_cast<std::int64_t>(input.thresholds.size());
  out.assumptions = assumptions();
  for (const auto& property : properties()) {
    if (const auto broken = property.find(space, input)) {
      out.refuted.push_back(told(space, property, *broken));
    } else {
      out.proved.push_back(property.name);
    }
  }
  return out;
}

std::string render(const Verification& verification) {
  std::string out = verification.policy + " version " + std::to_string(verification.version) + "\n";
  if (verification.is_proved()) {
    out += "proved: " + std::to_string(verification.proved.size()) + " properties, " +
           std::to_string(verification.states) + " states, " +
           std::to_string(verification.transitions) + " transitions, " +
           std::to_string(verification.codes) + " codes and " +
           std::to_string(verification.limits) + " limits of the catalogue, under these " +
           "assumptions:\n";
    for (const auto& line : verification.assumptions) out += "  " + line + "\n";
    return out;
  }
  for (const auto& refutation : verification.refuted) {
    out += "refuted: " + refutation.property + ": " + refutation.statement + "\n";
    int number = 0;
    for (const auto& step : refutation.story) {
      out += "  " + std::to_string(++number) + ". " + line_of(step) + "\n";
    }
    out += "  " + std::string(refutation.sticks_in.empty() ? "wrong: " : "stuck: ") +
           refutation.verdict + "\n";
  }
  out += std::to_string(verification.refuted.size()) + " of " +
         std::to_string(verification.refuted.size() + verification.proved.size()) +
         " properties refuted, " + std::to_string(verification.states) + " states\n";
  return out;
}

void StoryStep::fields(Fields& f) {
  f(1, "state", state, "where it was; empty: outside the policy");
  f(2, "event", event, "what happened, in words");
  f(3, "go", go, "where that led");
  f(4, "act", act, "how the state's act ended: done, failed or unknown; empty: it did not");
  f(5, "facts", facts, "facts of the environment that held");
  f(6, "after_s", after_s, "seconds since the state was entered");
  f(7, "fault", fault, "the incident's fault");
}

void Refutation::fields(Fields& f) {
  f(1, "property", property, "name of the property");
  f(2, "statement", statement, "what should hold");
  f(3, "verdict", verdict, "what is wrong at the end of the story");
  f(4, "sticks_in", sticks_in, "state that it does not leave; empty: it ends badly");
  f(5, "hardware_witness", hardware_witness, "whether the story begins with one");
  f(6, "story", story, "the shortest way there");
  f(7, "about", about, "state, or STATE.NUMBER of its edge, that the files alone speak of");
  f(8, "reading", reading, "value that the refuted limit misjudges");
}

void ThresholdReading::fields(Fields& f) {
  f(1, "check", check, "whose limit it is");
  f(2, "threshold", threshold, "the limit and what can be read");
  f(3, "measured", measured, "value that it misjudges");
  f(4, "is_sound", is_sound, "the part that shows this value is sound");
}

void Verification::fields(Fields& f) {
  f(1, "policy", policy, "its name");
  f(2, "version", version, "its version");
  f(3, "proved", proved, "properties that hold");
  f(4, "refuted", refuted, "properties that do not, each with its shortest story");
  f(5, "assumptions", assumptions, "what the proof takes for granted");
  f(6, "states", states, "positions that were searched");
  f(7, "transitions", transitions, "ways between them");
  f(8, "codes", codes, "fault codes of the catalogue that were looked at");
  f(9, "limits", limits, "limits of the catalogue that were looked at");
}

}  // namespace tundish::control::verify
