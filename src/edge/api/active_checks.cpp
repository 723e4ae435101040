#include <algorithm>

#include "base/quote.hpp"
#include "base/text.hpp"
#include "control/node/tenant_checks.hpp"
#include "edge/api/active_runs.hpp"
#include "edge/api/handlers.hpp"
#include "model/ops/active_ops.hpp"

namespace tundish::edge::api {
namespace {

constexpr std::size_t most_runs = 64;
constexpr Duration light_limit = minutes(10);
constexpr Duration heavy_limit = hours(2);

/// A check that only two nodes can make is not asked of one.
bool needs_pair(const CheckInfo& check) {
  return std::find(check.needs.begin(), check.needs.end(), "pair") != check.needs.end();
}

const CheckInfo* find_info(const Backend& b, const std::string& name) {
  for (const auto& check : b.parts.checks) {
    if (check.name == name) return &check;
  }
  return nullptr;
}

Result<ActiveRunInfo> find_run(const Backend& b, const std::string& id) {
  if (const auto found = b.active_runs.find(id); found != b.active_runs.end()) {
    return *found->second;
  }
  for (const auto& run : b.parts.manager.runner().active_runs()) {
    if (run.key != id) continue;
    ActiveRunInfo out;
    out.id = id;
    const Node* node = b.reg().find(run.node);
    out.nodes = {node ? node->meta.name : run.node.str()};
    out.checks = run.checks;
    out.asked_by = run.asked_by;
    out.since = run.since;
    out.step = run.incident.empty() ? "the schedule" : "proves the repair of " + run.incident.str();
    return out;
  }
  return make_error(Code::not_found, "no active run has the id " + id)
      .with_remedy("list them: tundish check runs");
}

/// A free or claimed node, or an idle one of a tenant that allows it.
Result<> check_place(const control::View& view, const Node& node) {
  const std::string about = "node/" + node.meta.name;
  if (control::work_on(view, node)) {
    const std::string why = control::tenant_busy(view, node);
    if (why.empty()) return {};
    const Allocation* held = view.reg.find(node.status.allocation);
    if (why.ends_with(control::being_set_up)) {
      return make_error(Code::conflict, why).about(about).with_remedy("try again in some seconds");
    }
    return make_error(Code::denied, why + ": no active check runs on it")
        .about(about)
        .with_remedy("name an idle node; the tenant allows checks with: tundish cluster checks " +
                     (held ? held->meta.name : std::string("NAME")) + " --allow");
  }
  const std::string why = control::active_refusal(view, node);
  if (why.empty()) return {};
  return make_error(Code::denied, why + ": active checks run on free nodes only")
      .about(about)
      .with_remedy("drain it, or name a free node: tundish node list");
}

}  // namespace

Result<std::vector<CheckInfo>> choose_active(const Backend& b, const ActiveRunRequest& asked) {
  if (!asked.tier.empty() && asked.tier != "light" && asked.tier != "heavy") {
    return make_error(Code::invalid, "tier is light or heavy, not " + in_quotes(asked.tier));
  }
  std::vector<CheckInfo> out;
  for (const auto& name : asked.checks) {
    const CheckInfo* check = find_info(b, name);
    if (!check || check->kind != CheckKind::active) {
      return make_error(Code::not_found, "no active check is called " + shorten(name))
          .about("check/" + name)
          .with_remedy("list them: tundish check list --active");
    }
    out.push_back(*check);
  }
  if (!asked.checks.empty()) return out;
  const Tier tier = asked.tier == "heavy" ? Tier::heavy : Tier::light;
  for (const auto& check : b.parts.checks) {
    const bool fits = check.kind == CheckKind::active && check.tier == tier;
    if (fits && !needs_pair(check)) out.push_back(check);
  }
  if (out.empty()) return make_error(Code::unsupported, "no active check of that tier is known");
  return out;
}

Duration limit_of(const std::vector<CheckInfo>& checks) {
  const bool heavy = std::any_of(checks.begin(), checks.end(), [](const CheckInfo& check) {
    return check.tier == Tier::heavy;
  });
  return heavy ? heavy_limit : light_limit;
}

std::shared_ptr<ActiveRunInfo> keep_run(Backend& b, const Call& call,
                                        const std::vector<std::string>& nodes,
                                        const std::vector<std::string>& checks) {
  while (b.active_runs.size() >= most_runs) {
    const auto old = std::find_if(b.active_runs.begin(), b.active_runs.end(), [](const auto& run) {
      return run.second->ended_at.is_set();
    });
    if (old == b.active_runs.end()) break;
    b.active_runs.erase(old);
  }
  auto run = std::make_shared<ActiveRunInfo>();
  run->since = b.now();
  // A person's order is no repeat of the one before.
  std::int64_t number = b.now().us;
  while (b.active_runs.contains("run-" + std::to_string(number))) ++number;
  run->id = "run-" + std::to_string(number);
  run->nodes = nodes;
  run->checks = checks;
  run->asked_by = call.who.name;
  b.active_runs[run->id] = run;
  return run;
}

std::vector<Verdict> verdicts_of(const Result<VerbResult>& done,
                                 const std::vector<std::string>& checks, Instant now) {
  if (done && !done->verdicts.empty()) return done->verdicts;
  std::vector<Verdict> out;
  for (const auto& check : checks) {
    Verdict verdict;
    verdict.check = check;
    verdict.reason = "no answer: " + (done ? done->what : done.error().message());
    verdict.at = now;
    out.push_back(std::move(verdict));
  }
  return out;
}

Result<> make_room(Backend& b, const Call& call, const Node& node) {
  for (const auto& run : b.parts.manager.runner().active_runs()) {
    if (run.node != node.id) continue;
    const bool scheduled = run.asked_by.empty() && run.incident.empty();
    if (scheduled && call.is_dry_run()) continue;
    if (scheduled) {
      TRY_VOID(b.parts.manager.end_run(run.key, call.who.name + " asked for other checks"));
      continue;
    }
    const std::string whose = run.incident.empty() ? "run of " + run.asked_by
                                                   : "proof of a repair, " + run.incident.str();
    // Two at once would measure each other.
    return make_error(Code::conflict, "on " + node.meta.name + " a " + whose + " goes on: " +
                                          join(run.checks, ", "))
        .about("node/" + node.meta.name)
        .with_remedy("wait for it, or end it: tundish check stop " +
                     run.key.substr(0, run.key.find('/')));
  }
  return {};
}

std::string tell_next(const Backend& b, const NodeId& id, const std::vector<Verdict>& verdicts) {
  const bool failed = std::any_of(verdicts.begin(), verdicts.end(), [](const Verdict& verdict) {
    return verdict.state == VerdictState::fail;
  });
  const Node* node = b.reg().find(id);
  if (!failed || !node) return "";
  const auto incidents = b.reg().incidents_on(id);
  if (!incidents.empty()) {
    const std::string incident = incidents.begin()->str();
    return incident + " is open on " + node->meta.name +
           ": nobody is given it until a repair is proved; tundish incident show " + incident;
  }
  return "no incident is opened on " + node->meta.name +
         ": what failed may be another part's fault; compare nodes: tundish check pairs";
}

Result<Answer> list_active_runs(Backend& b, const Call&) {
  std::vector<ActiveRunInfo> runs;
  for (const auto& [id, run] : b.active_runs) runs.push_back(*run);
  for (const auto& run : b.parts.manager.runner().active_runs()) {
    if (run.asked_by.empty()) runs.push_back(TRY(find_run(b, run.key)));
  }
  std::vector<AnyDescribed> out;
  for (const auto& run : runs) out.push_back(describe_const(run));
  return Answer{200, render_json_list(out)};
}

Result<Answer> get_active_run(Backend& b, const Call& call) {
  return Answer{200, render_json(TRY(find_run(b, call.parts[0])))};
}

void stop_active_run(Backend& b, const Call& call, Respond respond) {
  const auto found = find_run(b, call.parts[0]);
  if (!found) return respond(found.error());
  if (!call.is_dry_run() && !found->ended_at.is_set()) {
    const std::string why = "stopped by " + call.who.name;
    for (const auto& run : b.parts.manager.runner().active_runs()) {
      // The runs of a pair carry the id of the whole as their beginning.
      if (run.key == found->id || run.key.starts_with(found->id + "/")) {
        (void)b.parts.manager.end_run(run.key, why);
      }
    }
  }
  const auto after = find_run(b, call.parts[0]);
  respond(Answer{200, render_json(after ? *after : *found)});
}

void post_active_run(Backend& b, const Call& call, Respond respond) {
  const auto asked = parse_body<ActiveRunRequest>(call);
  if (!asked) return respond(asked.error());
  const auto checks = choose_active(b, *asked);
  if (!checks) return respond(checks.error());
  const auto node = get_matching<Node>(b, call, asked->node);
  if (!node) return respond(node.error());
  control::ActiveWish wish;
  for (const auto& check : *checks) wish.checks.push_back(check.name);
  wish.limit = limit_of(*checks);
  wish.asked_by = call.who.name;
  const auto view = b.parts.manager.view();
  // First: the engine shows a run of ours as work of the node.
  if (const auto room = make_room(b, call, *node); !room) return respond(room.error());
  if (const auto place = check_place(view, *node); !place) return respond(place.error());
  if (call.is_dry_run()) return respond(Answer{200, render_json(ActiveRunInfo{})});
  const auto run = keep_run(b, call, {node->meta.name}, wish.checks);
  run->step = "runs";
  wish.key = run->id;
  const auto names = wish.checks;
  b.parts.manager.order(control::make_active(view, *node, std::move(wish)),
                        [&b, run, names, id = node->id](const Result<VerbResult>& done) {
                          run->verdicts = verdicts_of(done, names, b.now());
                          const std::string next = tell_next(b, id, run->verdicts);
                          if (!next.empty()) run->next = {next};
                          run->ended_at = b.now();
                          run->step = done ? done->what : done.error().message();
                        });
  respond(Answer{200, render_json(*run)});
}

}  // namespace tundish::edge::api
