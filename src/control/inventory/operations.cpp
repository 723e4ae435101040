#include "control/inventory/operations.hpp"

#include "model/ops/common.hpp"

namespace tundish::control::inventory {
namespace {

void rename_cables(Txn& txn, const Rename& rename) {
  std::vector<Cable> moved;
  for (const auto& [id, cable] : txn.view().all<Cable>()) {
    const auto& spec = cable.spec;
    if (spec.side_a_device == rename.from || spec.side_b_device == rename.from) {
      moved.push_back(cable);
    }
  }
  for (auto& cable : moved) {
    if (cable.spec.side_a_device == rename.from) cable.spec.side_a_device = rename.to;
    if (cable.spec.side_b_device == rename.from) cable.spec.side_b_device = rename.to;
    const std::string prefix = rename.from + ":";
    if (cable.meta.name.starts_with(prefix)) {
      cable.meta.name = rename.to + ":" + cable.meta.name.substr(prefix.size());
    }
    ++cable.meta.version;
    txn.put(std::move(cable));
  }
}

}  // namespace

OperationPtr rename_node(Rename rename) {
  const std::string object = "node/" + rename.node.str();
  return make_operation("rename_node", object, [rename = std::move(rename)](Txn& txn) -> Result<> {
    Node node = TRY(get_object(txn, rename.node));
    if (node.meta.name == rename.to) return {};
    if (!node.status.allocation.empty()) {
      return make_error(Code::conflict,
                        "node " + node.meta.name + " belongs to " + node.status.allocation.str());
    }
    TRY_VOID(require_new_name<Node>(txn, rename.to, {}));
    node.meta.name = rename.to;
    ++node.meta.version;
    txn.put(std::move(node));
    rename_cables(txn, rename);
    return {};
  });
}

OperationPtr remove_cable(Id<Cable> cable) {
  const std::string object = "cable/" + cable.str();
  return make_operation("remove_cable", object, [cable = std::move(cable)](Txn& txn) -> Result<> {
    txn.erase(cable);
    return {};
  });
}

}  // namespace tundish::control::inventory
