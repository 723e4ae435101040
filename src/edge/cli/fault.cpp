// fault: what can be injected, and doing it.
#include <algorithm>
#include <ostream>

#include "edge/api/contract.hpp"
#include "edge/cli/nouns.hpp"
#include "edge/cli/simple_kind.hpp"
#include "edge/cli/wait.hpp"
#include "model/incident.hpp"

namespace tundish::edge::cli {
namespace {

Result<int> list_kinds(Context& context) {
  const ApiClient client = TRY(context.connect());
  const auto items = TRY(client.list(api_path({"faults"})));
  return show_items<FaultKind>(
      context, items,
      {{"KIND", "WHAT", "DETECTION", "ACTION", "HERE"}, [](const FaultKind& kind) -> Cells {
         return {kind.name, kind.doc, or_dash(kind.expected_detection),
                 or_dash(kind.expected_action),
                 kind.unavailable.empty() ? "yes" : kind.unavailable};
       }});
}

/// Its own, one of a part of it, or one of what it shares with others.
bool is_about(const Incident& incident, const Node& node) {
  if (incident.node == node.id) return true;
  if (std::find(incident.affected.begin(), incident.affected.end(), node.id) !=
      incident.affected.end()) {
    return true;
  }
  const bool of_node = incident.subject_kind == SubjectKind::node;
  return of_node && !incident.subject.empty() && incident.subject == node.meta.name;
}

/// The incident that the injected fault opened, or that was open and took it in; "": none yet.
Result<std::string> find_incident(const ApiClient& client, const FaultAnswer& answer) {
  const auto node = TRY(get_object<Node>(client, api_path({"nodes", answer.node})));
  std::string taken;
  for (const auto& incident : TRY(get_objects<Incident>(client, api_path({"incidents"})))) {
    if (!is_about(incident, node)) continue;
    if (incident.opened_at >= answer.at) return name_of(incident);
    const bool joined =
        incident.state == IncidentState::open && incident.last_witness_at >= answer.at;
    if (joined) taken = name_of(incident) + ", there before it,";
  }
  return taken;
}

/// What broke, for kinds that leave no line: "disk_error of nvme0n1, for 10 min".
std::string words_of(const FaultRequest& request) {
  std::string out = request.kind;
  if (!request.part.empty()) {
    out += " of " + request.part;
  } else if (request.gpu > 0) {
    out += " of GPU " + std::to_string(request.gpu);
  }
  if (request.sticky) out += ", it survives reset and reboot";
  if (request.for_s > 0) out += ", for " + render_duration(seconds(request.for_s));
  return out + " (it leaves no line in the kernel log)";
}

/// Neither a kind nor a code: says what there is, when the API tells.
int refuse_nothing(Context& context) {
  std::string kinds;
  if (const auto client = context.connect()) {
    if (const auto known = get_objects<FaultKind>(*client, api_path({"faults"}))) {
      for (const auto& kind : *known) kinds += (kinds.empty() ? "" : ", ") + kind.name;
    }
  }
  return context.fail_flag("fault inject: say what to inject: --xid CODE, or --kind KIND" +
                           (kinds.empty() ? std::string() : "\n  kinds: " + kinds) +
                           "\n  remedy: see `tundish fault kinds`; for example --xid 79 --gpu 0");
}

Result<int> inject(Context& context, const FaultRequest& request) {
  // Kind xid is what is left when nothing was said.
  if (request.kind == "xid" && request.xid == 0 && request.text.empty()) {
    return refuse_nothing(context);
  }
  const auto body = TRY(context.change({"POST", api_path({"faults"}), render_json(request)}));
  if (!body) return exit_done;
  const auto answer = TRY(parse_object<FaultAnswer>(*body));
  const int code = TRY(show_object<FaultAnswer>(context, *body, [&](const FaultAnswer& told) {
    return render_local(told.at) + "  " + told.node + "  " +
           (told.line.empty() ? words_of(request) : told.line) + "\n";
  }));
  if (!context.settings().wait) return code;
  const ApiClient client = TRY(context.connect());
  std::string incident;
  const auto missing = [&]() -> Result<std::string> {
    incident = TRY(find_incident(client, answer));
    return incident.empty() ? "no incident on node " + answer.node + " yet" : std::string();
  };
  const int waited =
      TRY(wait_until(context, {"fault on node " + answer.node, "tundish incident list"}, missing));
  if (waited == exit_done) context.note("incident " + incident + " is open");
  return waited;
}

}  // namespace

void add_fault(Command root, Context& context) {
  Command noun = root.noun("fault", "drills: faults injected on purpose");
  noun.verb("kinds", "what can be injected").run([&context] { return list_kinds(context); });
  const auto request = std::make_shared<FaultRequest>();
  Command verb = noun.verb("inject", "make a node fail; --wait until an incident is open");
  verb.take({"--kind", "see `tundish fault kinds`"}, request->kind);
  verb.take({"--node", "name or id", Need::required}, request->node);
  verb.take({"--xid", "code, for kind xid"}, request->xid);
  verb.take({"--gpu", "NVML index"}, request->gpu);
  verb.take({"--sticky", "it survives reset and reboot"}, request->sticky);
  verb.take({"--userspace", "as a rater writes it: a line from user space, no hardware fails"},
            request->userspace);
  verb.take({"--part", "HCA, interface or storage server; without it the first one"},
            request->part);
  const auto lasts = std::make_shared<Duration>();
  verb.take({"--for", "how long it lasts, for kinds that end by themselves"}, *lasts);
  verb.take({"--copies", "lines of a storm"}, request->copies);
  verb.take({"--text", "own kernel line instead of the usual one"}, request->text);
  verb.run([&context, request, lasts] {
    request->for_s = static_cast<int>(lasts->s());
    return inject(context, *request);
  });
}

}  // namespace tundish::edge::cli
