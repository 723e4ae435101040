// maintenance: windows in which people work; notice: who was told of what.
#include "model/maintenance.hpp"

#include <ostream>

#include "edge/api/contract.hpp"
#include "edge/cli/nouns.hpp"
#include "edge/cli/simple_kind.hpp"
#include "edge/cli/wait.hpp"
#include "edge/cli/when.hpp"
#include "model/notice.hpp"
#include "model/rma.hpp"

namespace tundish::edge::cli {
namespace {

const KindWords maintenance_words{"maintenances", "maintenance"};

std::string state_of(const Maintenance& window) {
  const bool overrun = window.overrun_since.is_set() && !is_over(window);
  return word(window.state) + (overrun ? ", OVERRUN" : "");
}

int count_nodes(const Maintenance& window, MaintenanceNodeState state) {
  int count = 0;
  for (const auto& one : window.nodes) count += one.state == state ? 1 : 0;
  return count;
}

Listing<Maintenance> maintenance_listing(const ApiClient&) {
  return {{"NAME", "SCOPE", "STATE", "BEGIN", "END", "NODES", "EMPTY", "REASON"},
          [](const Maintenance& window) -> Cells {
            return {name_of(window),
                    window.scope,
                    state_of(window),
                    render_local(window.begin),
                    render_local(window.end),
                    std::to_string(window.nodes.size()),
                    std::to_string(count_nodes(window, MaintenanceNodeState::empty)),
                    or_dash(window.reason)};
          }};
}

std::string render_window(const Maintenance& window, const Names& nodes) {
  std::string out = "maintenance " + name_of(window) + " on " + window.scope + ": " +
                    state_of(window) + "\n  reason   " + window.reason + "\n  window   " +
                    render_local(window.begin) + " to " + render_local(window.end) +
                    "\n  time     is " + word(window.owner) + "'s; an overrun is the provider's\n";
  if (window.overrun_since.is_set()) {
    out += "  overrun  since " + render_local(window.overrun_since) +
           (is_over(window) ? ""
                            : "; it goes on until somebody ends it: tundish maintenance end " +
                                  name_of(window)) +
           "\n";
  }
  if (window.ended_at.is_set()) {
    out += "  ended    " + render_local(window.ended_at) + " by " + window.ended_by + "\n";
  }
  for (const auto& incident : window.recorded) {
    out += "  recorded " + incident.str() + " (neither paged nor acted on)\n";
  }
  std::vector<Cells> rows;
  for (const auto& one : window.nodes) {
    const bool safe = one.state == MaintenanceNodeState::empty;
    rows.push_back({name_in(nodes, one.node.str()), word(one.state), render_local(one.since),
                    safe ? "people may work on it" : or_dash(one.reason)});
  }
  return out + render_table({"NODE", "STATE", "SINCE", "WHAT"}, rows);
}

struct WindowArgs {
  std::string name, begin = "now", end;
  Duration span;
  MaintenanceRequest request;
};

std::string made_line(const Maintenance& window, const Names& nodes) {
  std::string names;
  for (const auto& one : window.nodes) {
    names += (names.empty() ? "" : ", ") + name_in(nodes, one.node.str());
  }
  return "maintenance " + name_of(window) + " on " + window.scope + ": " +
         count_of(static_cast<int>(window.nodes.size()), "node") + ", " +
         render_local(window.begin) + " to " + render_local(window.end) +
         (names.empty() ? "" : "\n  nodes: " + names) + "\n";
}

/// The API makes the window and keeps nothing: which nodes it would cover is in its answer.
Result<int> rehearse_window(Context& context, const ApiChange& change) {
  const ApiClient client = TRY(context.connect());
  auto window = TRY(parse_object<Maintenance>(TRY(client.rehearse(change))));
  window.id = MaintenanceId("(not made)");
  window.meta.name.clear();
  context.note("dry run: would make " + made_line(window, load_names<Node>(client, "nodes")) +
               "  the API checked it and would do it; nothing was changed");
  return exit_done;
}

Result<int> create(Context& context, const WindowArgs& args) {
  MaintenanceRequest request = args.request;
  request.reason = context.settings().reason;
  if (request.reason.empty()) {
    return context.fail_flag("maintenance create: say why with --reason");
  }
  if (args.end.empty() == (args.span.us == 0)) {
    return context.fail_flag("maintenance create: give --for or --end, one of them");
  }
  const Instant now = clock_now();
  const Instant begin = TRY(parse_when(args.begin, now));
  request.end = args.end.empty() ? begin + args.span : TRY(parse_when(args.end, begin));
  if (args.begin != "now") request.begin = begin;  // else by the clock of tundishd
  const ApiChange change{"POST", api_path({"maintenances"}), render_json(request),
                         request.reason};
  if (context.settings().dry_run) return rehearse_window(context, change);
  return change_and_show<Maintenance>(context, change, [&](const Maintenance& window) {
    const auto client = context.connect();
    return made_line(window, client ? load_names<Node>(*client, "nodes") : Names{});
  });
}

Result<int> show(Context& context, const std::string& name) {
  const ApiClient client = TRY(context.connect());
  const auto body = TRY(client.get(api_path({"maintenances", name})));
  return show_object<Maintenance>(context, body, [&client](const Maintenance& window) {
    return render_window(window, load_names<Node>(client, "nodes"));
  });
}

Result<std::string> missing_end(const ApiClient& client, const std::string& name,
                                const Names& nodes) {
  const auto window = TRY(get_object<Maintenance>(client, api_path({"maintenances", name})));
  if (is_over(window)) return std::string();
  std::string text;
  for (const auto& one : window.nodes) {
    if (one.state == MaintenanceNodeState::proved) continue;
    text += (text.empty() ? "" : "; ") + name_in(nodes, one.node.str()) + " " + word(one.state) +
            (one.reason.empty() ? "" : " (" + one.reason + ")");
  }
  const int proved = count_nodes(window, MaintenanceNodeState::proved);
  return "the checks decide, " + std::to_string(proved) + " of " +
         count_of(static_cast<int>(window.nodes.size()), "node") + " proved: " + text;
}

/// A node whose checks failed did not come back: whoever waits for all of them is told.
Result<int> show_end(Context& context, const std::string& name) {
  TRY_VOID(show(context, name));
  const ApiClient client = TRY(context.connect());
  const auto window = TRY(get_object<Maintenance>(client, api_path({"maintenances", name})));
  return count_nodes(window, MaintenanceNodeState::faulty) == 0 ? exit_done : exit_refused;
}

Result<int> end(Context& context, const std::string& name) {
  ReasonRequest request;
  request.reason = context.settings().reason;
  const auto body =
      TRY(context.change({"POST", api_path({"maintenances", name, "end"}), render_json(request)}));
  if (!body) return exit_done;
  if (context.settings().wait) {
    const ApiClient client = TRY(context.connect());
    const Names nodes = load_names<Node>(client, "nodes");
    const int code =
        TRY(wait_until(context, {"maintenance " + name, "tundish maintenance show " + name},
                       [&] { return missing_end(client, name, nodes); }));
    return code == exit_done ? show_end(context, name) : Result<int>(code);
  }
  return show_object<Maintenance>(context, *body, [](const Maintenance& window) {
    const bool cancelled = window.state == MaintenanceState::cancelled;
    return "maintenance " + name_of(window) +
           (cancelled ? " cancelled\n"
                      : ": the checks decide now; see tundish maintenance show " + name_of(window) +
                            "\n");
  });
}

const KindWords notice_words{"notices", "notice"};

Listing<Notice> notice_listing(const ApiClient&) {
  return {{"NAME", "CLASS", "CHANNEL", "STATE", "OPENED", "TOLD", "SUMMARY", "RUNBOOK"},
          [](const Notice& notice) -> Cells {
            const std::string told =
                std::to_string(notice.told) +
                (notice.last_fault.empty() ? "" : ", last try failed: " + notice.last_fault);
            return {name_of(notice),
                    word(notice.notice_class),
                    word(notice.channel),
                    word(notice.state),
                    render_local(notice.opened_at),
                    notice.channel == NoticeChannel::log ? "-" : told,
                    notice.summary,
                    notice.runbook};
          }};
}

/// After the list: TOLD 0 everywhere has a reason.
Result<int> list_notices(Context& context) {
  const ApiClient client = TRY(context.connect());
  const auto items = TRY(client.list(api_path({notice_words.plural})));
  const int code = TRY(show_items<Notice>(context, items, notice_listing(client)));
  const auto status = get_object<StatusReport>(client, "/v1/status");
  for (const auto& line : status ? status->notices : std::vector<std::string>{}) {
    if (line.starts_with("nobody is told")) context.note(line);
  }
  return code;
}

Result<int> ack_notice(Context& context, const std::string& name) {
  ReasonRequest request;
  request.reason = context.settings().reason;
  return change_and_show<Notice>(
      context, {"POST", api_path({"notices", name, "ack"}), render_json(request)},
      [](const Notice& notice) {
        return "notice " + name_of(notice) + " acknowledged by " + notice.acknowledged_by + "\n";
      });
}

const KindWords rma_words{"rmas", "rma"};

Listing<Rma> rma_listing(const ApiClient&) {
  return {{"NAME", "NODE", "STATE", "SINCE", "FAULT", "SERIALS", "BUNDLE"},
          [](const Rma& rma) -> Cells {
            std::string serials;
            for (const auto& part : rma.parts) {
              serials += (serials.empty() ? "" : ", ") + part.what + " " + or_dash(part.serial);
            }
            return {name_of(rma),
                    rma.node_name,
                    word(rma.state),
                    render_local(rma.opened_at),
                    rma.fault,
                    serials,
                    or_dash(rma.bundle_sha256.substr(0, 12))};
          }};
}

}  // namespace

void add_maintenance(Command root, Context& context) {
  Command noun = root.noun("maintenance", "windows in which people work on nodes");
  const auto args = std::make_shared<WindowArgs>();
  Command make = noun.verb("create", "no pages, no acts and no spares used up in it (--reason R)");
  make.take({"--scope", "node:N, rack:R, switch:W or site:S", Need::required}, args->request.scope);
  make.take({"--begin", "now (the default), +2h, or local time \"2026-12-01 22:00\""}, args->begin);
  make.take({"--end", "when it should be over; as --begin, + counts from the begin"}, args->end);
  make.take({"--for", "how long, instead of --end"}, args->span);
  make.take(
      {"--owner", "whose time it is", Need::optional, {"provider", "tenant", "vendor", "nobody"}},
      args->request.owner);
  make.run([&context, args] { return create(context, *args); });
  add_list<Maintenance>(noun, context, maintenance_words, maintenance_listing);
  const OptionDoc which{"name", "name or id", Need::required};
  Command show_verb = noun.verb("show", "which nodes are empty, and what the others wait for");
  show_verb.take(which, args->name);
  show_verb.run([&context, args] { return show(context, args->name); });
  Command end_verb =
      noun.verb(
      "end",
      "the work is done: real checks give each node back (--wait until all are; 3: not all)");
  end_verb.take(which, args->name);
  end_verb.run([&context, args] { return end(context, args->name); });
}

void add_notice(Command root, Context& context) {
  Command noun = root.noun("notice", "pages, tickets and log: who was told of what");
  noun.verb("list", "list every notice").run([&context] { return list_notices(context); });
  add_show<Notice>(noun, context, notice_words);
  const auto name = std::make_shared<std::string>();
  Command ack = noun.verb("ack", "you look after it: no more pages; see also `incident ack`");
  ack.take({"name", "name or id", Need::required}, *name);
  ack.run([&context, name] { return ack_notice(context, *name); });
  Command rma = root.noun("rma", "what goes back to the vendor, with serials");
  add_list<Rma>(rma, context, rma_words, rma_listing);
  add_show<Rma>(rma, context, rma_words);
}

}  // namespace tundish::edge::cli
