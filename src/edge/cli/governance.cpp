// claim, proposal, hold, authority: who may do what, and what waits for a person.
#include "model/governance.hpp"

#include <chrono>
#include <ostream>

#include "edge/api/contract.hpp"
#include "edge/cli/nouns.hpp"
#include "edge/cli/simple_kind.hpp"
#include "model/incident.hpp"

namespace tundish::edge::cli {
namespace {

const OptionDoc scope_doc{
    "--scope",
    "* for everything, site:S, rack:R, tenant:T, cluster:C, switch:W, fabric:F or node:N"};

Listing<Claim> claim_listing(const ApiClient& client) {
  const Names nodes = load_names<Node>(client, "nodes");
  return {{"NAME", "NODE", "HOLDER", "STATE", "SINCE", "UNTIL", "REASON"},
          [nodes](const Claim& claim) -> Cells {
            return {
                name_of(claim),       name_in(nodes, claim.node.str()), claim.holder,
                word(claim.state),    render_local(claim.since),        render_local(claim.until),
                or_dash(claim.reason)};
          }};
}

struct ReleaseArgs {
  std::string name;
  bool force = false;
};

Result<int> release_claim(Context& context, const ReleaseArgs& args) {
  const ReasonRequest request{context.settings().reason, args.force};
  return change_and_show<Claim>(
      context, {"POST", api_path({"claims", args.name, "release"}), render_json(request)},
      [](const Claim& claim) {
        return "claim " + name_of(claim) + " " + word(claim.state) + "\n";
      });
}

void add_claim(Command root, Context& context) {
  Command noun = root.noun("claim", "why nodes are out of service");
  const KindWords words{"claims", "claim"};
  add_list<Claim>(noun, context, words, claim_listing);
  add_show<Claim>(noun, context, words);
  const auto args = std::make_shared<ReleaseArgs>();
  Command verb = noun.verb("release", "end a claim");
  verb.take({"name", "name or id", Need::required}, args->name);
  verb.take({"--force", "although another holds it; kept in the history with --reason"},
            args->force);
  verb.run([&context, args]() -> Result<int> {
    if (args->force && context.settings().reason.empty()) {
      return context.fail_flag("claim release --force: say why with --reason");
    }
    return release_claim(context, *args);
  });
}

Result<int> decide(Context& context, const std::string& name, const std::string& verb) {
  ReasonRequest request;
  request.reason = context.settings().reason;
  return change_and_show<Proposal>(
      context, {"POST", api_path({"proposals", name, verb}), render_json(request)},
      [](const Proposal& proposal) {
        return "proposal " + name_of(proposal) + " " + word(proposal.state) + ": " +
               proposal.action + " " + proposal.object + "\n";
      });
}

void add_proposal(Command root, Context& context) {
  Command noun = root.noun("proposal", "acts that wait for a person");
  const KindWords words{"proposals", "proposal"};
  add_list_and_show<Proposal>(noun, context, words,
                              {{"NAME", "ACTION", "OBJECT", "STATE", "EXPIRES", "REASON"},
                               [](const Proposal& proposal) -> Cells {
                                 return {name_of(proposal),
                                         proposal.action,
                                         proposal.object,
                                         word(proposal.state),
                                         render_local(proposal.expires_at),
                                         or_dash(proposal.reason)};
                               }});
  const auto name = std::make_shared<std::string>();
  const auto add = [&](const std::string& verb, const std::string& doc) {
    Command command = noun.verb(verb, doc);
    command.take({"name", "name or id", Need::required}, *name);
    command.run([&context, name, verb] { return decide(context, *name, verb); });
  };
  add("approve", "let it happen; covers every act of its group");
  add("deny", "do not let it happen");
}

struct HoldArgs {
  std::string scope = "*", name;
  Duration span;
};

std::string hold_line(const Hold& hold) {
  return "hold " + name_of(hold) + " on " + hold.scope +
         (hold.until.is_set() ? " until " + render_local(hold.until) : " until it is released") +
         "\n";
}

/// By the API's clock where it tells one: it is the one that lets a hold run out.
Listing<Hold> hold_listing(const ApiClient& client) {
  const auto here = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::system_clock::now().time_since_epoch());
  Instant now{here.count()};
  if (const auto contact = client.contact("/healthz")) now = contact->sent_at.value_or(now);
  return {{"NAME", "SCOPE", "STATE", "UNTIL", "REASON"}, [now](const Hold& hold) -> Cells {
            const bool is_over = hold.until.is_set() && hold.until <= now;
            const std::string until = hold.until.is_set() ? render_local(hold.until) : "released";
            return {name_of(hold), hold.scope, is_over ? "expired" : "in force", until,
                    or_dash(hold.reason)};
          }};
}

Result<int> set_hold(Context& context, const HoldArgs& args) {
  if (context.settings().reason.empty()) {
    return context.fail_flag("hold set: say why with --reason");
  }
  const HoldRequest request{args.scope, context.settings().reason, args.span.s()};
  return change_and_show<Hold>(context, {"POST", api_path({"holds"}), render_json(request)},
                               hold_line);
}

/// By name, id, or, as people think of it, by scope.
Result<int> release_hold(Context& context, const HoldArgs& args) {
  const ApiClient client = TRY(context.connect());
  std::vector<std::string> ids;
  const std::string wanted = args.name.empty() ? args.scope : args.name;
  for (const auto& hold : TRY(get_objects<Hold>(client, api_path({"holds"})))) {
    const bool is_named = hold.meta.name == wanted || hold.id.str() == wanted;
    if (is_named || hold.scope == wanted) ids.push_back(hold.id.str());
  }
  if (ids.empty()) {
    return make_error(Code::not_found, "no hold on " + wanted)
        .about("hold/" + wanted)
        .with_remedy("see `tundish hold list`");
  }
  for (const auto& id : ids) {
    const auto done = TRY(context.change({"DELETE", api_path({"holds", id}), ""}));
    if (done && context.form() == OutputForm::table) {
      context.out() << "hold " << id << " released; everything is decided anew\n";
    }
  }
  return exit_done;
}

void add_hold(Command root, Context& context) {
  Command noun = root.noun("hold", "stops automatic actions; people's commands still work");
  const KindWords words{"holds", "hold"};
  add_list<Hold>(noun, context, words, hold_listing);
  add_show<Hold>(noun, context, words);
  const auto args = std::make_shared<HoldArgs>();
  Command set = noun.verb("set", "stop automatic actions in a scope (--reason R)");
  set.take(scope_doc, args->scope);
  set.take({"--for", "for how long, for example 2h; without it until released"}, args->span);
  set.run([&context, args] { return set_hold(context, *args); });
  Command release = noun.verb("release", "let automatic actions go on");
  release.take({"name", "name, id or scope of the hold; without it see --scope"}, args->name);
  release.take(scope_doc, args->scope);
  release.run([&context, args] { return release_hold(context, *args); });
}

Result<int> set_authority(Context& context, const AuthorityRequest& request) {
  return change_and_show<Authority>(
      context, {"PUT", api_path({"authorities"}), render_json(request)},
      [](const Authority& authority) {
        return authority.scope + " " + authority.action_class + ": " + word(authority.level) + "\n";
      });
}

void add_authority(Command root, Context& context) {
  Command noun = root.noun("authority", "how far automatic actions may go");
  const KindWords words{"authorities", "authority"};
  add_list_and_show<Authority>(
      noun, context, words,
      {{"SCOPE", "CLASS", "LEVEL"}, [](const Authority& authority) -> Cells {
         return {authority.scope, authority.action_class, word(authority.level)};
       }});
  const auto request = std::make_shared<AuthorityRequest>();
  Command set = noun.verb("set", "set the level of a scope");
  set.take({"--scope", scope_doc.doc, Need::required}, request->scope);
  set.take({"--level",
            "observe: only look; advise: propose; act",
            Need::required,
            {"observe", "advise", "act"}},
           request->level);
  std::string classes;
  for (const auto name : enum_names(ActionClass{})) classes += ", " + std::string(name);
  set.take({"--class", "class of action, without it all: *" + classes}, request->action_class);
  set.run([&context, request] { return set_authority(context, *request); });
}

}  // namespace

void add_governance(Command root, Context& context) {
  add_claim(root, context);
  add_proposal(root, context);
  add_hold(root, context);
  add_authority(root, context);
}

}  // namespace tundish::edge::cli
