#include <algorithm>
#include <array>

#include "control/verify/properties.hpp"
#include "control/verify/story.hpp"

namespace tundish::control::verify {
namespace {

/// A person's own claim on the node, beside the incident's.
enum class Person : std::uint8_t { none, there, lost };
constexpr std::size_t persons = 3;

/// The space beside a person, who claims the node before the fault or at any time after it, and may
/// take that back. The policy's answers do not change by it, so this is searched here and not in
/// the space, where it would double every position for one property.
class ClaimSearch {
 public:
  explicit ClaimSearch(const Space& space)
      : space_(space), from_(space.configs().size() * persons, Step{unseen, nullptr}) {}

  std::optional<Broken> run() {
    for (const Person person : {Person::none, Person::there}) {
      for (std::size_t i = 0; i < space_.configs().size(); ++i) {
        if (space_.parent(static_cast<int>(i)) < 0) add(i, begun(person), {begins, nullptr});
      }
    }
    for (std::size_t next = 0; next < order_.size(); ++next) {
      if (auto broken = visit(order_[next])) return broken;
    }
    return std::nullopt;
  }

 private:
  static constexpr int unseen = -2;
  static constexpr int begins = -1;
  /// How a pair was reached first: the pair before it, and the way; nullptr: the person acted.
  struct Step {
    int from = unseen;
    const Move* move = nullptr;
  };

  /// A policy that keeps one claim writes its own over the one that is there.
  Person begun(Person person) const {
    const bool slot = space_.policy().claims == ClaimKeeping::slot;
    return slot && person == Person::there ? Person::lost : person;
  }

  void add(std::size_t config, Person person, Step step) {
    const std::size_t pair = config * persons + static_cast<std::size_t>(person);
    if (from_[pair].from != unseen) return;
    from_[pair] = step;
    order_.push_back(pair);
  }

  std::optional<Broken> visit(std::size_t pair) {
    const std::size_t config = pair / persons;
    const auto person = static_cast<Person>(pair % persons);
    const PolicyState& state = space_.state_of(space_.configs()[config]);
    const int here = static_cast<int>(pair);
    if (state.action == "return_node" && person != Person::none) {
      if (person == Person::lost || state.releases == Releases::every) return told(pair);
    }
    if (!state.final && person != Person::lost) {
      add(config, person == Person::none ? Person::there : Person::none, {here, nullptr});
    }
    for (const Edge& edge : space_.edges_of(config)) {
      const bool anew =
          edge.move->kind == MoveKind::again || edge.move->kind == MoveKind::taken_back;
      add(static_cast<std::size_t>(edge.to), anew ? begun(person) : person, {here, edge.move});
    }
    return std::nullopt;
  }

  StoryStep tell_person(std::size_t pair) const {
    const Config& at = space_.configs()[pair / persons];
    StoryStep out;
    out.state = out.go = space_.names()[at.state];
    out.fault = space_.faults()[at.fault].name;
    const bool claims = static_cast<Person>(pair % persons) == Person::there;
    out.event = claims ? node_is_claimed : claim_is_taken_back;
    return out;
  }

  Broken told(std::size_t pair) const {
    const bool lost = static_cast<Person>(pair % persons) == Person::lost;
    Broken out;
    out.verdict = lost ? "the node is free though the person's reason was never taken back: it was "
                         "written over"
                       : "the policy releases the person's claim with its own";
    std::size_t at = pair;
    for (; from_[at].from >= 0; at = static_cast<std::size_t>(from_[at].from)) {
      const auto& step = from_[at];
      const Config& before = space_.configs()[static_cast<std::size_t>(step.from) / persons];
      out.after.push_back(step.move ? tell_move(space_, before, *step.move) : tell_person(at));
    }
    const Config& start = space_.configs()[at / persons];
    const auto person = static_cast<Person>(at % persons);
    out.hardware_witness = start.hardware;
    out.after.push_back(tell_beginning(space_, start));
    if (person == Person::lost) {
      out.after.emplace_back().event = "the incident writes its claim over the person's";
    }
    if (person != Person::none) {
      out.after.emplace_back().event = "a person drains the node and claims it";
    }
    std::reverse(out.after.begin(), out.after.end());
    return out;
  }

  const Space& space_;
  std::vector<Step> from_;  ///< by pair
  std::vector<std::size_t> order_;
};

}  // namespace

std::optional<Broken> find_foreign_release(const Space& space, const VerifyInput&) {
  return ClaimSearch(space).run();
}

}  // namespace tundish::control::verify
