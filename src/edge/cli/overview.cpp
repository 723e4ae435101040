// status, capacity: the site at a glance.
#include <ostream>

#include "edge/api/contract.hpp"
#include "edge/cli/nouns.hpp"
#include "edge/cli/simple_kind.hpp"

namespace tundish::edge::cli {
namespace {

std::string render_status(const StatusReport& status) {
  const auto count = [](int n) { return std::to_string(n); };
  std::string out = "site " + or_dash(status.site) + "   tundishd " + status.version +
                    "   revision " + std::to_string(status.revision) + ", epoch " +
                    std::to_string(status.epoch) + "\n";
  out +=
      render_table({"NODES", "READY", "ASSIGNED", "CLAIMED", "AGENTS HEARD"},
                   {{count(status.nodes), count(status.nodes_ready), count(status.nodes_assigned),
                     count(status.nodes_claimed), count(status.agents_heard)}});
  out += render_table({"CLUSTERS", "ACTIVE", "OPEN INCIDENTS", "PROPOSALS WAITING"},
                      {{count(status.clusters), count(status.clusters_active),
                        count(status.incidents_open), count(status.proposals_waiting)}});
  for (const auto& hold : status.holds) out += "hold    " + hold + "\n";
  for (const auto& notice : status.notices) out += "notice  " + notice + "\n";
  return out;
}

Result<int> show_status(Context& context) {
  const ApiClient client = TRY(context.connect());
  return show_object<StatusReport>(context, TRY(client.get("/v1/status")), render_status);
}

Result<int> show_capacity(Context& context) {
  const ApiClient client = TRY(context.connect());
  const auto items = TRY(client.list(api_path({"capacity"})));
  return show_items<CapacityRow>(
      context, items,
      {{"SKU", "NODES", "FREE", "ASSIGNED", "SPARES", "CLAIMED", "UNKNOWN", "LARGEST CLUSTER"},
       [](const CapacityRow& row) -> Cells {
         return {row.sku.empty() ? "(no SKU)" : row.sku,
                 std::to_string(row.nodes),
                 std::to_string(row.free),
                 std::to_string(row.assigned),
                 std::to_string(row.spares),
                 std::to_string(row.claimed),
                 std::to_string(row.unknown),
                 count_of(row.largest_gang, "node")};
       }});
}

}  // namespace

void add_overview(Command root, Context& context) {
  root.verb("status", "the site at a glance").run([&context] { return show_status(context); });
  root.verb("capacity", "what is free, and the largest cluster that fits").run([&context] {
    return show_capacity(context);
  });
}

}  // namespace tundish::edge::cli
