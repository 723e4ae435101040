#include <algorithm>

#include "control/network/drive.hpp"

namespace tundish::control::network {
namespace {

/// The failure side that the act touches; empty: none is declared, or it only isolates.
std::string side_of(const View& view, const Action& action) {
  const auto* attach = std::get_if<AttachAct>(&action.act);
  if (!attach || attach->intent.segment.empty()) return "";
  const Switch* device = view.reg.find_named<Switch>(attach->port.switch_name);
  return device ? device->spec.failure_side : "";
}

/// A switch that is not heard would hold up the other side for as long as it is away.
bool is_silent(const View& view, const Action& action) {
  const auto* attach = std::get_if<AttachAct>(&action.act);
  if (!attach) return false;
  const auto seen = view.seen.switches.find(attach->port.switch_name);
  return seen != view.seen.switches.end() && !seen->second.fault.empty();
}

}  // namespace

void keep_to_one_side(const View& view, std::vector<Action>& actions) {
  std::string first;
  for (const auto& action : actions) {
    const std::string side = side_of(view, action);
    if (side.empty() || is_silent(view, action)) continue;
    if (first.empty() || side < first) first = side;
  }
  if (first.empty()) return;
  std::erase_if(actions, [&](const Action& action) {
    const std::string side = side_of(view, action);
    return !side.empty() && side != first && !is_silent(view, action);
  });
}

}  // namespace tundish::control::network
