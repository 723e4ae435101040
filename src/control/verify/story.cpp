#include "control/verify/story.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace tundish::control::verify {
namespace {

const std::map<std::string, std::string>& phrases() {
  static const std::map<std::string, std::string> words = {
      {"permitted", "leave is given"},
      {"drained", "the node is known to be empty"},
      {"isolated", "the node is seen to have left the cluster"},
      {"rebooted", "the node has booted anew"},
      {"agent_back", "its agent is heard again"},
      {"in_allocation", "the node still belongs to an allocation"},
      {"engine_known", "the engine answers"},
      {"brake", "the brake is on"},
      {"new_witness", std::string(witness_comes)},
      {"hardware_witness", "a hardware witness is there"},
      {"device_lost", "the device is lost"}};
  return words;
}

std::string act_phrase(const PolicyState& state, ActSeen act) {
  const bool checks = state.action == "run_checks";
  switch (act) {
    case ActSeen::done: return checks ? "the checks pass" : state.action + " is done";
    case ActSeen::failed: return checks ? "the checks fail" : state.action + " fails";
    case ActSeen::unknown:
      return checks ? "the checks give no answer"
                    : state.action + " gives no answer, it may have been done";
    case ActSeen::running: return state.action + " has not ended";
    case ActSeen::none: break;
  }
  return "";
}

std::string act_word(ActSeen act) {
  switch (act) {
    case ActSeen::done: return "done";
    case ActSeen::failed: return "failed";
    case ActSeen::unknown: return "unknown";
    case ActSeen::running:
    case ActSeen::none: break;
  }
  return "";
}

/// The edge that the step took: the first of that aim whose terms hold.
const PolicyEdge* edge_of(const Space& space, const Config& at, const Move& move,
                          const std::set<std::string>& facts) {
  for (const auto& edge : space.state_of(at).next) {
    if (edge.go != space.names()[move.go] || edge.after_s > move.after_s) continue;
    bool all = true;
    for (const auto& term : edge.when) {
      const bool negated = term.starts_with('!');
      const std::string name = negated ? term.substr(1) : term;
      if (name.starts_with("budget:") || name.starts_with("fault:")) continue;
      all = all && facts.contains(name) != negated;
    }
    if (all) return &edge;
  }
  return nullptr;
}

/// Passed, though nothing was measured.
std::string why_dishonest(const Space& space, const Config& at, const Move& move) {
  if (move.act == ActSeen::unknown) return "which the policy reads as passed";
  const CheckPlan plan = space.plan_at(at, at.fault, at.hardware);
  if (!plan.why_skipped.empty()) return "for it is left out: " + plan.why_skipped;
  return "for there is no event that was not reported before";
}

void add_phrase(std::vector<std::string>& parts, const std::string& phrase) {
  if (phrase.empty()) return;
  if (std::find(parts.begin(), parts.end(), phrase) == parts.end()) parts.push_back(phrase);
}

std::string fault_name(const Space& space, int fault) {
  return space.faults()[static_cast<std::size_t>(fault)].name;
}

std::vector<std::string> bits_to_facts(std::uint16_t facts) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < free_facts().size(); ++i) {
    if ((facts >> i & 1) != 0) out.push_back(free_facts()[i]);
  }
  return out;
}

}  // namespace

std::string_view told_of(MoveKind kind) {
  switch (kind) {
    case MoveKind::again: return "the same fault comes back on the same part";
    case MoveKind::taken_back:
      return "a person takes the node back into service, and the same fault comes back on the "
             "same part";
    case MoveKind::forget:
      return "what carries the budget is deleted: everything spent is forgotten";
    case MoveKind::release: return "the hold is released";
    case MoveKind::step: break;
  }
  return "";
}

std::string state_with_doc(const Space& space, int state) {
  const std::string& doc = space.state(state).doc;
  return space.names()[static_cast<std::size_t>(state)] + (doc.empty() ? "" : " (" + doc + ")");
}

StoryStep tell_beginning(const Space& space, const Config& start) {
  StoryStep out;
  out.go = space.names()[start.state];
  out.fault = space.faults()[start.fault].name;
  out.event = out.fault + (start.hardware ? "" : ", written by a user's program") +
              (start.held_by_tenant ? " on a node of a tenant" : " on a free node");
  return out;
}

StoryStep tell_move(const Space& space, const Config& at, const Move& move) {
  StoryStep step;
  step.state = space.names()[at.state];
  step.go = space.names()[move.go];
  step.fault = fault_name(space, at.fault);
  if (const std::string_view told = told_of(move.kind); !told.empty()) {
    const bool begins = move.kind == MoveKind::again || move.kind == MoveKind::taken_back;
    if (!begins) step.go = step.state;
    step.event = told;
    return step;
  }
  step.act = act_word(move.act);
  step.after_s = move.after_s;
  step.facts = bits_to_facts(move.facts);
  Space::Question question{
      move.fault, move.act, move.after_s, move.facts, at.hardware || move.witness, move.witness};
  const auto facts = space.facts_for(at, question);
  const PolicyEdge* edge = edge_of(space, at, move, facts);
  std::vector<std::string> parts;
  if (move.fault != at.fault) {
    add_phrase(parts,
               "a second fault comes in, which asks for " + space.faults()[move.fault].action);
  }
  if (edge) {
    for (const auto& term : edge->when) {
      const auto phrase = phrases().find(term);
      if (phrase != phrases().end()) add_phrase(parts, phrase->second);
      if (term.starts_with("checks_") || term.starts_with("action_")) {
        add_phrase(parts, act_phrase(space.state_of(at), move.act));
        if (term == "checks_passed" && !move.honest) {
          add_phrase(parts, why_dishonest(space, at, move));
        }
      }
    }
    if (edge->after_s > 0) {
      for (const auto& fact : step.facts) add_phrase(parts, phrases().at(fact));
      add_phrase(parts, "nothing more within " + render_duration(seconds(edge->after_s)));
    }
  }
  if (move.witness) add_phrase(parts, phrases().at("new_witness"));
  if (parts.empty()) parts.push_back(act_phrase(space.state_of(at), move.act));
  if (parts.front().empty()) parts.front() = "at once";
  if (move.hold) parts.emplace_back(hold_is_set);
  step.event = join(parts, ", ");
  return step;
}

StoryStep tell_wait(const Space& space, const Config& at, const Space::Question& q) {
  StoryStep step;
  step.state = step.go = space.names()[at.state];
  step.fault = fault_name(space, q.fault);
  step.act = act_word(q.act);
  step.after_s = q.after_s;
  step.facts = bits_to_facts(q.facts);
  std::vector<std::string> parts;
  add_phrase(parts, act_phrase(space.state_of(at), q.act));
  for (const auto& fact : step.facts) add_phrase(parts, phrases().at(fact));
  if (q.witness) add_phrase(parts, phrases().at("new_witness"));
  const std::string reason = space.ask(at, q).reason;
  step.event = join(parts, ", ") + (parts.empty() ? "" : "; ") +
               (reason == "waits for " ? "no edge is left" : reason);
  return step;
}

std::vector<StoryStep> story_to(const Space& space, int config) {
  std::vector<StoryStep> out;
  for (int at = config; space.parent(at) >= 0; at = space.parent(at)) {
    const Config& from = space.configs()[static_cast<std::size_t>(space.parent(at))];
    out.push_back(tell_move(space, from, *space.entered_by(at)));
  }
  std::reverse(out.begin(), out.end());
  return out;
}

std::optional<Space::Question> find_question(
    const Space& space, const Config& at, const std::function<bool(const Space::Question&)>& test) {
  return find_question(space, space, at, test);
}

std::optional<Space::Question> find_question(
    const Space& space, const Space& also, const Config& at,
    const std::function<bool(const Space::Question&)>& test) {
  const auto read =
      static_cast<std::uint16_t>(space.facts_read(at.state) | also.facts_read(at.state));
  std::set<int> deadlines(space.deadlines(at.state).begin(), space.deadlines(at.state).end());
  deadlines.insert(also.deadlines(at.state).begin(), also.deadlines(at.state).end());
  for (const bool witness : {false, true}) {
    if (witness && !space.knows_witness() && !also.knows_witness()) break;
    const bool hardware = at.hardware || witness;
    for (const ActSeen act : space.ends_of(at, at.fault, hardware)) {
      for (const int after_s : deadlines) {
        if (space.stands_still(at, hardware) && after_s > 0) continue;
        for (std::uint16_t facts = read;; facts = static_cast<std::uint16_t>((facts - 1) & read)) {
          const bool confirmed =
              act == ActSeen::failed && space.state_of(at).action == "run_checks";
          const Space::Question q{at.fault, act, after_s, facts, hardware || confirmed, witness};
          if (space.is_possible(at, q) && test(q)) return q;
          if (facts == 0) break;
        }
      }
    }
  }
  return std::nullopt;
}

std::vector<int> distinct_positions(const Space& space) {
  std::set<Space::MemoKey> seen;
  std::vector<int> out;
  for (std::size_t i = 0; i < space.configs().size(); ++i) {
    const Config& at = space.configs()[i];
    if (space.state_of(at).final) continue;
    if (seen.insert(space.memo_key(at)).second) out.push_back(static_cast<int>(i));
  }
  return out;
}

std::vector<bool> can_reach(const Space& space, const std::function<bool(const Config&)>& target,
                            const std::function<bool(const Move&)>& use) {
  const auto count = space.configs().size();
  std::vector<bool> reached(count, false);
  std::vector<std::size_t> todo;
  for (std::size_t i = 0; i < count; ++i) {
    if (!target(space.configs()[i])) continue;
    reached[i] = true;
    todo.push_back(i);
  }
  const Ways& ways = space.ways();
  while (!todo.empty()) {
    const std::size_t at = todo.back();
    todo.pop_back();
    for (const auto number : ways.into(at)) {
      const auto from = static_cast<std::size_t>(ways.source(number));
      if (reached[from] || !use(*ways.edge(number).move)) continue;
      reached[from] = true;
      todo.push_back(from);
    }
  }
  return reached;
}

}  // namespace tundish::control::verify
