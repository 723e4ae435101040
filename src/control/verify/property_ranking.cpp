#include <algorithm>
#include <deque>

#include "control/verify/properties.hpp"
#include "control/verify/story.hpp"

namespace tundish::control::verify {
namespace {

using Lowers = bool (*)(const Space&, const Config&, const Edge&);

/// A budget that is not used up yet is spent.
bool spends(const Space& space, const Config& from, const Edge& edge) {
  if (edge.move->kind != MoveKind::step) return true;
  const Config& to = space.configs()[static_cast<std::size_t>(edge.to)];
  const int slot = space.slot_of(to.state);
  const int budget = space.state_of(to).budget;
  if (slot < 0 || budget == 0) return false;
  const auto number = static_cast<std::size_t>(slot);
  return to.spent[number] > from.spent[number] && to.spent[number] <= budget;
}

/// The rank goes down: a budget is spent, or a person is told.
bool lowers_rank(const Space& space, const Config& from, const Edge& edge) {
  return edge.move->escalate != Escalation::log || spends(space, from, edge);
}

/// Neither budget nor time is spent: a person would be told as fast as acts can end.
bool takes_time(const Space& space, const Config& from, const Edge& edge) {
  return !edge.move->quick || spends(space, from, edge);
}

/// Ways that do not lower the rank, by number.
std::vector<bool> level_ways(const Space& space, Lowers lowers) {
  std::vector<bool> out(space.ways().size(), false);
  for (std::size_t number = 0; number < out.size(); ++number) {
    const auto from = static_cast<std::size_t>(space.ways().source(number));
    out[number] = !lowers(space, space.configs()[from], space.ways().edge(number));
  }
  return out;
}

/// Positions left when those without a way out are taken away again and again: from each of them a
/// circle is reached.
std::vector<bool> on_circles(const Space& space, const std::vector<bool>& level) {
  const Ways& ways = space.ways();
  const std::size_t count = space.configs().size();
  std::vector<int> out_degree(count, 0);
  std::vector<bool> left(count, true);
  std::vector<std::size_t> todo;
  for (std::size_t number = 0; number < level.size(); ++number) {
    if (level[number]) ++out_degree[static_cast<std::size_t>(ways.source(number))];
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (out_degree[i] == 0) todo.push_back(i);
  }
  while (!todo.empty()) {
    const std::size_t at = todo.back();
    todo.pop_back();
    left[at] = false;
    for (const auto number : ways.into(at)) {
      const auto from = static_cast<std::size_t>(ways.source(number));
      if (level[number] && --out_degree[from] == 0) todo.push_back(from);
    }
  }
  return left;
}

/// The shortest circle through a position; empty: none.
std::vector<std::pair<int, const Edge*>> circle_through(const Space& space, int start,
                                                        const std::vector<bool>& left,
                                                        Lowers lowers) {
  std::map<int, std::pair<int, const Edge*>> from;
  std::deque<int> todo = {start};
  while (!todo.empty()) {
    const int at = todo.front();
    todo.pop_front();
    const Config& config = space.configs()[static_cast<std::size_t>(at)];
    for (const Edge& edge : space.edges_of(static_cast<std::size_t>(at))) {
      if (lowers(space, config, edge) || !left[static_cast<std::size_t>(edge.to)]) continue;
      if (edge.to == start) {
        std::vector<std::pair<int, const Edge*>> out = {{at, &edge}};
        for (int back = at; back != start; back = out.back().first) out.push_back(from.at(back));
        std::reverse(out.begin(), out.end());
        return out;
      }
      if (from.emplace(edge.to, std::pair{at, &edge}).second) todo.push_back(edge.to);
    }
  }
  return {};
}

std::optional<Broken> find_circle(const Space& space, Lowers lowers, const std::string& verdict) {
  const auto left = on_circles(space, level_ways(space, lowers));
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (!left[i]) continue;
    const auto circle = circle_through(space, static_cast<int>(i), left, lowers);
    if (circle.empty()) continue;
    Broken out;
    out.config = static_cast<int>(i);
    for (const auto& [at, edge] : circle) {
      out.after.push_back(
          tell_move(space, space.configs()[static_cast<std::size_t>(at)], *edge->move));
    }
    out.sticks_in = space.names()[space.configs()[i].state];
    out.verdict = verdict;
    return out;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Broken> find_endless_circle(const Space& space, const VerifyInput&) {
  if (auto broken = find_circle(space, lowers_rank,
                                "round and round: no budget is spent and nobody is told")) {
    return broken;
  }
  return find_circle(space, takes_time,
                     "round and round in no time: a person is told as fast as acts can end");
}

}  // namespace tundish::control::verify
