// cluster checks: what the tenant says to active checks on its idle members, and what they found.
#include "edge/cli/cluster_checks.hpp"

#include "edge/api/contract.hpp"
#include "edge/cli/simple_kind.hpp"

namespace tundish::edge::cli {
namespace {

struct ChecksArgs {
  std::string name;
  bool allow = false;
  bool deny = false;
};

/// One result on one member.
struct Found {
  std::string node;
  Verdict verdict;
  void fields(Fields& f) {
    f(1, "node", node, "name of the member");
    f(2, "verdict", verdict, "what the check found last");
  }
};

std::string consent_line(const Cluster& cluster) {
  const std::string state = cluster.spec.allow_checks ? "allowed" : "not allowed";
  std::string out = "active checks on cluster " + name_of(cluster) + ": " + state;
  if (cluster.status.checks_by.empty()) return out;
  return out + " by " + cluster.status.checks_by + " at " +
         render_local(cluster.status.checks_at);
}

Result<int> say(Context& context, const ChecksArgs& args) {
  const ChecksConsentRequest request{args.allow ? "allow" : "deny"};
  const auto body = TRY(
      context.change({"POST", api_path({"clusters", args.name, "checks"}), render_json(request)}));
  if (!body) return exit_done;
  return show_object<Cluster>(context, *body,
                              [](const Cluster& cluster) { return consent_line(cluster) + "\n"; });
}

Result<int> show_found(Context& context, const std::string& name) {
  const ApiClient client = TRY(context.connect());
  const auto cluster = TRY(get_object<Cluster>(client, api_path({"clusters", name})));
  context.note(consent_line(cluster));
  std::vector<std::string> items;
  for (const auto& node : TRY(get_objects<Node>(client, api_path({"nodes"})))) {
    if (node.status.allocation != cluster.status.allocation) continue;
    for (const auto& verdict : node.status.active_verdicts) {
      // Older ones are of the time before it served this tenant.
      if (verdict.at < node.status.phase_since) continue;
      items.push_back(render_json(Found{name_of(node), verdict}));
    }
  }
  return show_items<Found>(
      context, items,
      {{"NODE", "CHECK", "STATE", "DEVICE", "AT"}, [](const Found& found) -> Cells {
         const auto state = static_cast<std::size_t>(found.verdict.state);
         return {found.node, found.verdict.check,
                 std::string(enum_names(found.verdict.state)[state]), or_dash(found.verdict.device),
                 render_local(found.verdict.at)};
       }});
}

}  // namespace

void add_cluster_checks(Command noun, Context& context) {
  const auto args = std::make_shared<ChecksArgs>();
  Command verb = noun.verb(
      "checks", "active checks on its idle members: allow, deny, or see what they found");
  verb.take({"name", "name or id", Need::required}, args->name);
  verb.take({"--allow", "they may run, as work of the engine that gives way at once"},
            args->allow);
  verb.take({"--deny", "none may run; one that runs is ended"}, args->deny);
  verb.run([&context, args]() -> Result<int> {
    if (args->allow && args->deny) {
      return context.fail_flag("cluster checks: give --allow or --deny");
    }
    if (args->allow || args->deny) return say(context, *args);
    return show_found(context, args->name);
  });
}

}  // namespace tundish::edge::cli
