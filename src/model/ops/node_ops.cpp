#include "model/ops/node_ops.hpp"

#include <algorithm>

#include "model/ops/incident_parts.hpp"

namespace tundish {
namespace {

std::string about(const NodeId& node) { return "node/" + node.str(); }

/// Put by name: the same object when it exists.
template <class T, class Spec>
OperationPtr put_named(std::string_view operation, std::string name, Spec spec) {
  const std::string object = std::string(T::kind) + "/" + name;
  return make_operation(operation, object,
                        [name = std::move(name), spec = std::move(spec)](Txn& txn) -> Result<> {
                          T object_value;
                          if (const T* found = txn.view().find_named<T>(name)) {
                            object_value = *found;
                            ++object_value.meta.version;
                          } else {
                            object_value.id = txn.make_id<T>();
                            object_value.meta.name = name;
                          }
                          object_value.spec = spec;
                          txn.put(std::move(object_value));
                          return {};
                        });
}

bool serves(const Node& node) {
  const NodePhase phase = node.status.phase;
  return phase == NodePhase::ready || phase == NodePhase::reserved ||
         phase == NodePhase::provisioning || phase == NodePhase::assigned;
}

}  // namespace

OperationPtr admit_node(std::string name, NodeSpec spec) {
  const std::string object = "node/" + name;
  return make_operation(
      "admit_node", object, [name = std::move(name), spec = std::move(spec)](Txn& txn) -> Result<> {
        TRY_VOID(require_new_name<Node>(txn, name, {}));
        for (const auto& [id, other] : txn.view().all<Node>()) {
          if (!spec.bmc_mac.empty() && other.spec.bmc_mac == spec.bmc_mac) {
            return make_error(Code::conflict,
                              "BMC MAC " + spec.bmc_mac + " belongs to node " + other.meta.name);
          }
        }
        Node node;
        node.id = txn.make_id<Node>();
        node.meta.name = name;
        node.spec = spec;
        node.status.phase_since = txn.now();
        txn.put(std::move(node));
        return {};
      });
}

OperationPtr update_declared(NodeId id, NodeSpec spec) {
  return make_operation("update_declared", about(id),
                        [id, spec = std::move(spec)](Txn& txn) -> Result<> {
                          Node node = TRY(get_object(txn, id));
                          node.spec = spec;
                          ++node.meta.version;
                          txn.put(std::move(node));
                          return {};
                        });
}

OperationPtr put_rack(std::string name, RackSpec spec) {
  return put_named<Rack>("put_rack", std::move(name), std::move(spec));
}
OperationPtr put_sku(std::string name, SkuSpec spec) {
  return put_named<Sku>("put_sku", std::move(name), std::move(spec));
}
OperationPtr put_switch(std::string name, SwitchSpec spec) {
  return put_named<Switch>("put_switch", std::move(name), std::move(spec));
}
OperationPtr put_cable(std::string name, CableSpec spec) {
  return put_named<Cable>("put_cable", std::move(name), std::move(spec));
}

OperationPtr put_site(std::string name) {
  const std::string object = "site/" + name;
  return make_operation("put_site", object, [name = std::move(name)](Txn& txn) -> Result<> {
    if (txn.view().find_named<Site>(name)) return {};
    Site site;
    site.id = txn.make_id<Site>();
    site.meta.name = name;
    txn.put(std::move(site));
    return {};
  });
}

OperationPtr set_node_phase(NodeId id, NodePhase from, NodePhase to) {
  return make_operation("set_node_phase", about(id), [=](Txn& txn) -> Result<> {
    Node node = TRY(get_object(txn, id));
    if (node.status.phase == to) return {};
    if (node.status.phase != from) {
      return make_error(Code::conflict,
                        "node " + node.meta.name + " left phase " +
                            std::string(enum_names(from)[static_cast<std::size_t>(from)]));
    }
    node.status.phase = to;
    node.status.phase_since = txn.now();
    node.status.attempts = 0;
    txn.put(std::move(node));
    return {};
  });
}

OperationPtr record_hardware(NodeId id, ObservedHardware hardware) {
  return make_operation("record_hardware", about(id),
                        [id, hardware = std::move(hardware)](Txn& txn) -> Result<> {
                          Node node = TRY(get_object(txn, id));
                          // Before the new one takes its place: a first look decides it.
                          std::string& accepted = node.status.accepted_serial;
                          if (accepted.empty()) accepted = node.status.hardware.serial;
                          if (accepted.empty()) accepted = hardware.serial;
                          node.status.hardware = hardware;
                          node.status.hardware.at = txn.now();
                          txn.put(std::move(node));
                          return {};
                        });
}

OperationPtr record_boot(NodeId id, std::string boot_id) {
  return make_operation("record_boot", about(id),
                        [id, boot_id = std::move(boot_id)](Txn& txn) -> Result<> {
                          Node node = TRY(get_object(txn, id));
                          if (node.status.boot_id == boot_id) return {};
                          node.status.boot_id = boot_id;
                          txn.put(std::move(node));
                          return {};
                        });
}

void mark_proved(Node& node) {
  std::erase_if(node.status.conditions,
                [](const Condition& condition) { return condition.type == "checks_failed"; });
  if (node.status.accepted_gpus.empty()) node.status.accepted_gpus = node.status.hardware.gpus;
}

OperationPtr record_check_run(NodeId id, std::vector<Verdict> verdicts, bool revalidated) {
  return make_operation("record_check_run", about(id),
                        [id, verdicts = std::move(verdicts), revalidated](Txn& txn) -> Result<> {
                          Node node = TRY(get_object(txn, id));
                          node.status.check_run = verdicts;
                          ++node.status.attempts;
                          if (revalidated) {
                            node.status.revalidated_at = txn.now();
                            mark_proved(node);
                          }
                          txn.put(std::move(node));
                          return {};
                        });
}

const Condition* find_condition(const Node& node, std::string_view type) {
  for (const auto& condition : node.status.conditions) {
    if (condition.type == type) return &condition;
  }
  return nullptr;
}

OperationPtr set_condition(NodeId id, std::string type, Truth state, std::string reason) {
  return make_operation(
      "set_condition", about(id),
      [id, type = std::move(type), state, reason = std::move(reason)](Txn& txn) -> Result<> {
        Node node = TRY(get_object(txn, id));
        const Condition* known = find_condition(node, type);
        if (!known && state == Truth::no) return {};
        if (known && known->state == state && known->reason == reason) return {};
        std::erase_if(node.status.conditions, [&](const Condition& c) { return c.type == type; });
        if (state != Truth::no) {
          node.status.conditions.push_back({type, state, reason, txn.now()});
        }
        txn.put(std::move(node));
        return {};
      });
}

OperationPtr confirm_board(NodeId id) {
  return make_operation("confirm_board", about(id), [id](Txn& txn) -> Result<> {
    Node node = TRY(get_object(txn, id));
    if (!find_condition(node, "board_swap")) {
      return make_error(Code::conflict, "node " + node.meta.name + " waits for no confirmation");
    }
    node.spec.serial = node.status.hardware.serial;
    node.status.accepted_serial = node.status.hardware.serial;
    // A swapped board brings its own. A node that serves is proved no more before it is given away,
    // so those that are there now are on record from here on.
    node.status.accepted_gpus.clear();
    if (serves(node)) node.status.accepted_gpus = node.status.hardware.gpus;
    ++node.meta.version;
    std::erase_if(node.status.conditions,
                  [](const Condition& c) { return c.type == "board_swap" || c.type == "drift"; });
    txn.put(std::move(node));
    return {};
  });
}

OperationPtr retire_node(NodeId id) {
  return make_operation("retire_node", about(id), [id](Txn& txn) -> Result<> {
    Node node = TRY(get_object(txn, id));
    if (!node.status.allocation.empty()) {
      return make_error(Code::conflict,
                        "node " + node.meta.name + " belongs to " + node.status.allocation.str())
          .with_remedy("replace it first: tundish node replace " + node.meta.name);
    }
    node.status.phase = NodePhase::retired;
    node.status.phase_since = txn.now();
    txn.put(std::move(node));
    return {};
  });
}

OperationPtr mark_enrolled(NodeId id) {
  return make_operation("mark_enrolled", about(id), [id](Txn& txn) -> Result<> {
    Node node = TRY(get_object(txn, id));
    if (node.status.enrolled) return {};
    node.status.enrolled = true;
    txn.put(std::move(node));
    return {};
  });
}

}  // namespace tundish
