#pragma once
// Every noun of the command line adds itself to the tree.
#include "edge/cli/context.hpp"

namespace tundish::edge::cli {

void add_inventory(Command root, Context& context);
void add_node(Command root, Context& context);
void add_physical(Command root, Context& context);  ///< rack, site, switch, sku, cable
void add_tenancy(Command root, Context& context);   ///< tenant, user, quota
void add_access(Command root, Context& context);    ///< token, secret
void add_cluster(Command root, Context& context);   ///< cluster, allocation
void add_network(Command root, Context& context);
void add_fault(Command root, Context& context);
void add_check(Command root, Context& context);
void add_incident(Command root, Context& context);
void add_governance(Command root, Context& context);  ///< claim, proposal, hold, authority
void add_history(Command root, Context& context);
void add_overview(Command root, Context& context);  ///< status, capacity
void add_doctor(Command root, Context& context);
void add_context(Command root, Context& context);
void add_maintenance(Command root, Context& context);
void add_notice(Command root, Context& context);         ///< notice, rma
void add_node_report(Command noun, Context& context);    ///< verbs of the noun node
void add_shift(Command root, Context& context);
void add_drill(Command root, Context& context);
void add_policy(Command root, Context& context);

}  // namespace tundish::edge::cli
