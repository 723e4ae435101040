#include "sim/replay.hpp"

#include <algorithm>

#include "control/fault/policy.hpp"
#include "control/verify/story.hpp"
#include "model/ops/incident_ops.hpp"
#include "sim/life.hpp"

namespace tundish::sim {
namespace {

using control::verify::Refutation;
using control::verify::StoryStep;

constexpr Duration patience = hours(8);  ///< twice the longest deadline

bool has(const std::vector<std::string>& list, const std::string& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

/// Some guard of the state reads the fact.
bool reads(const RemediationPolicy& policy, const std::string& state, const std::string& fact) {
  const auto found = policy.states.find(state);
  if (found == policy.states.end()) return false;
  return std::any_of(
      found->second.next.begin(), found->second.next.end(),
      [&](const PolicyEdge& edge) { return has(edge.when, fact) || has(edge.when, "!" + fact); });
}

bool is_told(const StoryStep& step, control::verify::MoveKind kind) {
  return step.event == control::verify::told_of(kind);
}

class Replay {
 public:
  Replay(const RemediationPolicy& policy, const XidCatalogue& catalogue, const Refutation& story)
      : policy_(policy), story_(story), life_(policy, catalogue, plan()) {}

  Result<ReplayReport> run() {
    if (story_.story.empty()) {
      return make_error(Code::unsupported, story_.property + ": there is nothing to live through");
    }
    plan_people();
    TRY_VOID(life_.begin());
    settle();
    return judge();
  }

 private:
  LifePlan plan() {
    LifePlan out;
    for (const auto& step : story_.story) {
      if (out.fault.empty()) out.fault = step.fault;
    }
    if (out.fault.empty()) out.fault = "fault";
    out.hardware = story_.hardware_witness;
    const StoryStep* first = story_.story.empty() ? nullptr : &story_.story.front();
    out.claimed = first && first->state.empty() && first->go.empty();
    out.job_stays = job_stays();
    out.engine_answers = !reads_engine();
    out.answer = [this](const std::string& action) { return answer(action); };
    return out;
  }

  /// The story ends while the node is not empty: a job of the tenant is on it.
  bool job_stays() const {
    if (story_.story.empty()) return false;
    const StoryStep& last = story_.story.back();
    const bool waits = reads(policy_, last.state, "drained") && !has(last.facts, "drained");
    return waits || reads_engine();
  }

  bool reads_engine() const {
    return std::any_of(policy_.states.begin(), policy_.states.end(), [&](const auto& state) {
      return reads(policy_, state.first, "engine_known");
    });
  }

  /// How the story says that the act of the current state ends; the last word on a state counts
  /// for all later visits, and what is not told gets no answer.
  const StoryStep* told() const {
    const Incident* now = life_.incident();
    if (!now) return nullptr;
    int visit = 0;
    for (const auto& state : life_.lived()) visit += state == now->policy_state ? 1 : 0;
    const StoryStep* found = nullptr;
    for (const auto& step : story_.story) {
      if (step.state != now->policy_state || is_of_person(step)) continue;
      found = &step;
      if (--visit <= 0) break;
    }
    return found;
  }

  ActEnd answer(const std::string& action) const {
    const StoryStep* step = told();
    const std::string& state = step ? step->act : "";
    if (control::is_power_action(action)) {
      if (state == "failed") return ActEnd::failed;
      if (step && has(step->facts, "rebooted")) return ActEnd::real;
      return state == "done" ? ActEnd::done : ActEnd::silent;
    }
    if (!answers_ || state.empty() || state == "unknown") return ActEnd::silent;
    return state == "done" ? ActEnd::done : ActEnd::failed;
  }

  /// How often the incident has entered the state when it comes to step `number`.
  int visits_until(std::size_t number, const std::string& state) const {
    int out = 0;
    for (std::size_t i = 0; i < number; ++i) {
      const StoryStep& step = story_.story[i];
      out += step.go == state && !is_of_person(step) ? 1 : 0;
    }
    return std::max(out, 1);
  }

  static bool is_of_person(const StoryStep& step) {
    using control::verify::MoveKind;
    return is_told(step, MoveKind::release) || is_told(step, MoveKind::taken_back) ||
           step.event == control::verify::node_is_claimed ||
           step.event == control::verify::claim_is_taken_back;
  }

  /// What people do in the story, when the incident comes there.
  void plan_people() {
    using control::verify::MoveKind;
    for (std::size_t i = 0; i < story_.story.size(); ++i) {
      const StoryStep& step = story_.story[i];
      const auto then = [&](std::function<void()> deed) {
        life_.when_entered(
            {step.state, visits_until(i, step.state), Life::Moment::next, std::move(deed)});
      };
      if (step.event.ends_with(control::verify::hold_is_set)) {
        life_.when_entered({step.go, visits_until(i + 1, step.go), Life::Moment::at_once,
                            [this] { hold(HoldFile::present); }});
      }
      if (step.event.find(control::verify::witness_comes) != std::string::npos) {
        then([this] { site().after(milliseconds(1), [this] { break_part(); }); });
      }
      if (step.event == control::verify::node_is_claimed) {
        then([this] { site().perform(take_claim(life_.node(), "person:ann", "my own work")); });
      } else if (is_told(step, MoveKind::taken_back)) {
        then([this] { take_back(); });
      } else if (is_told(step, MoveKind::release)) {
        then([this] { site().after(minutes(2), [this] { hold(HoldFile::absent); }); });
      }
    }
  }

  /// The file beside tundishd: it is seen at once, and by whoever writes it.
  enum class HoldFile { present, absent };
  void hold(HoldFile file) {
    if (site().process()) site().process()->manager->set_hold_file(file == HoldFile::present);
  }

  void break_part() {
    SimNode* node = site().world().find_id(life_.node().str());
    site().world().fail_gpu(*node, 0, 95, false);
    site().sync(*node);
  }

  void take_back() {
    first_ = life_.lived();
    again_ = true;
    site().perform(override_claims(life_.node(), "a person resumed it"));
    site().after(minutes(1), [this] { life_.begin_again(); });
  }

  Site& site() { return life_.site(); }

  /// Plays what happens outside the policy when the story comes to it, then waits.
  void settle() {
    using control::verify::MoveKind;
    bool forgotten = false, again = false;
    for (const auto& step : story_.story) {
      again = again || is_told(step, MoveKind::again);
      forgotten = forgotten || is_told(step, MoveKind::forget);
    }
    if (forgotten) {
      site().run_until(site().now() + hours(2));
      const auto forget = [this](Txn& txn) -> Result<> {
        Incident incident = TRY(get_object(txn, life_.id()));
        incident.entries.clear();
        txn.put(std::move(incident));
        return {};
      };
      site().perform(make_operation("delete_remediation", "incident/" + life_.id().str(), forget));
    }
    if (story_.property == "brake" || has(story_.story.back().facts, "brake")) {
      answers_ = false;  // it is not well again before the brake is on
      life_.wait(hours(1));
      site().restart_with_brake();
      answers_ = true;
    }
    life_.wait(patience);
    if (!again) return;
    first_ = life_.lived();
    again_ = true;
    life_.begin_again();
    site().run_until(site().now() + minutes(1));
  }

  bool is_on_the_way(const std::string& state) const {
    return std::any_of(story_.story.begin(), story_.story.end(), [&](const StoryStep& step) {
      return step.state == state || step.go == state;
    });
  }

  /// More was spent on the fault, over both incidents, than the budget knows of.
  bool is_forgotten() const {
    const auto now = life_.lived();
    for (const auto& [name, state] : policy_.states) {
      if (!control::is_disruptive_action(state.action)) continue;
      auto spent = std::count(now.begin(), now.end(), name);
      if (again_) spent += std::count(first_.begin(), first_.end(), name);
      const auto& entries = life_.incident()->entries;
      const auto known = entries.find(name);
      if (spent > (known == entries.end() ? 0 : known->second)) return true;
    }
    return false;
  }

  Result<ReplayReport> judge() {
    ReplayReport out;
    const Incident* now = life_.incident();
    if (!now) return make_error(Code::internal, "the incident is gone");
    out.lived = life_.lived();
    const bool open = now->state == IncidentState::open;
    if (story_.property == "budget_monotone") {
      out.is_reproduced = is_forgotten() || spends_without_end(*now);
      out.end = "restarted " + std::to_string(life_.restarts()) +
                " times; the budget does not know";
    } else if (!story_.sticks_in.empty()) {
      out.is_reproduced = open && is_on_the_way(now->policy_state);
      out.end = open ? "eight hours later it is in " + now->policy_state
                     : "eight hours later it has ended";
    } else if (story_.property == "claims") {
      out.is_reproduced = !open && !life_.has_foreign_claim();
      out.end = "the node is free and the person's claim is gone";
    } else {
      out.is_reproduced = has(out.lived, story_.story.back().go);
      out.end = "it came to " + now->policy_state;
    }
    if (!out.is_reproduced) out.end += "; the story says: " + story_.verdict;
    return out;
  }

  bool spends_without_end(const Incident& now) const {
    for (const auto& [name, state] : policy_.states) {
      if (!control::is_disruptive_action(state.action) || state.budget > 0) continue;
      const auto spent = now.entries.find(name);
      if (spent != now.entries.end()) return true;
    }
    return false;
  }

  const RemediationPolicy& policy_;
  const Refutation& story_;
  bool answers_ = true;
  bool again_ = false;
  std::vector<std::string> first_;
  Life life_;
};

}  // namespace

Result<ReplayReport> replay(const RemediationPolicy& policy, const XidCatalogue& catalogue,
                            const Refutation& story) {
  if (story.property == "threshold") return replay_threshold(policy, catalogue, story);
  if (story.property == "catalogue") return replay_catalogue(policy, catalogue, story);
  return Replay(policy, catalogue, story).run();
}

}  // namespace tundish::sim
