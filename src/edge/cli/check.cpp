// check: what there is, from where its limits come, and running it now.
#include <chrono>
#include <fstream>
#include <ostream>
#include <sstream>

#include "codec/kernel_log/catalogue.hpp"
#include "codec/kernel_log/catalogue_diff.hpp"
#include "codec/limits.hpp"
#include "codec/limits_lint.hpp"
#include "edge/cli/check_active.hpp"
#include "edge/cli/nouns.hpp"
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
  return make_error(Code::not_found, "no check is called " + name)
      .about("check/" + name)
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
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < 3; ++i) {
      out += row[i] + std::string(widths[i] - row[i].size() + 2, ' ');
    }
    out += row[3] + (row[4].empty() ? "" : " (" + row[4] + ")") + "\n";
  }
  return out;
}

namespace {

std::string run_text(const CheckRunAnswer& answer) { return verdict_table(answer.verdicts); }

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
  const auto body = TRY(context.change({"POST", "/v1/checks/run", render_json(request)}));
  if (!body) return exit_done;
  const auto answer = TRY(parse_object<CheckRunAnswer>(*body));
  TRY(show_object<CheckRunAnswer>(context, *body, run_text));
  return code_of(answer.verdicts);
}

Result<std::string> read_text(const std::string& path) {
  std::ifstream file(path);
  if (!file) {
    return make_error(Code::not_found, "cannot read " + path).with_remedy("name an existing file");
  }
  std::ostringstream out;
  out << file.rdbuf();
  return out.str();
}

Result<XidCatalogue> load_codes(const std::string& folder) {
  const std::string xid = TRY(read_text(folder + "/xid.yaml"));
  const std::string sxid = TRY(read_text(folder + "/sxid.yaml"));
  return load_xid_catalogue({xid, folder + "/xid.yaml"}, {sxid, folder + "/sxid.yaml"});
}

/// Needs no tundishd: the files are judged where they lie.
Result<int> lint(Context& context, const std::string& folder) {
  const std::string plates_file = folder + "/nameplates.yaml";
  const std::string limits_file = folder + "/thresholds.yaml";
  const std::string plates_text = TRY(read_text(plates_file));
  const std::string limits_text = TRY(read_text(limits_file));
  const auto plates = TRY(load_nameplates(plates_text, plates_file));
  const auto limits = TRY(load_thresholds(limits_text, limits_file, plates));
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
               std::to_string(plates.models.size()) + " models: nothing found");
  return code;
}

constexpr Duration replayed_days = hours(90 * 24);

struct DiffAsk {
  std::string old_folder;
  std::string new_file;
};

Result<int> diff_catalogue(Context& context, const DiffAsk& ask) {
  const auto before = TRY(load_codes(ask.old_folder));
  const std::string text = TRY(read_text(ask.new_file));
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
  run.take({"--active", "active checks, on a node that no tenant has"}, ask->active);
  run.take({"--tier", "of active checks", Need::optional, {"light", "heavy"}}, ask->tier);
  run.run([&context, ask] { return run_checks(context, *ask); });

  add_active_verbs(noun, context);

  const auto folder = std::make_shared<std::string>("/usr/share/tundish/catalog");
  Command lint_verb = noun.verb("lint", "limits that cannot fire, codes without an action");
  lint_verb.take({"folder", "with thresholds.yaml, nameplates.yaml, xid.yaml and sxid.yaml"},
                 *folder);
  lint_verb.run([&context, folder] { return lint(context, *folder); });

  const auto diff = std::make_shared<DiffAsk>();
  diff->old_folder = "/usr/share/tundish/catalog";
  Command catalogue = noun.noun("catalogue", "what error codes mean");
  Command verb = catalogue.verb(
      "diff", "which codes change action with a new xid.yaml, and which incidents of 90 days");
  verb.take({"file", "the new xid.yaml", Need::required}, diff->new_file);
  verb.take({"--catalog", "folder with the catalogue in force"}, diff->old_folder);
  verb.run([&context, diff] { return diff_catalogue(context, *diff); });
}

}  // namespace tundish::edge::cli
