#include "control/verify/properties.hpp"
#include "control/verify/story.hpp"

namespace tundish::control::verify {
namespace {

struct Spending {
  int disruptive = 0;
  std::string beyond;  ///< state that was entered more often than its budget allows
};

Spending spending_of(const Space& space, const Config& at) {
  Spending out;
  for (std::size_t i = 0; i < space.names().size(); ++i) {
    const PolicyState& state = space.state(static_cast<int>(i));
    if (!is_disruptive_action(state.action)) continue;
    const int spent = at.spent[static_cast<std::size_t>(space.slot_of(static_cast<int>(i)))];
    out.disruptive += spent;
    if (state.budget > 0 && spent > state.budget) out.beyond = space.names()[i];
  }
  return out;
}

std::optional<Broken> at_position(int config, std::string verdict) {
  Broken out;
  out.config = config;
  out.verdict = std::move(verdict);
  return out;
}

}  // namespace

std::optional<Broken> find_returned_budget(const Space& space, const VerifyInput&) {
  const auto& budgets = space.policy().budgets;
  const bool kept = budgets.kept_in == BudgetKeeper::history;
  for (std::size_t i = 0; i < space.configs().size(); ++i) {
    const Config& at = space.configs()[i];
    const PolicyState& state = space.state_of(at);
    const Spending spent = spending_of(space, at);
    const int number = static_cast<int>(i);
    if (is_disruptive_action(state.action) && state.budget == 0) {
      return at_position(number, space.names()[at.state] + " has no budget: " + state.action +
                                     " may be done without end");
    }
    if (!spent.beyond.empty()) {
      return at_position(number, spent.beyond + " is entered beyond its budget");
    }
    if (budgets.disruptive_most > 0 && spent.disruptive > budgets.disruptive_most) {
      return at_position(number, "one fault costs more resets, reboots and power cycles than " +
                                     std::to_string(budgets.disruptive_most));
    }
    if (spent.disruptive == 0) continue;
    if (!kept) {
      auto out = at_position(number,
                             "the budget is full again though nothing was repaired: it "
                             "lives in a thing that is deleted");
      Move forget;
      forget.kind = MoveKind::forget;
      out->after.push_back(tell_move(space, at, forget));
      return out;
    }
    if (budgets.window_h == 0 && state.action == "return_node") {
      auto out = at_position(number,
                             "the second incident of the same fault begins with a full "
                             "budget");
      for (const Edge& edge : space.edges_of(i)) {
        out->after.push_back(tell_move(space, at, *edge.move));
      }
      return out;
    }
  }
  return std::nullopt;
}

}  // namespace tundish::control::verify
