#include "control/network/isolation.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "control/network/audit_parts.hpp"
#include "control/network/port_tables.hpp"
#include "model/ops/blame_ops.hpp"

namespace tundish::control::network {
namespace {

/// A subject that begins so is a fabric of partitions, and else a switch.
constexpr std::string_view fabric_word = "fabric ";

std::set<TenantId> tenants_of(const View& view, const Intent& intent,
                              const std::set<int>& networks) {
  std::set<TenantId> out;
  for (const int index : networks) {
    const Network* network = view.reg.find(intent.networks[static_cast<std::size_t>(index)].id);
    if (network) out.insert(network->meta.tenant);
  }
  return out;
}

constexpr std::size_t labels_told = 4;

/// Two clusters of one tenant that are joined are drift, and no breach between tenants.
void add_breach(const View& view, const Intent& intent, const std::string& what,
                std::set<int> networks, std::vector<Breach>& out) {
  const bool is_open = networks.erase(stranger) != 0;
  if (tenants_of(view, intent, networks).size() + (is_open ? 1 : 0) < 2) return;
  std::vector<std::string> labels;
  for (const int index : networks) labels.push_back(parts::label_of(intent, index));
  std::ranges::sort(labels);
  if (labels.size() > labels_told) {
    const std::size_t more = labels.size() - labels_told;
    labels.resize(labels_told);
    labels.push_back(std::to_string(more) + " more");
  }
  if (is_open) labels.emplace_back("a stranger");
  out.push_back({"joins " + join(labels, " and ") + ": " + what, std::move(networks)});
}

void take_findings(const View& view, const Intent& intent, const std::vector<AuditFinding>& found,
                   std::vector<Breach>& out) {
  for (const auto& finding : found) {
    add_breach(view, intent, name_guids(intent, finding.object + ": " + finding.what),
               finding.joins, out);
  }
}

std::set<int> all_of(const std::vector<Breach>& breaches) {
  std::set<int> out;
  for (const auto& breach : breaches) out.insert(breach.networks.begin(), breach.networks.end());
  return out;
}

bool is_on(const Node& node, const std::string& place) {
  return std::any_of(node.spec.ports.begin(), node.spec.ports.end(), [&](const Port& port) {
    return port.switch_name == place || (place.starts_with(fabric_word) && !port.guid.empty());
  });
}

/// Nodes of the networks at that place; of a network that has none there, all of them.
std::vector<NodeId> nodes_at(const View& view, const Intent& intent, const std::string& place,
                             const std::set<int>& networks) {
  std::set<NodeId> out;
  for (const int index : networks) {
    const Network* network = view.reg.find(intent.networks[static_cast<std::size_t>(index)].id);
    const Allocation* held = network ? view.reg.find(network->allocation) : nullptr;
    std::set<NodeId> here, all;
    for (const auto& member : held ? held->status.nodes : std::vector<AllocationNode>{}) {
      const Node* node = view.reg.find(member.node);
      const bool inside = member.role != MemberRole::spare && member.role != MemberRole::controller;
      if (!node || !inside) continue;
      all.insert(member.node);
      if (is_on(*node, place)) here.insert(member.node);
    }
    out.merge(here.empty() ? all : here);
  }
  return {out.begin(), out.end()};
}

Blame blame_of(const View& view, const std::string& place, const std::vector<Breach>& breaches) {
  Blame blame;
  // The part tells it from an incident about the switch's own health.
  blame.part = Resource::identity;
  blame.subject_kind = SubjectKind::network_switch;
  blame.object = place;
  blame.confidence = 100;
  blame.rule = std::string(isolation_rule);
  for (const auto& breach : breaches) {
    BlameEvidence line;
    line.at = view.now;
    line.part = Resource::identity;
    line.what = std::string(isolation_rule);
    line.says = breach.what;
    line.weight = 90;
    blame.evidence.push_back(std::move(line));
  }
  blame.would_change = {"a look that shows each tenant by itself"};
  return blame;
}

bool is_about(const Incident& incident, const std::string& place) {
  return incident.blamed && incident.blamed->rule == isolation_rule && incident.subject == place;
}

/// A person closed it while it was seen, and it is seen still.
bool is_answered(const View& view, const std::string& place, Instant since) {
  for (const auto& [id, incident] : view.reg.all<Incident>()) {
    const bool by_person =
        incident.state == IncidentState::closed || incident.state == IncidentState::overridden;
    if (by_person && is_about(incident, place) && incident.resolved_at >= since) return true;
  }
  return false;
}

}  // namespace

std::vector<Breach> breaches_on(const View& view, const Intent& intent,
                                const std::string& switch_name, const SwitchSeen& seen,
                                const std::set<int>& drifted) {
  std::vector<AuditFinding> found;
  parts::audit_switch(intent, switch_name, seen, found);
  std::erase_if(found, [&](const AuditFinding& finding) {
    if (finding.rule != AuditRule::firewall) return false;
    return std::ranges::none_of(finding.joins, [&](int one) { return drifted.contains(one); });
  });
  std::vector<Breach> out;
  take_findings(view, intent, found, out);
  return out;
}

std::vector<Breach> breaches_in(const View& view, const Intent& intent, const Fabric& fabric,
                                const FabricObserved& seen) {
  std::vector<AuditFinding> found;
  parts::audit_fabric(intent, fabric.meta.name, seen.seen, found);
  std::vector<Breach> out;
  take_findings(view, intent, found, out);
  // What the manager says is not all: a port's own table may hold more.
  const auto ports = look_at_ports(intent, fabric.meta.name, fabric.spec.partitions, seen);
  for (const auto& difference : ports.differences) {
    add_breach(view, intent, name_guids(intent, difference.what), difference.networks, out);
  }
  return out;
}

std::vector<std::string> lines_of(const std::vector<Breach>& breaches) {
  std::vector<std::string> out;
  for (const auto& breach : breaches) out.push_back(breach.what);
  return out;
}

OperationPtr follow_breaches(const View& view, const Intent& intent, const std::string& place,
                             const std::vector<Breach>& breaches, Instant since) {
  const Incident* known = nullptr;
  for (const auto& id : view.reg.incidents_on({})) {
    const Incident* open = view.reg.find(id);
    if (open && open->state == IncidentState::open && is_about(*open, place)) known = open;
  }
  if (breaches.empty()) {
    if (!known) return nullptr;
    return end_blamed(known->id, place + " shows each tenant by itself again");
  }
  if (!known && is_answered(view, place, since)) return nullptr;
  BlamedOrder order;
  order.blame = blame_of(view, place, breaches);
  order.fault = "isolation: seen joined with what is not its own";
  order.affected = nodes_at(view, intent, place, all_of(breaches));
  order.detected_at = known ? known->detected_at : view.now;
  return open_blamed(std::move(order));
}

}  // namespace tundish::control::network
