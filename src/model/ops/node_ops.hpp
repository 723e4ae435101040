#pragma once
#include "model/ops/common.hpp"

namespace tundish {

/// Declares a node. Its BMC MAC must be new.
OperationPtr admit_node(std::string name, NodeSpec spec);
/// Replaces the declared fields; observed ones are never touched.
OperationPtr update_declared(NodeId node, NodeSpec spec);
OperationPtr put_rack(std::string name, RackSpec spec);
OperationPtr put_site(std::string name);
OperationPtr put_sku(std::string name, SkuSpec spec);
OperationPtr put_switch(std::string name, SwitchSpec spec);
OperationPtr put_cable(std::string name, CableSpec spec);

/// conflict when the node is no longer in `from`.
OperationPtr set_node_phase(NodeId node, NodePhase from, NodePhase to);
OperationPtr record_hardware(NodeId node, ObservedHardware hardware);
OperationPtr record_boot(NodeId node, std::string boot_id);
/// Stores verdicts; `revalidated` when every one that was asked for is ok.
OperationPtr record_check_run(NodeId node, std::vector<Verdict> verdicts, bool revalidated);
/// Adds or changes one condition; nothing is written when it is the same already.
OperationPtr set_condition(NodeId node, std::string type, Truth state, std::string reason);
/// A person confirms that the chassis under the same BMC was changed on purpose.
OperationPtr confirm_board(NodeId node);
/// Only a node without allocation; its record stays.
OperationPtr retire_node(NodeId node);
OperationPtr mark_enrolled(NodeId node);

const Condition* find_condition(const Node& node, std::string_view type);

}  // namespace tundish
