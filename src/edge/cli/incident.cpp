// incident: list, show, watch, and what people do with one.
#include <ostream>

#include "edge/api/contract.hpp"
#include "edge/cli/blame_text.hpp"
#include "edge/cli/evidence.hpp"
#include "edge/cli/incident_text.hpp"
#include "edge/cli/interrupt.hpp"
#include "edge/cli/nouns.hpp"

namespace tundish::edge::cli {
namespace {

const KindWords incident_words{"incidents", "incident"};

IncidentNames load_incident_names(const ApiClient& client) {
  IncidentNames names;
  names.nodes = load_names<Node>(client, "nodes");
  const Names clusters = load_names<Cluster>(client, "clusters");
  if (const auto allocations = get_objects<Allocation>(client, api_path({"allocations"}))) {
    for (const auto& allocation : *allocations) {
      names.clusters_by_allocation[allocation.id.str()] =
          name_in(clusters, allocation.cluster.str());
    }
  }
  return names;
}

Listing<Incident> incident_listing(const ApiClient& client) {
  const Names nodes = load_names<Node>(client, "nodes");
  return {{"NAME", "NODE", "FAULT", "STATE", "STEP", "DETECTED", "WAITS FOR"},
          [nodes](const Incident& incident) -> Cells {
            const std::string named = incident.node_name.empty()
                                          ? name_in(nodes, incident.node.str())
                                          : incident.node_name;
            return {name_of(incident),
                    incident.node.empty() ? render_subject(incident) : named,
                    incident.fault + (incident.drill ? " (drill)" : ""),
                    word(incident.state),
                    or_dash(incident.policy_state),
                    render_local(incident.detected_at),
                    or_dash(render_waiting(incident))};
          }};
}

Result<int> show(Context& context, const std::string& name) {
  const ApiClient client = TRY(context.connect());
  const auto body = TRY(client.get(api_path({"incidents", name})));
  return show_object<Incident>(context, body, [&client](const Incident& incident) {
    return render_incident(incident, load_incident_names(client));
  });
}

/// Prints changes; a node that is not known yet is looked up again.
class Watcher {
 public:
  Watcher(Context& context, const ApiClient& client)
      : context_(context), client_(client), names_(load_incident_names(client)) {}

  bool take(const WatchEvent* event) {
    if (interruptible_.pause({})) return false;
    if (!event) return true;
    revision_ = std::max(revision_, event->revision);
    if (event->kind == Incident::kind && !event->object.empty()) print(event->object);
    return true;
  }
  bool is_ended(Duration pause) { return interruptible_.pause(pause); }
  std::string path() const {
    return revision_ == 0 ? "/v1/watch" : "/v1/watch?since=" + std::to_string(revision_);
  }
  void forget() { revision_ = 0; }

 private:
  void print(const std::string& object) {
    if (context_.form() == OutputForm::json) {
      context_.out() << object << "\n" << std::flush;
      return;
    }
    const auto incident = parse_object<Incident>(object);
    if (!incident) return;
    if (!names_.nodes.contains(incident->node.str())) names_ = load_incident_names(client_);
    context_.out() << render_local_clock(last_moment(*incident)) << "  "
                   << render_incident_line(*incident, names_) << "\n"
                   << std::flush;
  }
  static Instant last_moment(const Incident& incident) {
    if (incident.timeline.empty()) return incident.opened_at;
    const TimelineEntry& last = incident.timeline.back();
    return last.until.is_set() ? last.until : last.at;
  }

  Context& context_;
  const ApiClient& client_;
  IncidentNames names_;
  Interruptible interruptible_;
  std::int64_t revision_ = 0;
};

/// Until Ctrl-C. A restarted tundishd ends the stream, not the watch.
Result<int> watch(Context& context) {
  const ApiClient client = TRY(context.connect());
  TRY_VOID(client.get("/v1/status"));  // says now whether the token may
  Watcher watcher(context, client);
  context.note("watching incidents; Ctrl-C ends it");
  while (true) {
    const auto ended =
        client.watch(watcher.path(), [&](const WatchEvent* event) { return watcher.take(event); });
    if (!ended && ended.error().code == Code::denied) return ended.error();
    if (!ended) {
      context.note("the stream broke: " + ended.error().what + "; asking again");
      watcher.forget();  // its revision may be from before a restart
    }
    if (watcher.is_ended(seconds(ended ? 0 : 1))) return exit_declined;
  }
}

struct IncidentVerb {
  std::string name, doc, done;
};

Result<int> act(Context& context, const IncidentVerb& verb, const std::string& name) {
  if (verb.name == "note" && context.settings().reason.empty()) {
    return context.fail_flag("incident note: give the text with --reason");
  }
  ReasonRequest request;
  request.reason = context.settings().reason;
  return change_and_show<Incident>(
      context, {"POST", api_path({"incidents", name, verb.name}), render_json(request)},
      [&verb](const Incident& incident) {
        return "incident " + name_of(incident) + " " + verb.done + "\n";
      });
}

}  // namespace

void add_incident(Command root, Context& context) {
  Command noun = root.noun("incident", "faults, from the first witness to the return of the node");
  add_list<Incident>(noun, context, incident_words, incident_listing);
  const auto name = std::make_shared<std::string>();
  const OptionDoc which{"name", "name or id", Need::required};
  Command show_verb = noun.verb("show", "one incident with every step and its time");
  show_verb.take(which, *name);
  const auto bundle = std::make_shared<std::string>();
  show_verb.take({"--bundle", "write the evidence for a vendor to this file, serials and all"},
                 *bundle);
  show_verb.run([&context, name, bundle] {
    return bundle->empty() ? show(context, *name) : save_bundle(context, {*name, *bundle});
  });
  noun.verb("watch", "print changes as they come").run([&context] { return watch(context); });
  const std::vector<IncidentVerb> verbs = {
      {"ack", "say that you saw it", "acknowledged"},
      {"note", "add a note (--reason TEXT)", "has your note"},
      {"hold", "stop automatic steps on it", "is on hold"},
      {"resume", "let automatic steps go on", "goes on"},
      {"close", "end one that waits; its claims are released", "closed"}};
  for (const auto& verb : verbs) {
    Command command = noun.verb(verb.name, verb.doc);
    command.take(which, *name);
    command.run([&context, verb, name] { return act(context, verb, *name); });
  }
}

}  // namespace tundish::edge::cli
