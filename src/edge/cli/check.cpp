// check: what there is, from where its limits come, and running it now.
#include <chrono>
#include <map>
#include <ostream>

#include "base/quote.hpp"
#include "codec/kernel_log/catalogue.hpp"
#include "codec/kernel_log/catalogue_diff.hpp"
#include "codec/limits_lint.hpp"
#include "edge/cli/catalogue_files.hpp"
#include "edge/cli/check_active.hpp"
#include "edge/cli/nouns.hpp"
#include "edge/cli/progress.hpp"
#include "edge/cli/simple_kind.hpp"
#include "model/incident.hpp"

namespace tundish::edge::cli {
namespace {

template <class E>
std::string word(E value) {
  return std::string(enum_names(E{})[static_cast<std::size_t>(value)]);
}

std::string limit_text(const Limit& limit) {
  std::string out = limit.name + " " + word(limit.side) + " " + std::to_string(limit.value) + " " +
                    word(limit.unit) + ": " + word(limit.verdict);
  if (!limit.gpu_model.empty()) out += ", " + limit.gpu_model;
  if (!limit.since_driver.empty()) out += ", driver from " + limit.since_driver;
  if (!limit.until_driver.empty()) out += ", driver until " + limit.until_driver;
  return out;
}

Result<int> list_checks(Context& context, CheckListing which) {
  const ApiClient client = TRY(context.connect());
  auto items = TRY(client.list(api_path({"checks"})));
  if (which == CheckListing::active) return list_active(context, items);
  return show_items<CheckInfo>(context, items,
                               {{"CHECK", "KIND", "WATCHES", "EVERY", "LIMITS", "WHAT"},
                                [](const CheckInfo& check) -> Cells {
                                  return {check.name,
                                          word(check.kind),
                                          word(check.watches),
                                          render_duration(check.every),
                                          std::to_string(check.limits.size()),
                                          check.doc};
                                }});
}

std::string check_text(const CheckInfo& check) {
  std::string out = check.name + ": " + check.doc + "\n";
  const bool active = check.kind == CheckKind::active;
  out += "  kind      " + word(check.kind) + (active ? ", " + word(check.tier) : "") + ", " +
         word(check.locality) + "\n";
  out += "  watches   " + word(check.watches) + "\n";
  out += "  every     " + (active ? "as the loaded policy says" : render_duration(check.every));
  if (check.looks > 1) out += ", told after " + std::to_string(check.looks) + " bad looks in a row";
  out += "\n  gates     ";
  out += std::string(check.gates ? "a node that fails it does not serve" : "no") + "\n";
  out += "  cost      " + check.cost + "\n  source    " + check.source + "\n";
  for (const auto& limit : check.limits) {
    out += "  limit     " + limit_text(limit) + "\n            from " + limit.source + "\n";
    if (!limit.why.empty()) out += "            " + limit.why + "\n";
  }
  return out;
}

Result<int> show_check(Context& context, const std::string& name) {
  const ApiClient client = TRY(context.connect());
  for (const auto& item : TRY(client.list(api_path({"checks"})))) {
    const auto check = TRY(parse_object<CheckInfo>(item));
    if (check.name == name) return show_object<CheckInfo>(context, item, check_text);
  }
  return make_error(Code::not_found, "no check is called " + shorten(name))
      .about("check/" + shorten(name))
      .with_remedy("list them: tundish check list");
}

}  // namespace

int code_of(const std::vector<Verdict>& verdicts) {
  bool unknown = verdicts.empty();
  for (const auto& verdict : verdicts) {
    if (verdict.state == VerdictState::fail) return exit_refused;
    unknown = unknown || verdict.state == VerdictState::unknown;
  }
  return unknown ? exit_unknown : exit_done;
}

std::string verdict_table(const std::vector<Verdict>& verdicts) {
  std::vector<std::vector<std::string>> rows;
  std::size_t widths[3] = {5, 5, 6};
  for (const auto& verdict : verdicts) {
    std::string name = verdict.check;
    if (!verdict.source.empty()) name += "(" + verdict.source + ")";
    rows.push_back(
        {name, word(verdict.state), or_dash(verdict.device), verdict.reason, verdict.evidence});
    for (std::size_t i = 0; i < 3; ++i) widths[i] = std::max(widths[i], rows.back()[i].size());
  }
  std::string out;
  rows.insert(rows.begin(), {"CHECK", "SAYS", "DEVICE", "WHY", ""});
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < 3; ++i) {
      out += row[i] + std::string(widths[i] - row[i].size() + 2, ' ');
    }
    // Where nothing was measured the evidence only says the reason again.
    const bool again = row[3].find(row[4]) != std::string::npos;
    out += row[3] + (again ? "" : " (" + row[4] + ")") + "\n";
  }
  return out;
}

std::string verdict_sum(const std::vector<Verdict>& verdicts) {
  std::map<VerdictState, int> counts;
  for (const auto& verdict : verdicts) ++counts[verdict.state];
  std::string out;
  for (const auto state :
       {VerdictState::fail, VerdictState::unknown, VerdictState::warn, VerdictState::ok}) {
    if (counts[state] == 0) continue;
    out += (out.empty() ? "" : ", ") + std::to_string(counts[state]) + " " + word(state);
  }
  return (out.empty() ? "nothing was judged" : out) + "\n";
}

namespace {

std::string run_text(const CheckRunAnswer& answer) {
  return verdict_table(answer.verdicts) + verdict_sum(answer.verdicts);
}

struct RunAsk {
  std::string node;
  std::vector<std::string> checks;
  bool active = false;
  std::string tier;
};

Result<int> run_checks(Context& context, const RunAsk& ask) {
  CheckRunRequest request;
  request.node = ask.node;
  request.checks = ask.checks;
  if (!ask.tier.empty() && !ask.active) {
    return context.fail_flag("check run: --tier is of active checks: add --active");
  }
  if (request.node.empty()) {
    const ApiClient client = TRY(context.connect());
    const auto nodes = TRY(get_objects<Node>(client, api_path({"nodes"})));
    if (nodes.size() != 1) {
      return context.fail_flag("check run: say on which of " + std::to_string(nodes.size()) +
                               " nodes\n  remedy: tundish check run NODE");
    }
    request.node = name_of(nodes[0]);
  }
  if (ask.active) return run_active(context, {request.node, request.checks, ask.tier});
  // A driver that hangs is waited for, check by check.
  const auto body = TRY(with_progress(
      context, "checks run on node " + request.node,
      [&] { return context.change({"POST", "/v1/checks/run", render_json(request)}); },
      seconds(2)));
  if (!body) return exit_done;
  const auto answer = TRY(parse_object<CheckRunAnswer>(*body));
  TRY(show_object<CheckRunAnswer>(context, *body, run_text));
  return code_of(answer.verdicts);
}

/// Needs no tundishd: the files are judged where they lie.
Result<int> lint(Context& context, const std::string& asked) {
  const std::string folder = TRY(find_catalogue(context, {asked, ""}));
  const auto [limits, plates] = TRY(load_limit_files(context, folder));
  auto found = lint_limits(limits, plates, {});
  for (auto& more : lint_catalogue(TRY(load_codes(folder)))) found.push_back(std::move(more));
  std::vector<std::string> items;
  for (const auto& finding : found) items.push_back(render_json(finding));
  const int code = TRY(show_items<LintFinding>(
      context, items, {{"ROW", "PROBLEM", "REMEDY"}, [](const LintFinding& finding) -> Cells {
                         return {finding.object, finding.problem, finding.remedy};
                       }}));
  if (!found.empty()) return exit_refused;
  context.note(std::to_string(limits.limits.size()) + " limits of " +
               std::to_string(plates.models.size()) + " models in " + folder + ": nothing found");
  return code;
}

constexpr Duration replayed_days = hours(90 * 24);

struct DiffAsk {
  std::string old_folder;
  std::string new_file;
};

Result<int> diff_catalogue(Context& context, const DiffAsk& ask) {
  const auto before = TRY(load_codes(TRY(find_catalogue(context, {ask.old_folder, ""}))));
  const std::string text = TRY(read_small_file(ask.new_file));
  XidCatalogue after = before;
  after.xid = TRY(load_xid_table({text, ask.new_file}));
  std::vector<Incident> incidents;
  if (const auto client = context.connect()) {
    incidents = TRY(get_objects<Incident>(*client, api_path({"incidents"})));
    const Instant now{std::chrono::duration_cast<std::chrono::microseconds>(
                          std::chrono::system_clock::now().time_since_epoch())
                          .count()};
    std::erase_if(incidents, [&](const Incident& incident) {
      return now - incident.opened_at > replayed_days;
    });
  } else {
    context.note("no tundishd answers: incidents are not compared");
  }
  const auto changes = diff_catalogues(before, after, incidents);
  std::vector<std::string> items;
  for (const auto& change : changes) items.push_back(render_json(change));
  return show_items<CatalogueChange>(
      context, items,
      {{"CODE", "BEFORE", "AFTER", "INCIDENTS"}, [](const CatalogueChange& change) -> Cells {
         std::string hit;
         for (const auto& name : change.incidents) hit += (hit.empty() ? "" : ", ") + name;
         return {std::to_string(change.code), change.before, change.after, or_dash(hit)};
       }});
}

}  // namespace

void add_check(Command root, Context& context) {
  Command noun = root.noun("check", "health checks: what they see and by which limits they judge");
  const auto only_active = std::make_shared<bool>(false);
  Command list = noun.verb("list", "list every check");
  list.take({"--active", "only active ones, which put a node under load"}, *only_active);
  list.run([&context, only_active] {
    return list_checks(context, *only_active ? CheckListing::active : CheckListing::all);
  });
  const auto name = std::make_shared<std::string>();
  Command show = noun.verb("show", "one check with its limits and where they come from");
  show.take({"name", "name", Need::required}, *name);
  show.run([&context, name] { return show_check(context, *name); });

  const auto ask = std::make_shared<RunAsk>();
  Command run = noun.verb("run", "run checks now on a node; exit 3: one failed, 4: one is unknown");
  run.take({"node", "name or id; may be left out where there is one"}, ask->node);
  run.take({"--check", "only this one; may be repeated"}, ask->checks);
  run.take({"--active", "active checks, on a free node or an idle one whose tenant allows it"},
           ask->active);
  run.take({"--tier", "of active checks", Need::optional, {"light", "heavy"}}, ask->tier);
  run.run([&context, ask] { return run_checks(context, *ask); });

  add_active_verbs(noun, context);

  const auto folder = std::make_shared<std::string>();
  Command lint_verb = noun.verb("lint", "limits that cannot fire, codes without an action");
  lint_verb.take({"folder",
                  "of thresholds.yaml, nameplates.yaml, xid.yaml, sxid.yaml; else the shipped one"},
                 *folder);
  lint_verb.run([&context, folder] { return lint(context, *folder); });

  const auto diff = std::make_shared<DiffAsk>();
  Command catalogue = noun.noun(
      "catalogue", "how a new list of error codes would change what is done; docs/health.md has "
                   "what each code means");
  Command verb = catalogue.verb(
      "diff", "which codes change action with a new xid.yaml, and which incidents of 90 days");
  verb.take({"file", "the new xid.yaml", Need::required}, diff->new_file);
  verb.take({"--catalog", "folder with the catalogue in force; else the shipped one"},
            diff->old_folder);
  verb.run([&context, diff] { return diff_catalogue(context, *diff); });
}

}  // namespace tundish::edge::cli
