// What the next shift has to know.
#include <algorithm>
#include <map>

#include "base/quote.hpp"
#include "base/text.hpp"
#include "edge/api/handlers.hpp"

namespace tundish::edge::api {
namespace {

constexpr int most_entries = 10000;
constexpr std::int64_t longest_since_s = 90LL * 24 * 3600;

template <class E>
std::string word(E value) {
  return std::string(enum_names(value)[static_cast<std::size_t>(value)]);
}

std::string node_name(const Registry& reg, const NodeId& id) {
  const Node* node = reg.find(id);
  return node ? node->meta.name : id.str();
}

std::string subject_of(const Registry& reg, const Incident& incident) {
  return incident.node.empty() ? incident.subject : node_name(reg, incident.node);
}

bool is_open(const Incident& incident) {
  return incident.state == IncidentState::open || incident.state == IncidentState::rma;
}

void add_incident(const Registry& reg, const Incident& incident, ShiftReport& out) {
  const bool in_shift =
      incident.opened_at >= out.since || is_open(incident) || incident.resolved_at >= out.since;
  if (!in_shift) return;
  ShiftLine line;
  line.what = incident.fault + ", " + word(incident.state);
  line.object = incident.id.str() + " " + subject_of(reg, incident);
  line.detail = incident.blame;
  line.at = incident.opened_at;
  (incident.drill ? out.drills : out.incidents).push_back(line);
  for (const auto& entry : incident.timeline) {
    if (entry.at < out.since || entry.key.empty()) continue;
    const bool acted = entry.acting.us > 0 || entry.outcome != StepOutcome::done;
    if (!acted) continue;
    out.acts.push_back({entry.what, line.object, word(entry.outcome), "policy", entry.at});
  }
  if (incident.state == IncidentState::rma) {
    out.waiting.push_back({"rma", line.object, "the vendor; close it when the part is back",
                           "vendor", incident.resolved_at});
  } else if (incident.state == IncidentState::open && incident.held) {
    out.waiting.push_back(
        {"held incident", line.object, "resume it or close it", "person", incident.opened_at});
  }
}

void add_waiting(const Backend& b, ShiftReport& out) {
  for (const auto& [id, proposal] : b.reg().all<Proposal>()) {
    const bool waits = proposal.state == ProposalState::waiting && proposal.expires_at > out.until;
    if (!waits) continue;
    out.waiting.push_back({"proposal", id.str(),
                           proposal.action + " " + proposal.object + ": " + proposal.reason,
                           "person", proposal.meta.created_at});
  }
  for (const auto& [id, notice] : b.reg().all<Notice>()) {
    if (notice.state != NoticeState::open || notice.channel != NoticeChannel::page) continue;
    out.waiting.push_back(
        {"page", id.str(), notice.summary + "; acknowledge it", "on-call", notice.opened_at});
  }
  for (const auto& [id, hold] : b.reg().all<Hold>()) {
    if (hold.until.is_set() && hold.until <= out.until) continue;
    out.waiting.push_back({"hold", hold.scope, hold.reason, "person", hold.meta.created_at});
  }
}

void add_claims(const Registry& reg, ShiftReport& out) {
  for (const auto& [id, claim] : reg.all<Claim>()) {
    if (claim.state != ClaimState::active) continue;
    out.claims.push_back(
        {"claim", node_name(reg, claim.node), claim.reason, claim.holder, claim.since});
  }
}

std::string window_text(const Maintenance& window) {
  int ready = 0;
  for (const auto& one : window.nodes) ready += one.state == MaintenanceNodeState::empty ? 1 : 0;
  std::string text = window.reason + "; " + render_utc(window.begin) + " to " +
                     render_utc(window.end) + ", " + std::to_string(window.nodes.size()) +
                     " nodes, " + std::to_string(ready) + " empty";
  if (window.overrun_since.is_set() && !is_over(window)) text += "; OVERRUN";
  return text;
}

void add_maintenance(const Registry& reg, ShiftReport& out) {
  for (const auto& [id, window] : reg.all<Maintenance>()) {
    if (is_over(window) && window.ended_at < out.since) continue;
    out.maintenance.push_back(
        {word(window.state), window.scope, window_text(window), window.ended_by, window.begin});
  }
}

void add_spares(const Backend& b, ShiftReport& out) {
  const auto view = b.parts.manager.view();
  for (const auto& [id, held] : b.reg().all<Allocation>()) {
    SpareRow row;
    const Cluster* cluster = b.reg().find(held.cluster);
    row.cluster = cluster ? cluster->meta.name : id.str();
    row.wanted = held.spec.spares;
    for (const auto& member : held.status.nodes) {
      const bool ready = member.role == MemberRole::spare &&
                         b.reg().claims_on(member.node).empty() &&
                         control::is_present(view, member.node);
      row.ready += ready ? 1 : 0;
    }
    out.spares.push_back(std::move(row));
  }
  for (const auto& [id, node] : b.reg().all<Node>()) {
    const bool gpu = node.spec.role == NodeRole::gpu;
    out.free_nodes += gpu && control::placeable(view, node).yes ? 1 : 0;
  }
}

/// By the history: newest first until it is older than the shift.
Result<> add_done(Backend& b, ShiftReport& out) {
  HistoryQuery query;
  query.limit = most_entries;
  query.newest_first = true;
  const auto entries = TRY(b.parts.store.history(query));
  std::map<std::pair<std::string, std::string>, int> counts;
  for (const auto& entry : entries) {
    // What every agent tells is one line, not one for each of ten thousand nodes.
    const bool agent = entry.actor.starts_with("agent:");
    if (entry.at >= out.since) ++counts[{agent ? "agents" : entry.actor, entry.operation}];
  }
  out.complete = static_cast<int>(entries.size()) < most_entries ||
                 (!entries.empty() && entries.back().at < out.since);
  for (const auto& [key, count] : counts) {
    out.done.push_back({key.first, key.second, count});
  }
  return {};
}

void sort_lines(std::vector<ShiftLine>& lines) {
  std::stable_sort(lines.begin(), lines.end(),
                   [](const ShiftLine& a, const ShiftLine& b) { return a.at < b.at; });
}

}  // namespace

Result<Answer> get_shift_report(Backend& b, const Call& call) {
  const std::string text = call.query("since_s");
  const auto since = text.empty() ? std::optional<std::int64_t>(12 * 3600) : parse_integer(text);
  if (!since || *since < 1 || *since > longest_since_s) {
    return make_error(Code::invalid,
                      "since_s " + in_quotes(text) + " is no number from 1 to 90 days")
        .with_remedy("for example since_s=43200");
  }
  ShiftReport out;
  out.until = b.now();
  out.since = b.now() - seconds(*since);
  for (const auto& [id, incident] : b.reg().all<Incident>()) add_incident(b.reg(), incident, out);
  add_waiting(b, out);
  add_claims(b.reg(), out);
  add_maintenance(b.reg(), out);
  add_spares(b, out);
  TRY_VOID(add_done(b, out));
  for (auto* lines :
       {&out.incidents, &out.acts, &out.waiting, &out.claims, &out.maintenance, &out.drills}) {
    sort_lines(*lines);
  }
  return Answer{200, render_json(out)};
}

}  // namespace tundish::edge::api
