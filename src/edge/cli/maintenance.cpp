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
  return change_and_show<Maintenance>(
      context, {"POST", api_path({"maintenances"}), render_json(request)},
      [](const Maintenance& window) {
        return "maintenance " + name_of(window) + " on " + window.scope + ": " +
               count_of(static_cast<int>(window.nodes.size()), "node") + ", " +
               render_local(window.begin) + " to " + render_local(window.end) + "\n";
      });
}

Result<int> show(Context& context, const std::string& name) {
  const ApiClient client = TRY(context.connect());
  const auto body = TRY(client.get(api_path({"maintenances", name})));
  return show_object<Maintenance>(context, body, [&client](const Maintenance& window) {
    return render_window(window, load_names<Node>(client, "nodes"));
  });
}

Result<std::string> missing_end(const ApiClient& client, const std::string& name) {
  const auto window = TRY(get_object<Maintenance>(client, api_path({"maintenances", name})));
  if (is_over(window)) return std::string();
  std::string text = "the checks decide: ";
  for (const auto& one : window.nodes) {
    if (one.state == MaintenanceNodeState::proved) continue;
    text += one.node.str() + " " + word(one.state) +
            (one.reason.empty() ? "" : " (" + one.reason + ")") + " ";
  }
  return text;
}

Result<int> end(Context& context, const std::string& name) {
  ReasonRequest request;
  request.reason = context.settings().reason;
  const auto body =
      TRY(context.change({"POST", api_path({"maintenances", name, "end"}), render_json(request)}));
  if (!body) return exit_done;
  if (context.settings().wait) {
    const ApiClient client = TRY(context.connect());
    const int code =
        TRY(wait_until(context, {"maintenance " + name, "tundish maintenance show " + name},
                       [&] { return missing_end(client, name); }));
    if (code != exit_done) return code;
    return show(context, name);
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
      noun.verb("end", "the work is done: real checks give each node back (--wait until all are)");
  end_verb.take(which, args->name);
  end_verb.run([&context, args] { return end(context, args->name); });
}

void add_notice(Command root, Context& context) {
  Command noun = root.noun("notice", "pages, tickets and log: who was told of what");
  add_list<Notice>(noun, context, notice_words, notice_listing);
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
