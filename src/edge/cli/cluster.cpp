// cluster and allocation.
#include <ostream>

#include "edge/api/contract.hpp"
#include "edge/cli/cluster_checks.hpp"
#include "edge/cli/cluster_exec.hpp"
#include "edge/cli/nouns.hpp"
#include "edge/cli/simple_kind.hpp"
#include "edge/cli/wait.hpp"

namespace tundish::edge::cli {
namespace {

const KindWords cluster_words{"clusters", "cluster"};
constexpr const char* ssh_from_anywhere = "tcp/22@0.0.0.0/0";

struct CreateArgs {
  ClusterRequest request;
  bool no_login = false;
};

struct ScaleArgs {
  std::string name;
  int nodes = -1, spares = -1;
};

std::string state_line(const Cluster& cluster) {
  const std::string reason = cluster.status.reason;
  return "cluster " + name_of(cluster) + " " + word(cluster.status.phase) +
         (reason.empty() ? "" : ": " + reason);
}

/// With a gateway that lets nobody in there is a login node, and no way to it.
bool lets_people_in(const Cluster& cluster) {
  const bool is_shut = !cluster.status.access_address.empty() && cluster.spec.access.empty();
  return !cluster.status.login_address.empty() && !is_shut;
}

std::string created_line(const Cluster& cluster) {
  std::string out = state_line(cluster) + "\n";
  if (!cluster.status.login_address.empty() && !lets_people_in(cluster)) {
    out += "nobody may log in; ssh from anywhere again: tundish cluster firewall " +
           name_of(cluster) + " --allow-in " + ssh_from_anywhere + "\n";
  }
  if (lets_people_in(cluster)) {
    out += "log in: tundish cluster exec " + name_of(cluster) + " --user USER\n";
  }
  return out;
}

/// Active, with as many serving members as are wanted now, and nobody on the way out.
Result<std::string> missing_to_active(const ApiClient& client, const std::string& id) {
  const auto cluster = TRY(get_object<Cluster>(client, api_path({"clusters", id})));
  if (cluster.status.phase != ClusterPhase::active) return state_line(cluster);
  const std::string name = name_of(cluster), held = cluster.status.allocation.str();
  if (held.empty()) return "cluster " + name + " has no nodes yet";
  const auto allocation = TRY(get_object<Allocation>(client, api_path({"allocations", held})));
  int members = 0, leaving = 0;
  for (const auto& node : allocation.status.nodes) {
    members += node.role == MemberRole::member && node.joined ? 1 : 0;
    // One that an incident took out leaves when its jobs let it: nobody ordered that.
    leaving += node.role == MemberRole::leaving && node.cause.empty() ? 1 : 0;
  }
  if (leaving > 0) return "cluster " + name + ": " + count_of(leaving, "node") + " still leaving";
  if (members == cluster.spec.nodes) return std::string();
  return "cluster " + name + " has " + std::to_string(members) + " of " +
         count_of(cluster.spec.nodes, "node");
}

/// Waits when that was asked for, then shows the cluster as it is. By id: clusters of two tenants
/// may have the same name.
Result<int> settle(Context& context, const std::string& body) {
  if (!context.settings().wait) return show_object<Cluster>(context, body, created_line);
  const auto ordered = TRY(parse_object<Cluster>(body));
  const std::string id = ordered.id.str();
  const ApiClient client = TRY(context.connect());
  const std::string name = name_of(ordered);
  const int code = TRY(wait_until(context, {"cluster " + name, "tundish cluster show " + name},
                                  [&] { return missing_to_active(client, id); }));
  if (code != exit_done) return code;
  return show_object<Cluster>(context, TRY(client.get(api_path({"clusters", id}))), created_line);
}

/// Orders, and with --wait orders again while the nodes are on their way, as after an import.
Result<int> create(Context& context, CreateArgs args) {
  args.request.login = !args.no_login;
  Result<std::optional<std::string>> body = std::optional<std::string>();
  const auto order = [&]() -> Result<std::string> {
    body = context.change({"POST", api_path({"clusters"}), render_json(args.request)});
    const bool later = !body && body.error().code == Code::exhausted && body.error().retry_after;
    return later ? body.error().what : std::string();
  };
  if (context.settings().wait && !context.settings().dry_run) {
    const int code = TRY(
        wait_until(context, {"cluster " + args.request.name, "tundish node list"}, order));
    if (code != exit_done) return code;
  } else {
    (void)order();
  }
  const auto made = TRY(std::move(body));
  return made ? settle(context, *made) : Result<int>(exit_done);
}

Result<int> scale(Context& context, const ScaleArgs& args) {
  if (args.nodes < 0 && args.spares < 0) {
    return context.fail_flag("cluster scale: give --nodes, --spares or both");
  }
  const ApiClient client = TRY(context.connect());
  const auto cluster = TRY(get_object<Cluster>(client, api_path({"clusters", args.name})));
  const ScaleRequest request{args.nodes < 0 ? cluster.spec.nodes : args.nodes,
                             args.spares < 0 ? cluster.spec.spares : args.spares};
  if (request.nodes < cluster.spec.nodes &&
      !context.confirm("This takes " + count_of(cluster.spec.nodes - request.nodes, "node") +
                       " from cluster " + args.name + "; jobs there end")) {
    return exit_declined;
  }
  const auto body = TRY(
      context.change({"POST", api_path({"clusters", args.name, "scale"}), render_json(request)}));
  return body ? settle(context, *body) : Result<int>(exit_done);
}

struct RulesArgs {
  std::string name;
  std::vector<std::string> firewall, access;
  bool no_firewall = false;
  bool no_access = false;
};

Result<int> change_rules(Context& context, const RulesArgs& args) {
  const bool sends = !args.firewall.empty() || args.no_firewall;
  const bool comes = !args.access.empty() || args.no_access;
  if (!sends && !comes) {
    return context.fail_flag(
        "cluster firewall: give --firewall, --allow-in, --no-firewall or --no-allow-in");
  }
  if ((args.no_firewall && !args.firewall.empty()) || (args.no_access && !args.access.empty())) {
    return context.fail_flag("cluster firewall: a list is either given or emptied");
  }
  const ApiClient client = TRY(context.connect());
  const auto cluster = TRY(get_object<Cluster>(client, api_path({"clusters", args.name})));
  const FirewallRequest request{sends ? args.firewall : cluster.spec.firewall,
                                comes ? args.access : cluster.spec.access};
  const auto body = TRY(context.change(
      {"POST", api_path({"clusters", args.name, "firewall"}), render_json(request)}));
  return body ? settle(context, *body) : Result<int>(exit_done);
}

Result<std::string> missing_to_gone(const ApiClient& client, const std::string& id) {
  const auto cluster = get_object<Cluster>(client, api_path({"clusters", id}));
  if (cluster) return state_line(*cluster);
  if (cluster.error().code == Code::not_found) return std::string();
  return cluster.error();
}

Result<int> remove(Context& context, const std::string& name) {
  const ApiClient client = TRY(context.connect());
  const auto cluster = TRY(get_object<Cluster>(client, api_path({"clusters", name})));
  if (!context.confirm("This deletes cluster " + name + ": " +
                       count_of(cluster.spec.nodes, "node") + " and " +
                       count_of(cluster.spec.spares, "spare") +
                       " are given back, its jobs end, and local disks are wiped")) {
    return exit_declined;
  }
  const auto body = TRY(context.change({"DELETE", api_path({"clusters", name}), ""}));
  if (!body) return exit_done;
  if (context.settings().wait) {
    // By id: another cluster may take the name meanwhile.
    const int code = TRY(wait_until(context, {"cluster " + name, "tundish cluster show " + name},
                                    [&] { return missing_to_gone(client, cluster.id.str()); }));
    if (code != exit_done) return code;
  }
  return show_object<Cluster>(context, *body, [&](const Cluster&) {
    return "cluster " + name + (context.settings().wait ? " is gone\n" : " is being deleted\n");
  });
}

Listing<Cluster> cluster_listing(const ApiClient& client) {
  const Names tenants = load_names<Tenant>(client, "tenants");
  return {{"NAME", "TENANT", "ENGINE", "NODES", "SPARES", "PHASE", "SINCE", "REASON"},
          [tenants](const Cluster& cluster) -> Cells {
            return {name_of(cluster),
                    name_in(tenants, cluster.meta.tenant.str()),
                    cluster.spec.engine,
                    std::to_string(cluster.spec.nodes),
                    std::to_string(cluster.spec.spares),
                    word(cluster.status.phase),
                    render_local(cluster.status.phase_since),
                    or_dash(cluster.status.reason)};
          }};
}

Listing<Allocation> allocation_listing(const ApiClient& client) {
  const Names clusters = load_names<Cluster>(client, "clusters");
  return {{"NAME", "CLUSTER", "MEMBERS", "SPARES", "PHASE", "SHORT SINCE", "REASON"},
          [clusters](const Allocation& allocation) -> Cells {
            int members = 0, spares = 0;
            for (const auto& node : allocation.status.nodes) {
              members += node.role == MemberRole::member ? 1 : 0;
              spares += node.role == MemberRole::spare ? 1 : 0;
            }
            const auto of = [](int have, int want) {
              return std::to_string(have) + "/" + std::to_string(want);
            };
            return {name_of(allocation),
                    name_in(clusters, allocation.cluster.str()),
                    of(members, allocation.spec.nodes),
                    of(spares, allocation.spec.spares),
                    word(allocation.status.phase),
                    render_local(allocation.status.short_since),
                    or_dash(allocation.status.reason)};
          }};
}

void add_create(Command noun, Context& context) {
  const auto args = std::make_shared<CreateArgs>();
  ClusterRequest& request = args->request;
  const std::vector<std::string> consent = {"auto", "ask", "never"};
  Command verb = noun.verb("create", "order a cluster; --wait until it is active");
  verb.take({"name", "name of the cluster", Need::required}, request.name);
  verb.take({"--tenant", "name or id; a tenant's own token need not say it"}, request.tenant);
  verb.take({"--engine", "what runs on it", Need::optional, {"slurm"}}, request.engine);
  verb.take({"--nodes", "members", Need::required}, request.nodes);
  verb.take({"--spares", "hot spares, outside quota and bill"}, request.spares);
  verb.take({"--sku", "kind of node; empty: the only GPU kind there is"}, request.sku);
  verb.take({"--requeue", "may a job that lost its GPU be requeued", Need::optional, consent},
            request.requeue);
  verb.take({"--replace", "may a broken member be replaced", Need::optional, consent},
            request.replace);
  verb.take({"--no-login", "without a login node"}, args->no_login);
  verb.take({"--prefix", "IPv4 prefix of its network, for example 10.10.0.0/24; empty: drawn"},
            request.prefix);
  verb.take({"--firewall",
             "one rule of what its nodes may send out of their network, for example "
             "\"permit tcp/443@203.0.113.0/24\"; again for the next rule, in order; "
             "all else is dropped"},
            request.firewall);
  verb.take({"--allow-in",
             "who may come in to the login node by the gateway, for example "
             "tcp/22@203.0.113.0/24; again for more; none: ssh from anywhere"},
            request.access);
  verb.take({"--allow-checks",
             "active checks may run on idle members; they give way at once, cost nothing"},
            request.allow_checks);
  verb.run([&context, args] { return create(context, *args); });
}

void add_changes(Command noun, Context& context) {
  const auto args = std::make_shared<ScaleArgs>();
  Command scale_verb = noun.verb("scale", "change the number of members or spares");
  scale_verb.take({"name", "name or id", Need::required}, args->name);
  scale_verb.take({"--nodes", "members wanted"}, args->nodes);
  scale_verb.take({"--spares", "spares wanted"}, args->spares);
  scale_verb.run([&context, args] { return scale(context, *args); });
  const auto rules = std::make_shared<RulesArgs>();
  Command rules_verb =
      noun.verb("firewall", "replace its rules: what its nodes may send, who comes in");
  rules_verb.take({"name", "name or id", Need::required}, rules->name);
  rules_verb.take({"--firewall", "one rule, again for the next, as in cluster create"},
                  rules->firewall);
  rules_verb.take({"--allow-in",
                   std::string("who may come in, again for more, as in cluster create; ssh from "
                               "anywhere again: ") +
                       ssh_from_anywhere},
                  rules->access);
  rules_verb.take({"--no-firewall", "nothing leaves its network but to the storage"},
                  rules->no_firewall);
  rules_verb.take({"--no-allow-in", "nobody comes in by the gateway: no cluster exec either"},
                  rules->no_access);
  rules_verb.run([&context, rules] { return change_rules(context, *rules); });
  Command delete_verb = noun.verb("delete", "end a cluster and give its nodes back");
  delete_verb.take({"name", "name or id", Need::required}, args->name);
  delete_verb.run([&context, args] { return remove(context, args->name); });
}

}  // namespace

void add_cluster(Command root, Context& context) {
  Command noun = root.noun("cluster", "an engine on nodes of one tenant");
  add_create(noun, context);
  add_list<Cluster>(noun, context, cluster_words, cluster_listing);
  add_show<Cluster>(noun, context, cluster_words);
  add_changes(noun, context);
  add_cluster_checks(noun, context);
  add_cluster_exec(noun, context);
  Command allocation = root.noun("allocation", "nodes that a cluster holds");
  const KindWords words{"allocations", "allocation"};
  add_list<Allocation>(allocation, context, words, allocation_listing);
  add_show<Allocation>(allocation, context, words);
}

}  // namespace tundish::edge::cli
