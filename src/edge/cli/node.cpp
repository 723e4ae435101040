// node: what each one is, why it is out of service, and what people may do with it.
#include <ostream>

#include "base/text.hpp"
#include "edge/api/contract.hpp"
#include "edge/cli/nouns.hpp"
#include "edge/cli/simple_kind.hpp"
#include "edge/cli/wait.hpp"
#include "model/incident.hpp"

namespace tundish::edge::cli {
namespace {

/// When its agent was heard: silence is unknown, never a fault.
std::string heard(const Node& node) {
  for (const auto& condition : node.status.conditions) {
    if (condition.type != "agent_silent") continue;
    if (condition.state == Truth::yes) return condition.reason;
    return condition.state == Truth::no ? "yes" : "unknown";
  }
  if (!node.status.enrolled) return "never";
  return node.status.boot_id.empty() ? "unknown" : "yes";
}

struct NodeNames {
  std::map<NodeId, std::vector<std::string>> claims;
  std::map<AllocationId, std::string> users;
};

NodeNames load_node_names(const ApiClient& client) {
  NodeNames names;
  if (const auto claims = get_objects<Claim>(client, api_path({"claims"}))) {
    for (const auto& claim : *claims) {
      if (claim.state == ClaimState::active) names.claims[claim.node].push_back(claim.holder);
    }
  }
  const Names clusters = load_names<Cluster>(client, "clusters");
  if (const auto allocations = get_objects<Allocation>(client, api_path({"allocations"}))) {
    for (const auto& allocation : *allocations) {
      const auto cluster = clusters.find(allocation.cluster.str());
      names.users[allocation.id] =
          cluster == clusters.end() ? name_of(allocation) : cluster->second;
    }
  }
  return names;
}

/// A tenant sees no claims, only that there is one.
std::string provider_claim(const Node& node) {
  for (const auto& condition : node.status.conditions) {
    if (condition.type == "out_of_service" && condition.state == Truth::yes) return "provider";
  }
  return "-";
}

Listing<Node> node_listing(const ApiClient& client) {
  const NodeNames names = load_node_names(client);
  Listing<Node> listing;
  listing.header = {"NAME", "ROLE", "RACK", "PHASE", "CLAIMS", "ALLOCATION", "HEARD"};
  listing.row = [names](const Node& node) -> Cells {
    const auto claims = names.claims.find(node.id);
    const auto user = names.users.find(node.status.allocation);
    return {name_of(node),
            word(node.spec.role),
            or_dash(node.spec.rack),
            word(node.status.phase),
            claims == names.claims.end() ? provider_claim(node) : join(claims->second, ","),
            user == names.users.end() ? or_dash(node.status.allocation.str()) : user->second,
            heard(node)};
  };
  return listing;
}

std::string render_explanation(const Explanation& told) {
  std::string out = "node " + told.node + ": " + told.phase + "\n";
  const auto line = [&out](const std::string& what, const std::string& text) {
    if (!text.empty()) out += "  " + what + std::string(14 - what.size(), ' ') + text + "\n";
  };
  line("placeable", told.placeable);
  line("why", told.why);
  for (const auto& claim : told.claims) {
    if (told.why.find(claim) == std::string::npos) line("claim", claim);
  }
  for (const auto& one : told.shows) line("shows", one);
  line("next", told.next);
  for (const auto& one : told.you_can) line("you can", one);
  line("how to stop", told.how_to_stop);
  for (const auto& one : told.past) line("had", one);
  return with_local_times(out);
}

Result<int> explain(Context& context, const std::string& name) {
  const ApiClient client = TRY(context.connect());
  const auto body = TRY(client.get(api_path({"nodes", name, "explain"})));
  return show_object<Explanation>(context, body, render_explanation);
}

enum class Until { now, free, in_service };

struct NodeVerb {
  std::string name, doc, done;
  Until until = Until::now;
  std::string lost = {};  ///< asks first when not empty
};

/// What is still missing until the verb has had its effect; empty when nothing.
Result<std::string> missing(const ApiClient& client, const std::string& name, Until until) {
  const auto node = TRY(get_object<Node>(client, api_path({"nodes", name})));
  if (until == Until::free) {
    return node.status.allocation.empty()
               ? ""
               : "node " + name + " is " + word(node.status.phase) + " and still in its allocation";
  }
  for (const auto& claim : TRY(get_objects<Claim>(client, api_path({"claims"})))) {
    if (claim.node == node.id && claim.state == ClaimState::active) {
      return "node " + name + " is claimed by " + claim.holder + ": " + claim.reason;
    }
  }
  return std::string();
}

Result<int> act_on_node(Context& context, const NodeVerb& verb, const std::string& name) {
  if (!verb.lost.empty() &&
      !context.confirm("This will " + verb.name + " node " + name + ": " + verb.lost)) {
    return exit_declined;
  }
  ReasonRequest request;
  request.reason = context.settings().reason;
  const auto body =
      TRY(context.change({"POST", api_path({"nodes", name, verb.name}), render_json(request)}));
  if (!body) return exit_done;
  if (context.settings().wait && verb.until != Until::now) {
    const ApiClient client = TRY(context.connect());
    const int code = TRY(wait_until(context, {"node " + name, "tundish node explain " + name},
                                    [&] { return missing(client, name, verb.until); }));
    if (code != exit_done) return code;
  }
  return show_object<Node>(context, *body, [&verb](const Node& node) {
    return "node " + name_of(node) + " " + verb.done + "\n";
  });
}

}  // namespace

void add_node(Command root, Context& context) {
  Command noun = root.noun("node", "GPU nodes and service nodes");
  const KindWords words{"nodes", "node"};
  add_list<Node>(noun, context, words, node_listing);
  add_show<Node>(noun, context, words);
  const auto name = std::make_shared<std::string>();
  const OptionDoc which{"name", "name or id", Need::required};
  Command explain_verb = noun.verb("explain", "why it is as it is, what follows, how to stop it");
  explain_verb.take(which, *name);
  explain_verb.run([&context, name] { return explain(context, *name); });
  add_node_report(noun, context);
  const std::vector<NodeVerb> verbs = {
      {"drain", "take it out of service once its work is done", "is being drained", Until::free},
      {"return", "release your drain; it is proved before it is used", "returns",
       Until::in_service},
      {"replace", "let a spare or a free node take its place", "is being replaced", Until::free},
      {"confirm", "accept changed hardware or a mended cable, after a board swap for example",
       "confirmed"},
      {"retire", "take it out of the inventory for good", "retired", Until::now,
       "it is never handed out again, and its agent loses its identity"}};
  for (const auto& verb : verbs) {
    Command command = noun.verb(verb.name, verb.doc);
    command.take(which, *name);
    command.run([&context, verb, name] { return act_on_node(context, verb, *name); });
  }
}

}  // namespace tundish::edge::cli
