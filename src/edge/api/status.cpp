#include <algorithm>

#include "control/allocation/fleet_cache.hpp"
#include "control/placement/place.hpp"
#include "edge/api/fleet_counts.hpp"
#include "edge/api/handlers.hpp"

namespace tundish::edge::api {
namespace {

bool is_in_force(const Hold& hold, Instant now) { return !hold.until.is_set() || hold.until > now; }

void add_governance(const Backend& b, StatusReport& out) {
  const auto view = b.parts.manager.view();
  for (const auto& [id, hold] : b.reg().all<Hold>()) {
    if (is_in_force(hold, view.now)) out.holds.push_back(hold.scope + ": " + hold.reason);
  }
  if (view.seen.hold_file) out.holds.push_back("*: hold file beside tundishd");
  for (const auto& [id, presence] : view.seen.presence) {
    const Node* node = b.reg().find(id);
    if (node && presence.on_hold) {
      out.holds.push_back("node:" + node->meta.name + ": hold file on the node");
    }
  }
  for (const auto& [id, proposal] : b.reg().all<Proposal>()) {
    const bool waits = proposal.state == ProposalState::waiting && proposal.expires_at > view.now;
    out.proposals_waiting += waits ? 1 : 0;
  }
}

/// "switch leaf1: unreachable for 140 s: never read; 8 ports of nodes are on it"
template <class Object>
void add_conditions(const std::string& what, const Object& object,
                    const std::vector<Condition>& conditions, Instant now, StatusReport& out) {
  for (const auto& condition : conditions) {
    if (condition.state != Truth::yes) continue;
    const auto age = condition.since.is_set() ? (now - condition.since).us / 1000000 : 0;
    out.notices.push_back(what + " " + object.meta.name + ": " + condition.type + " for " +
                          std::to_string(age) + " s: " + condition.reason);
  }
}

/// A switch that is not seen is told once, as a switch, and not for each node behind it.
void add_network_notices(const Backend& b, StatusReport& out) {
  const Instant now = b.parts.manager.view().now;
  for (const auto& [id, device] : b.reg().all<Switch>()) {
    add_conditions("switch", device, device.status.conditions, now, out);
  }
  for (const auto& [id, fabric] : b.reg().all<Fabric>()) {
    add_conditions("fabric", fabric, fabric.conditions, now, out);
  }
}

/// First of all: what follows may be true and cannot be acted upon.
void add_store_notice(const Backend& b, StatusReport& out) {
  const auto& fault = b.parts.ledger.fault();
  if (!fault) return;
  const auto age = (b.parts.manager.view().now - fault->since).us / 1000000;
  out.notices.push_back("store: refused every change for " + std::to_string(age) +
                        " s: " + fault->why +
                        "; what is seen is shown, and nothing is recorded or done. Make room on "
                        "its disk, or mend it");
}

void add_notices(const Backend& b, const FleetCounts& counts, StatusReport& out) {
  add_store_notice(b, out);
  if (b.parts.receiver && b.parts.receiver->empty()) {
    out.notices.push_back("nobody is told of pages and tickets: webhook_url is not set in " +
                          std::string("tundishd.yaml (docs/operations.md)"));
  }
  if (const Untold untold = count_untold(b.reg()); untold.notices > 0) {
    out.notices.push_back("the receiver of webhook_url takes no notices: " +
                          std::to_string(untold.notices) + " not told, the last try failed: " +
                          untold.fault + "; tundish notice list");
  }
  const std::string clock = b.parts.clock_note ? b.parts.clock_note() : "";
  if (!clock.empty()) out.notices.push_back("clock: " + clock);
  const int silent = counts.expected_agents - counts.agents_heard;
  if (silent > 0) {
    out.notices.push_back(std::to_string(silent) +
                          " agents are not heard; their nodes are unknown, not broken");
  }
  const auto view = b.parts.manager.view();
  for (const auto& [id, cluster] : b.reg().all<Cluster>()) {
    const auto silence = control::engine_silence(view, cluster);
    if (!silence) continue;
    out.notices.push_back("cluster " + cluster.meta.name + ": its engine has not answered for " +
                          std::to_string((view.now - silence->since).us / 1000000) +
                          " s; its nodes and jobs are unknown, not broken" +
                          (silence->fault.empty() ? "" : ": " + silence->fault));
  }
  add_network_notices(b, out);
  if (out.proposals_waiting > 0) {
    out.notices.push_back("proposals wait for a person: tundish proposal list");
  }
  for (const auto& [id, node] : b.reg().all<Node>()) {
    for (const auto& condition : node.status.conditions) {
      if (condition.type != "board_swap" && condition.type != "missing_from_import" &&
          condition.type != "sequence_jump") {
        continue;
      }
      out.notices.push_back("node " + node.meta.name + ": " + condition.type + ": " +
                            condition.reason);
    }
  }
}

int largest_gang(const control::placement::FleetIndex& index, const std::string& sku, int free) {
  if (free == 0) return 0;
  control::placement::Request request;
  request.sku = sku;
  request.count = free;
  const auto outcome = control::placement::place(index, request);
  const auto* none = std::get_if<control::placement::Shortfall>(&outcome);
  return none ? none->largest_gang : free;
}

void count_into(const Backend& b, const control::View& view, const Node& node, CapacityRow& row) {
  ++row.nodes;
  if (!b.reg().claims_on(node.id).empty()) {
    ++row.claimed;
    return;
  }
  if (const Allocation* held = b.reg().find(node.status.allocation)) {
    for (const auto& member : held->status.nodes) {
      if (member.node == node.id) ++(member.role == MemberRole::spare ? row.spares : row.assigned);
    }
    return;
  }
  ++(control::placeable(view, node).yes ? row.free : row.unknown);
}

}  // namespace

Untold count_untold(const Registry& reg) {
  Untold out;
  for (const auto& [id, notice] : reg.all<Notice>()) {
    const bool tried_in_vain = !notice.last_fault.empty();
    // Of what is over and was given up nobody has to be told any more.
    const bool over = notice.state == NoticeState::resolved && notice.pending == NoticeEvent::none;
    if (!tried_in_vain || over) continue;
    ++out.notices;
    out.fault = notice.last_fault;
  }
  return out;
}

FleetCounts count_fleet(const Backend& b, const Identity& who) {
  FleetCounts out;
  const auto view = b.parts.manager.view();
  for (const auto& [id, node] : b.reg().all<Node>()) {
    if (!is_visible(b.reg(), who, node)) continue;
    ++out.by_phase[static_cast<std::size_t>(node.status.phase)];
    if (node.status.phase == NodePhase::retired) continue;
    ++out.nodes;
    const bool claimed = !b.reg().claims_on(id).empty();
    out.claimed += claimed ? 1 : 0;
    out.claims += static_cast<int>(b.reg().claims_on(id).size());
    out.expected_agents += node.status.enrolled ? 1 : 0;
    out.agents_heard += control::is_present(view, id) ? 1 : 0;
    out.placeable += control::placeable(view, node).yes ? 1 : 0;
    out.ready += node.status.phase == NodePhase::ready && !claimed ? 1 : 0;
    out.assigned += node.status.allocation.empty() ? 0 : 1;
  }
  for (const auto& [id, cluster] : b.reg().all<Cluster>()) {
    if (!is_visible(b.reg(), who, cluster)) continue;
    ++out.clusters;
    out.clusters_active += cluster.status.phase == ClusterPhase::active ? 1 : 0;
  }
  for (const auto& [id, incident] : b.reg().all<Incident>()) {
    if (!is_visible(b.reg(), who, incident)) continue;
    ++out.incidents[static_cast<std::size_t>(incident.state)];
  }
  return out;
}

Result<Answer> get_health(Backend&, const Call&) {
  return Answer{200, "ok", {{"content-type", "text/plain"}}};
}

Result<Answer> get_status(Backend& b, const Call& call) {
  const FleetCounts counts = count_fleet(b, call.who);
  StatusReport out;
  out.version = b.parts.version;
  const auto roles = enum_names(call.who.role);
  out.role = std::string(roles[static_cast<std::size_t>(call.who.role)]);
  out.site = b.parts.site;
  out.revision = b.reg().revision();
  out.epoch = b.parts.ledger.epoch();
  out.nodes = counts.nodes;
  out.nodes_ready = counts.ready;
  out.nodes_assigned = counts.assigned;
  out.nodes_claimed = counts.claimed;
  out.agents_heard = counts.agents_heard;
  out.clusters = counts.clusters;
  out.clusters_active = counts.clusters_active;
  out.incidents_open = counts.incidents[static_cast<std::size_t>(IncidentState::open)] +
                       counts.incidents[static_cast<std::size_t>(IncidentState::rma)];
  if (const Tenant* tenant = b.reg().find(call.who.tenant)) out.tenant = tenant->meta.name;
  if (call.who.tenant.empty()) {
    add_governance(b, out);
    add_notices(b, counts, out);
  }
  return Answer{200, render_json(out)};
}

Result<Answer> get_capacity(Backend& b, const Call&) {
  const auto view = b.parts.manager.view();
  control::FleetCache own;
  const auto* index = TRY(control::find_fleet(view, own));
  std::map<std::string, CapacityRow> rows;
  for (const auto& [id, sku] : b.reg().all<Sku>()) rows[sku.meta.name].sku = sku.meta.name;
  std::map<std::string, int> free_gpu_nodes;
  for (const auto& [id, node] : b.reg().all<Node>()) {
    if (node.status.phase == NodePhase::retired) continue;
    CapacityRow& row = rows[node.spec.sku];
    row.sku = node.spec.sku;
    count_into(b, view, node, row);
    if (node.spec.role == NodeRole::gpu && control::placeable(view, node).yes) {
      ++free_gpu_nodes[node.spec.sku];
    }
  }
  std::vector<AnyDescribed> list;
  for (auto& [name, row] : rows) {
    row.largest_gang = largest_gang(*index, name, free_gpu_nodes[name]);
    list.push_back(row);
  }
  return Answer{200, render_json_list(list)};
}

Result<Answer> get_openapi(Backend&, const Call&) { return Answer{200, render_openapi()}; }

}  // namespace tundish::edge::api
