// What can happen in one position: every question to policy_step, and its answers.
#include <algorithm>

#include "control/fault/check_plan.hpp"
#include "control/verify/space.hpp"

namespace tundish::control::verify {
namespace {

constexpr Instant entered{1'000'000'000};

/// Facts that change what is known about the node for good.
std::uint16_t kept_facts() {
  static const auto bits = static_cast<std::uint16_t>(bit_of("drained") | bit_of("isolated"));
  return bits;
}

StepOutcome outcome_of(ActSeen act) {
  switch (act) {
    case ActSeen::done: return StepOutcome::done;
    case ActSeen::failed: return StepOutcome::failed;
    case ActSeen::unknown: return StepOutcome::timeout;
    case ActSeen::none:
    case ActSeen::running: break;
  }
  return StepOutcome::running;
}

bool is_same_effect(const Move& a, const Move& b) {
  return a.go == b.go && a.fault == b.fault && a.escalate == b.escalate && a.witness == b.witness &&
         a.honest == b.honest && (a.act == ActSeen::done) == (b.act == ActSeen::done) &&
         (a.act == ActSeen::failed) == (b.act == ActSeen::failed);
}

}  // namespace

std::uint16_t bit_of(std::string_view fact) {
  const auto& names = free_facts();
  const auto found = std::find(names.begin(), names.end(), fact);
  return static_cast<std::uint16_t>(1u << (found - names.begin()));
}

/// Facts of the environment that checks need are given to them: whether they come is no matter of
/// the policy. What the incident itself rules out stays ruled out.
CheckPlan Space::plan_at(const Config& at, int fault, bool hardware) const {
  std::set<std::string> facts;
  if (faults_[static_cast<std::size_t>(fault)].device_lost) facts.insert("device_lost");
  if (hardware) facts.insert("hardware_witness");
  facts.insert(wish_fact(faults_[static_cast<std::size_t>(fault)].action));
  for (const auto& name : checks_of(*policy_, state_of(at))) {
    const auto check = policy_->checks.find(name);
    if (check == policy_->checks.end()) continue;
    for (const auto& term : check->second.needs) {
      const auto& free = free_facts();
      if (std::find(free.begin(), free.end(), term) != free.end()) facts.insert(term);
    }
  }
  return plan_checks(*policy_, state_of(at), facts);
}

bool Space::is_refused(const Config& at, bool hardware) const {
  return is_disruptive_action(state_of(at).action) && !hardware;
}

/// Checks only look, which needs no leave; the ends of a policy only write.
bool Space::needs_leave(int state) const {
  const Deed deed = deeds_[static_cast<std::size_t>(state)];
  return deed != Deed::none && deed != Deed::checks && deed != Deed::end;
}

std::vector<ActSeen> Space::ends_of(const Config& at, int fault, bool hardware) const {
  const PolicyState& state = state_of(at);
  if (state.action.empty() || state.final) return {ActSeen::none};
  if (stands_still(at, hardware)) return {ActSeen::running};
  if (state.action == "run_checks") {
    const CheckPlan plan = plan_at(at, fault, hardware);
    if (!plan.waits.empty()) return {ActSeen::running};
    if (plan.is_empty()) return {ActSeen::done};
  }
  return {ActSeen::done, ActSeen::running, ActSeen::failed, ActSeen::unknown};
}

bool Space::is_possible(const Config& at, const Question& q) const {
  static const std::uint16_t permitted = bit_of("permitted");
  static const std::uint16_t drained = bit_of("drained");
  static const std::uint16_t isolated = bit_of("isolated");
  const bool asked = at.asked || (q.act == ActSeen::done && state_of(at).action == "evacuate");
  if ((q.facts & permitted) != 0 && !asked) return false;
  const std::uint16_t read = facts_read(at.state);
  if (!at.held_by_tenant) {  // nothing is on it: both hold from the beginning
    return (q.facts & read & (drained | isolated)) == (read & (drained | isolated));
  }
  if ((q.facts & (drained | isolated)) != 0 && !asked) return false;
  const bool both = (read & drained) != 0 && (read & isolated) != 0;
  return !both || (q.facts & isolated) == 0 || (q.facts & drained) != 0;
}

std::map<std::string, int> Space::entries_of(const Config& at) const {
  std::map<std::string, int> out;
  for (const int other : budgets_read_[at.state]) {
    const int slot = slots_[static_cast<std::size_t>(other)];
    out[names_[static_cast<std::size_t>(other)]] = at.spent[static_cast<std::size_t>(slot)];
  }
  return out;
}

std::set<std::string> Space::facts_for(const Config& at, const Question& q) const {
  const FaultClass& fault = faults_[static_cast<std::size_t>(q.fault)];
  std::set<std::string> facts = act_facts(*policy_, state_of(at), outcome_of(q.act));
  facts.insert(wish_fact(fault.action));
  facts.insert("fault:" + fault.name);
  if (fault.device_lost) facts.insert("device_lost");
  if (q.hardware) facts.insert("hardware_witness");
  if (q.witness) facts.insert("new_witness");
  for (std::size_t i = 0; i < free_facts().size(); ++i) {
    if ((q.facts >> i & 1) != 0) facts.insert(free_facts()[i]);
  }
  return facts;
}

PolicyStep Space::ask(const Config& at, const Question& q) const {
  return policy_step(*policy_, {names_[at.state], entered, entries_of(at)}, facts_for(at, q),
                     entered + seconds(q.after_s));
}

/// A pass counts as proof only when every check ran, and measured the part instead of its past.
bool Space::is_honest(const Config& at, const Question& q) const {
  if (state_of(at).action != "run_checks" || q.act != ActSeen::done) return false;
  const CheckPlan plan = plan_at(at, q.fault, q.hardware);
  if (!plan.skipped.empty() || !plan.waits.empty()) return false;
  for (const auto& name : checks_of(*policy_, state_of(at))) {
    const auto check = policy_->checks.find(name);
    if (check != policy_->checks.end() && check->second.sees != CheckSight::now) return false;
  }
  return true;
}

void Space::try_question(const Config& at, const Question& q, std::vector<Move>& out) const {
  const PolicyStep step = ask(at, q);
  if (!step.go) return;
  Move move;
  move.go = static_cast<std::uint8_t>(index_.at(*step.go));
  move.fault = static_cast<std::uint8_t>(q.fault);
  move.escalate = step.escalate;
  move.act = q.act;
  move.after_s = q.after_s;
  move.facts = q.facts;
  move.witness = q.witness;
  move.honest = is_honest(at, q);
  const bool quiet = !q.witness && q.fault == at.fault;
  const bool checks = state_of(at).action == "run_checks";
  move.works = quiet && (q.act == ActSeen::none || q.act == ActSeen::done);
  move.sticky =
      quiet && (q.act == ActSeen::none || q.act == (checks ? ActSeen::failed : ActSeen::done));
  move.quick = quiet && q.after_s == 0;
  move.unwipeable =
      quiet && (q.act == ActSeen::none ||
                q.act == (state_of(at).action == "wipe" ? ActSeen::failed : ActSeen::done));
  Config shown = at;  // the moves of all positions that differ in it are kept together
  shown.bad = shown.sick = true;
  const Signs signs = signs_after(shown, move);
  for (Move& known : out) {
    if (!is_same_effect(known, move) || ((known.facts ^ move.facts) & kept_facts()) != 0) continue;
    if (signs_after(shown, known) != signs) continue;
    known.works = known.works || move.works;
    known.sticky = known.sticky || move.sticky;
    known.unwipeable = known.unwipeable || move.unwipeable;
    known.quick = known.quick || move.quick;
    return;
  }
  out.push_back(move);
}

std::vector<Move> Space::find_moves(const Config& at) const {
  std::vector<Move> out;
  const std::uint16_t read = facts_read(at.state);
  std::vector<int> faults(worse_[at.fault].begin(), worse_[at.fault].end());
  faults.insert(faults.begin(), at.fault);
  for (const bool witness : {false, true}) {
    if (witness && !knows_witness_) break;
    for (const int fault : faults) {
      const bool hardware = at.hardware || witness;
      for (const ActSeen act : ends_of(at, fault, hardware)) {
        for (const int after_s : deadlines(at.state)) {
          if (stands_still(at, hardware) && after_s > 0) continue;
          // Subsets of what guards read, from all to none.
          for (std::uint16_t facts = read;;
               facts = static_cast<std::uint16_t>((facts - 1) & read)) {
            Question q{fault, act, after_s, facts, hardware, witness};
            if (act == ActSeen::failed && state_of(at).action == "run_checks") q.hardware = true;
            if (is_possible(at, q)) try_question(at, q, out);
            if (facts == 0) break;
          }
        }
      }
    }
  }
  if (at.hold) return out;
  for (std::size_t i = 0, count = out.size(); i < count; ++i) {
    // Where nothing needs leave a hold is the same as one that is set a step later.
    if (!needs_leave(out[i].go)) continue;
    Move held = out[i];
    held.hold = true;
    held.works = held.sticky = held.unwipeable = held.quick = false;  // the one without will do
    out.push_back(held);
  }
  return out;
}

Space::MemoKey Space::memo_key(const Config& at) const {
  std::uint32_t budgets = 0, bit = 1;
  for (const int other : budgets_read_[at.state]) {
    const auto number = static_cast<std::size_t>(other);
    const auto slot = static_cast<std::size_t>(slots_[number]);
    if (at.spent[slot] >= states_[number]->budget) budgets |= bit;
    bit <<= 1;
  }
  const std::uint32_t flags =
      (at.hardware ? 1u : 0u) | (at.held_by_tenant ? 2u : 0u) | (at.asked ? 4u : 0u) |
      (at.hold ? 8u : 0u);
  return {static_cast<std::uint32_t>(at.state) << 8 | at.fault, flags, budgets};
}

const std::vector<Move>& Space::moves_of(const Config& at) {
  const auto [found, fresh] = memo_.try_emplace(memo_key(at));
  if (fresh) found->second = find_moves(at);
  return found->second;
}

}  // namespace tundish::control::verify
