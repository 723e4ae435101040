#include "model/ops/rma_ops.hpp"

#include "model/ops/incident_ops.hpp"
#include "model/pci_address.hpp"

namespace tundish {
namespace {

std::string about(const IncidentId& id) { return "incident/" + id.str(); }

const ObservedGpu* find_gpu(const Node& node, const std::string& pci) {
  // As on record: a GPU that fell off the bus is not in what is seen now.
  for (const auto* known : {&node.status.accepted_gpus, &node.status.hardware.gpus}) {
    for (const auto& gpu : *known) {
      if (!pci.empty() && gpu.pci == pci) return &gpu;
    }
  }
  return nullptr;
}

/// What the incident's device is: a detector of leaks or a disk has a device as well.
std::string kind_of(const Incident& incident) {
  if (normalise_pci(incident.device)) return "gpu";
  if (!incident.blamed || incident.blamed->part == Resource::unknown) return "part";
  return std::string(enum_names(Resource{})[static_cast<std::size_t>(incident.blamed->part)]);
}

}  // namespace

std::vector<RmaPart> parts_of(const Incident& incident, const Node& node) {
  std::vector<RmaPart> parts;
  if (const ObservedGpu* gpu = find_gpu(node, incident.device)) {
    parts.push_back({"gpu", gpu->serial, gpu->uuid, gpu->model, gpu->pci});
  } else if (!incident.device.empty()) {
    parts.push_back({kind_of(incident), "", "", "", incident.device});
  }
  parts.push_back({"chassis", node.spec.serial, "", node.spec.sku,
                   node.spec.rack + " position " + std::to_string(node.spec.position)});
  return parts;
}

std::string vendor_text(const Incident& incident, const Node& node) {
  const auto serial_of = [](const RmaPart& part) {
    return part.serial.empty() ? std::string("unknown") : part.serial;
  };
  const auto parts = parts_of(incident, node);
  const RmaPart& chassis = parts.back();
  if (parts.size() == 1) return "part of chassis serial " + serial_of(chassis);
  const RmaPart& part = parts.front();
  const bool gpu = part.what == "gpu";
  return (gpu ? "GPU" : part.what) + " " + part.place + " of serial " + serial_of(part) +
         " (chassis serial " + serial_of(chassis) + ")";
}

const Rma* find_rma(const Registry& view, const IncidentId& incident) {
  for (const auto& [id, rma] : view.all<Rma>()) {
    if (rma.incident == incident) return &rma;
  }
  return nullptr;
}

const Incident* find_at_vendor(const Registry& view, const NodeId& node) {
  for (const auto& id : view.claims_on(node)) {
    const Claim* claim = view.find(id);
    const Incident* incident = claim ? view.find(claim->incident) : nullptr;
    if (incident && incident->state == IncidentState::rma) return incident;
  }
  return nullptr;
}

OperationPtr record_rma(IncidentId incident_id) {
  return make_operation("record_rma", about(incident_id), [=](Txn& txn) -> Result<> {
    if (find_rma(txn.view(), incident_id)) return {};
    const Incident incident = TRY(get_object(txn, incident_id));
    const Node node = TRY(get_object(txn, incident.node));
    Rma rma;
    rma.id = txn.make_id<Rma>();
    rma.meta.name = rma.id.str();
    rma.incident = incident_id;
    rma.node = node.id;
    rma.node_name = node.meta.name;
    rma.fault = incident.fault;
    rma.parts = parts_of(incident, node);
    rma.opened_at = txn.now();
    txn.put(std::move(rma));
    return {};
  });
}

OperationPtr close_rma(IncidentId incident) {
  return make_operation("close_rma", about(incident), [=](Txn& txn) -> Result<> {
    const Rma* known = find_rma(txn.view(), incident);
    if (!known || known->state == RmaState::closed) return {};
    Rma rma = *known;
    rma.state = RmaState::closed;
    rma.closed_at = txn.now();
    txn.put(std::move(rma));
    return {};
  });
}

OperationPtr record_bundle(IncidentId incident, std::string sha256) {
  return make_operation("export_bundle", about(incident), [=](Txn& txn) -> Result<> {
    const std::string what = "sha256 " + sha256 + " by " + txn.actor();
    TRY_VOID(note_incident(incident, "evidence bundle", what)->perform(txn));
    const Rma* known = find_rma(txn.view(), incident);
    if (!known) return {};
    Rma rma = *known;
    rma.bundle_sha256 = sha256;
    rma.bundle_at = txn.now();
    txn.put(std::move(rma));
    return {};
  });
}

}  // namespace tundish
