#include <algorithm>
#include <functional>
#include <set>

#include "control/verify/properties.hpp"
#include "control/verify/story.hpp"

namespace tundish::control::verify {
namespace {

bool ends_with(const Space& space, const Config& at, std::string_view action) {
  return space.state_of(at).final && space.state_of(at).action == action;
}

/// On along the ways of this environment, until it stands still or has been there before.
void walk_on(const Space& space, const std::function<bool(const Move&)>& use, Broken& out) {
  std::set<int> seen;
  int at = out.config;
  while (seen.insert(at).second) {
    const auto edges = space.edges_of(static_cast<std::size_t>(at));
    const auto next =
        std::find_if(edges.begin(), edges.end(), [&](const Edge& e) { return use(*e.move); });
    const Config& here = space.configs()[static_cast<std::size_t>(at)];
    if (next == edges.end()) {
      const auto wait = find_question(
          space, here, [&](const Space::Question& q) { return !space.ask(here, q).go; });
      // Without a wait it goes on, but not in this environment: it ends in another way.
      if (!wait) return;
      out.after.push_back(tell_wait(space, here, *wait));
      break;
    }
    out.after.push_back(tell_move(space, here, *next->move));
    at = next->to;
  }
  out.sticks_in = space.names()[space.configs()[static_cast<std::size_t>(at)].state];
}

std::optional<Broken> first_outside(const Space& space, const std::vector<bool>& reached,
                                    const std::function<bool(const Config&)>& demanded,
                                    const std::string& verdict,
                                    const std::function<bool(const Move&)>& use) {
  for (std::size_t i = 0; i < reached.size(); ++i) {
    const Config& at = space.configs()[i];
    if (reached[i] || space.state_of(at).final || !demanded(at)) continue;
    Broken out;
    out.config = static_cast<int>(i);
    out.verdict = verdict;
    walk_on(space, use, out);
    return out;
  }
  return std::nullopt;
}

/// True but for the beginnings: nothing is demanded elsewhere.
std::vector<bool> starts_of(const Space& space) {
  std::vector<bool> out(space.configs().size(), true);
  for (std::size_t i = 0; i < out.size() && space.parent(static_cast<int>(i)) < 0; ++i) {
    out[i] = false;
  }
  return out;
}

std::vector<bool> both(std::vector<bool> left, const std::vector<bool>& right) {
  for (std::size_t i = 0; i < left.size(); ++i) left[i] = left[i] || right[i];
  return left;
}

}  // namespace

std::optional<Broken> find_no_way_out(const Space& space, const VerifyInput&) {
  const auto any = [](const Move& move) { return is_way_on(move); };
  const auto any_end = can_reach(
      space, [&](const Config& at) { return space.state_of(at).final; }, any);
  if (auto stuck = first_outside(
          space, any_end, [](const Config&) { return true; },
          "nothing that can happen ends this incident", any)) {
    return stuck;
  }
  const auto is_left_to_us = [&](const Config& at) { return !space.faults()[at.fault].by_person; };
  const auto released = [](const Move& move) { return move.kind == MoveKind::release; };
  const auto works = [=](const Move& move) { return move.works || released(move); };
  const auto back = can_reach(
      space, [&](const Config& at) { return ends_with(space, at, "return_node"); }, works);
  const auto repairable = [&](const Config& at) {
    return is_left_to_us(at) && space.faults()[at.fault].severity < 3 && at.hardware;
  };
  if (auto lost = first_outside(space, both(starts_of(space), back), repairable,
                                "every act and every check succeeds, and yet the node never "
                                "returns",
                                works)) {
    return lost;
  }
  const auto ended = can_reach(
      space, [&](const Config& at) { return space.state_of(at).final; }, works);
  if (auto lost = first_outside(space, ended, repairable,
                                "every act and every check succeeds from here on, and yet the "
                                "incident does not end",
                                works)) {
    return lost;
  }
  const auto sticky = [=](const Move& move) { return move.sticky || released(move); };
  const auto given_up = can_reach(
      space, [&](const Config& at) { return ends_with(space, at, "open_rma"); }, sticky);
  const auto unwipeable = [=](const Move& move) { return move.unwipeable || released(move); };
  const auto not_clean = can_reach(
      space, [&](const Config& at) { return ends_with(space, at, "open_rma"); }, unwipeable);
  const auto wipes = [&](const Config& at) {
    return is_left_to_us(at) && at.hardware && space.state_of(at).action == "wipe";
  };
  if (auto dirty = first_outside(space, not_clean, wipes,
                                 "wiping fails every time, and yet nobody is asked to repair it",
                                 unwipeable)) {
    return dirty;
  }
  return first_outside(
      space, given_up,
      [&](const Config& at) { return is_left_to_us(at) && at.hardware && !at.proved; },
      "every act succeeds and every check goes on failing, and yet nobody is asked to repair it",
      sticky);
}

}  // namespace tundish::control::verify
