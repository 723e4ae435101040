#include "model/ops/drill_ops.hpp"

#include <algorithm>

#include "model/ops/incident_parts.hpp"

namespace tundish {
namespace {

constexpr std::string_view awaits = "; awaits ";
constexpr std::string_view by_check = "a check";
constexpr std::string_view of_device = " of ";
/// Between the clock of a node and ours.
constexpr Duration slack = seconds(2);

std::string text_of(const DrillMark& mark) {
  const std::string fault = mark.fault.empty() ? std::string(by_check) : mark.fault;
  const std::string device = mark.device.empty() ? "" : std::string(of_device) + mark.device;
  return mark.what + std::string(awaits) + fault + device;
}

DrillMark mark_of(const std::string& text) {
  DrillMark out;
  const auto end = text.rfind(awaits);
  out.what = text.substr(0, end);
  if (end == std::string::npos) return out;
  std::string rest = text.substr(end + awaits.size());
  if (const auto device = rest.rfind(of_device); device != std::string::npos) {
    out.device = rest.substr(device + of_device.size());
    rest.resize(device);
  }
  if (rest != by_check) out.fault = rest;
  return out;
}

/// Parts that drills of no GPU show themselves on, by kind. Of a kind that is not listed: any.
struct KindRow {
  std::string_view kind;
  std::vector<Resource> parts;
};
const KindRow kind_rows[] = {
    {"cpu_hog", {Resource::cpu, Resource::memory}},
    {"disk_error", {Resource::disk}},
    {"hung_task", {Resource::process, Resource::cpu, Resource::storage_client, Resource::disk}},
    {"ib_port_down", {Resource::link, Resource::nic, Resource::leaf}},
    {"leak", {Resource::cooling}},
    {"link_flap", {Resource::link, Resource::nic, Resource::leaf}},
    {"memory_error", {Resource::memory}},
    {"oom", {Resource::memory}},
    {"soft_lockup", {Resource::cpu}},
    {"storage_hang", {Resource::storage_server, Resource::storage_client}},
    {"storage_slow", {Resource::storage_server, Resource::storage_client}}};

bool is_of_gpu(Resource part) {
  switch (part) {
    case Resource::gpu:
    case Resource::gpu_memory:
    case Resource::nvlink:
    case Resource::nvswitch:
    case Resource::pcie:
    case Resource::thermal:
    case Resource::power: return true;
    default: return false;
  }
}

bool may_be(const std::string& a, const std::string& b) {
  return a.empty() || b.empty() || a == b;
}

bool shows_part(const DrillMark& mark, Resource part) {
  const std::string kind = mark.what.substr(0, mark.what.find(' '));
  for (const auto& row : kind_rows) {
    if (row.kind != kind) continue;
    return std::find(row.parts.begin(), row.parts.end(), part) != row.parts.end();
  }
  return (mark.fault.empty() && mark.device.empty()) || is_of_gpu(part);
}

bool shows(const DrillSeen& seen, const DrillMark& mark, Instant announced) {
  if (!seen.fault.empty()) return seen.fault == mark.fault && may_be(seen.device, mark.device);
  if (seen.at.is_set() && seen.at + slack < announced) return false;
  // A switch has an address of its own; a port or a disk has a name, whatever GPU the order names.
  const bool same = seen.part == Resource::nvswitch || !is_of_gpu(seen.part) ||
                    may_be(seen.device, mark.device);
  return same && shows_part(mark, seen.part);
}

OperationPtr change_marks(const char* name, NodeId id,
                          std::function<void(std::vector<Condition>&, Instant)> change) {
  return make_operation(name, "node/" + id.str(),
                        [id, change = std::move(change)](Txn& txn) -> Result<> {
                          Node node = TRY(get_object(txn, id));
                          const std::size_t before = node.status.conditions.size();
                          change(node.status.conditions, txn.now());
                          if (node.status.conditions.size() != before) txn.put(std::move(node));
                          return {};
                        });
}

bool is_marked(const Condition& condition, const std::string& text) {
  return condition.type == drill_condition && condition.reason == text;
}

}  // namespace

OperationPtr announce_drill(NodeId id, DrillMark mark) {
  return change_marks("announce_drill", id, [text = text_of(mark)](auto& conditions, Instant now) {
    const bool known = std::any_of(conditions.begin(), conditions.end(),
                                   [&](const auto& one) { return is_marked(one, text); });
    if (!known) conditions.push_back({std::string(drill_condition), Truth::yes, text, now});
  });
}

OperationPtr withdraw_drill(NodeId id, DrillMark mark) {
  return change_marks("withdraw_drill", id, [text = text_of(mark)](auto& conditions, Instant) {
    std::erase_if(conditions, [&](const auto& one) { return is_marked(one, text); });
  });
}

OperationPtr end_drills(NodeId id, Instant until) {
  return change_marks("end_drills", id, [until](auto& conditions, Instant) {
    std::erase_if(conditions, [&](const Condition& one) {
      return one.type == drill_condition && one.since <= until;
    });
  });
}

DrillSeen drill_seen(const Blame& blame, const std::string& device) {
  DrillSeen out;
  out.part = blame.part;
  out.device = device;
  for (const auto& line : blame.evidence) out.at = std::max(out.at, line.at);
  return out;
}

bool use_drill(Txn& txn, const NodeId& id, const DrillSeen& seen) {
  const Node* known = txn.view().find(id);
  if (!known) return false;
  const auto& marks = known->status.conditions;
  const auto used = std::find_if(marks.begin(), marks.end(), [&](const Condition& one) {
    return one.type == drill_condition && shows(seen, mark_of(one.reason), one.since);
  });
  if (used == marks.end()) return false;
  Node node = *known;
  node.status.conditions.erase(node.status.conditions.begin() + (used - marks.begin()));
  txn.put(std::move(node));
  return true;
}

void join_drill(Txn& txn, Incident& incident, const DrillSeen& seen, Provenance provenance) {
  if (use_drill(txn, incident.node, seen) || !incident.drill || seen.device.empty()) return;
  if (provenance == Provenance::userspace) return;
  const bool ordered = std::any_of(
      incident.witnesses.begin(), incident.witnesses.end(),
      [&](const Witness& witness) { return may_be(witness.event.device, seen.device); });
  if (ordered || may_be(incident.device, seen.device)) return;
  incident.drill = false;
  add_entry(incident, txn.now(), "no drill",
            seen.fault + " of " + seen.device + " was not ordered: it is real");
}

}  // namespace tundish
