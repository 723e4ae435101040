#include "edge/api/explain_more.hpp"

#include <algorithm>
#include <map>

#include "base/text.hpp"

namespace tundish::edge::api {
namespace {

constexpr std::size_t most_past = 5;

std::string word(VerdictState state) {
  return std::string(enum_names(state)[static_cast<std::size_t>(state)]);
}

/// Scopes that a hold over the node may have.
std::set<std::string> scopes_of(const Registry& reg, const Node& node) {
  std::set<std::string> out = {"*", "node:" + node.meta.name};
  if (!node.spec.rack.empty()) out.insert("rack:" + node.spec.rack);
  if (!node.spec.site.empty()) out.insert("site:" + node.spec.site);
  const Allocation* held = reg.find(node.status.allocation);
  if (!held) return out;
  if (const Tenant* tenant = reg.find(held->meta.tenant)) {
    out.insert("tenant:" + tenant->meta.name);
  }
  if (const Cluster* cluster = reg.find(held->cluster)) out.insert("cluster:" + cluster->meta.name);
  return out;
}

void explain_holds(const Backend& b, const Node& node, Explanation& out,
                   std::vector<std::string>& next) {
  const auto view = b.parts.manager.view();
  const auto scopes = scopes_of(b.reg(), node);
  for (const auto& [id, hold] : b.reg().all<Hold>()) {
    const bool over = hold.until.is_set() && hold.until <= view.now;
    if (over || !scopes.contains(hold.scope)) continue;
    next.push_back("hold " + id.str() + " (" + hold.scope + ": " + hold.reason +
                   ") stops automatic acts on it" +
                   (hold.until.is_set() ? " until " + render_utc(hold.until) : ""));
    const std::string release = "let it go on: tundish hold release " + id.str();
    const auto& said = out.you_can;
    if (std::find(said.begin(), said.end(), release) == said.end()) out.you_can.push_back(release);
    out.how_to_stop.clear();
  }
  if (view.seen.hold_file) {
    next.push_back("the hold file beside tundishd stops automatic acts");
    out.how_to_stop.clear();
  }
}

void explain_windows(const Backend& b, const Node& node, Explanation& out,
                     std::vector<std::string>& next) {
  for (const auto& [id, window] : b.reg().all<Maintenance>()) {
    const bool of_it =
        std::any_of(window.nodes.begin(), window.nodes.end(),
                    [&](const MaintenanceNode& one) { return one.node == node.id; });
    if (!of_it || is_over(window)) continue;
    const std::string name = "maintenance " + id.str() + " (" + window.reason + ")";
    if (window.state == MaintenanceState::revalidating) {
      next.push_back(name + ": its checks decide whether it comes back");
    } else if (!is_under_way(window)) {
      next.push_back(name + " begins at " + render_utc(window.begin));
    } else {
      const bool late = window.overrun_since.is_set();
      next.push_back(name + (late ? " should have ended at " : " should end at ") +
                     render_utc(window.end) + "; no time ends it: a person does");
    }
    if (window.state != MaintenanceState::revalidating) {
      out.you_can.push_back("say that the work is done: tundish maintenance end " + id.str());
    }
  }
}

void add_checks(const std::vector<Verdict>& verdicts, Explanation& out) {
  for (const auto& verdict : verdicts) {
    if (verdict.state == VerdictState::ok) continue;
    std::string text = verdict.check + " " + word(verdict.state);
    if (!verdict.device.empty()) text += " " + verdict.device;
    text += ": " + verdict.reason;
    if (std::find(out.shows.begin(), out.shows.end(), text) == out.shows.end()) {
      out.shows.push_back(text);
    }
  }
}

const std::map<std::string, std::string>& fact_words() {
  static const std::map<std::string, std::string> words = {
      {"permitted", "leave to touch the node"},
      {"drained", "the node to be known as empty"},
      {"isolated", "the node to leave the tenant's cluster and networks"},
      {"in_allocation", "an allocation to hold it"},
      {"engine_known", "its engine to answer"},
      {"rebooted", "the node to start anew"},
      {"agent_back", "its agent to be heard"},
      {"action_done", "the act to end"},
      {"action_failed", "the act to fail"},
      {"action_unknown", "the act to end without an answer"},
      {"checks_passed", "its checks to pass"},
      {"checks_failed", "a check to fail"},
      {"checks_unknown", "a check that cannot look"},
      {"new_witness", "the fault to show itself again"},
      {"brake", "the brake"}};
  return words;
}

std::string words_of(const std::string& term) {
  const bool negated = term.starts_with('!');
  const auto found = fact_words().find(negated ? term.substr(1) : term);
  if (found == fact_words().end()) return "";
  return negated ? "not " + found->second : found->second;
}

}  // namespace

void explain_orders_in_force(const Backend& b, const Node& node, Explanation& out,
                             std::vector<std::string>& next) {
  explain_holds(b, node, out, next);
  explain_windows(b, node, out, next);
}

void explain_checks(const Node& node, Explanation& out) {
  add_checks(node.status.verdicts, out);
  add_checks(node.status.bmc_verdicts, out);
  add_checks(node.status.active_verdicts, out);
}

void explain_past(const Backend& b, const Node& node, Explanation& out) {
  std::vector<const Incident*> ended;
  for (const auto& [id, incident] : b.reg().all<Incident>()) {
    const bool over =
        incident.state != IncidentState::open && incident.state != IncidentState::rma;
    if (incident.node == node.id && over) ended.push_back(&incident);
  }
  std::sort(ended.begin(), ended.end(), [](const Incident* a, const Incident* c) {
    return a->opened_at != c->opened_at ? a->opened_at > c->opened_at : c->id < a->id;
  });
  for (std::size_t i = 0; i < ended.size() && i < most_past; ++i) {
    const Incident& one = *ended[i];
    out.past.push_back(one.id.str() + " " + one.fault + (one.drill ? " (drill)" : "") + ", " +
                       render_utc(one.opened_at) + ": " +
                       std::string(enum_names(one.state)[static_cast<std::size_t>(one.state)]));
  }
  if (ended.size() > most_past) {
    out.past.push_back("and " + std::to_string(ended.size() - most_past) + " more");
  }
}

std::string waiting_words(const std::string& reason) {
  constexpr std::string_view begin = "waits for ";
  if (!reason.starts_with(begin)) return reason;
  std::vector<std::string> terms;
  std::string rest = reason.substr(begin.size());
  for (auto at = rest.find(" or "); at != std::string::npos; at = rest.find(" or ")) {
    terms.push_back(rest.substr(0, at));
    rest = rest.substr(at + 4);
  }
  terms.push_back(rest);
  std::vector<std::string> words;
  for (const auto& term : terms) {
    const std::string text = words_of(term);
    const bool again = std::find(words.begin(), words.end(), text) != words.end();
    if (!text.empty() && !again) words.push_back(text);
  }
  return words.empty() ? reason : std::string(begin) + join(words, ", or ");
}

}  // namespace tundish::edge::api
