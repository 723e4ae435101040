// policy: verify, list, show, try, load.
#include "control/fault/policy.hpp"

#include <ostream>

#include "codec/yaml.hpp"
#include "codec/yaml_place.hpp"
#include "control/verify/threshold_rows.hpp"
#include "control/verify/verify.hpp"
#include "edge/api/contract_policy.hpp"
#include "edge/cli/catalogue_files.hpp"
#include "edge/cli/nouns.hpp"
#include "edge/cli/policy_text.hpp"
#include "edge/cli/progress.hpp"
#include "edge/cli/simple_kind.hpp"

namespace tundish::edge::cli {
namespace {

using control::verify::Rehearsal;
using control::verify::Verification;

struct PolicyArgs {
  std::string file, catalog, name;
  bool other_checks = false;
  Duration since = hours(30 * 24);
};

/// With the place in the file that the problem names.
Error placed(const control::PolicyProblem& problem, const std::string& text,
             const std::string& file) {
  Error error = problem.error;
  error.what = yaml_place(text, file, problem.path) + error.what;
  return error;
}

struct PolicyFile {
  RemediationPolicy policy;
  std::string text;
};

/// Read, and every state, fact and action that it names is there.
Result<PolicyFile> read_policy(const std::string& file) {
  PolicyFile out;
  out.text = TRY(read_small_file(file));
  TRY_VOID(parse_yaml(out.text, out.policy, file));
  if (const auto problem = control::find_problem(out.policy)) {
    return placed(*problem, out.text, file);
  }
  return out;
}

Result<> check_names(const Context& context, const PolicyFile& file, const PolicyArgs& args) {
  const auto others =
      args.other_checks ? control::OtherChecks::taken : control::OtherChecks::refused;
  const auto problem = control::find_unknown_check(file.policy, context.known_checks, others);
  if (!problem) return {};
  Error error = placed(*problem, file.text, args.file);
  const bool own = problem->path.front() != "active" && !file.policy.checks.empty();
  if (own) error.remedy += "; of another system's checks: --other-checks";
  return error;
}

Result<Verification> verify_file(const Context& context, const PolicyArgs& args,
                                 const RemediationPolicy& policy) {
  const std::string folder = TRY(find_catalogue(context, {args.catalog, args.file}));
  const auto faults = TRY(load_codes(folder));
  const auto files = TRY(load_limit_files(context, folder));
  const auto limits = control::verify::threshold_rows(files.limits, files.plates);
  return control::verify::verify({policy, control::verify::faults_of(faults), limits});
}

/// An invalid file is refused (3) like a policy that is not proved. A file or catalogue that is not
/// there, or a policy that is too large to search, is no word on the policy: exit 1.
int fail_unsearched(Context& context, const Error& error) {
  const int code = context.fail(error);
  return error.code == Code::invalid ? code : exit_tool_error;
}

Result<int> verify_policy(Context& context, const PolicyArgs& args) {
  const auto file = read_policy(args.file);
  if (!file) return fail_unsearched(context, file.error());
  // It is searched here, on all orders of events: some seconds, more on a busy machine.
  Result<Verification> found = make_error(Code::internal, "it was not searched");
  const auto search = [&]() -> Result<std::optional<std::string>> {
    found = verify_file(context, args, file->policy);
    return std::optional<std::string>();
  };
  TRY(with_progress(context, "still searches what can happen", search, seconds(2)));
  if (!found) return fail_unsearched(context, found.error());
  // A story is worth more than a name; what is proved of checks that nobody has is worth nothing.
  if (found->is_proved()) TRY_VOID(check_names(context, *file, args));
  const int code =
      TRY(show_object<Verification>(context, render_json(*found), [](const Verification& v) {
        return control::verify::render(v);
      }));
  return found->is_proved() ? code : exit_refused;
}

Result<int> list_policies(Context& context) {
  const ApiClient client = TRY(context.connect());
  const auto items = TRY(client.list(api_path({"policies"})));
  return show_items<PolicyRow>(
      context, items,
      {{"POLICY", "VERSION", "CONTENT", "STATE", "STATES", "WHAT", "WHY"},
       [](const PolicyRow& row) -> Cells {
         return {or_dash(row.name),
                 std::to_string(row.version),
                 or_dash(row.content),
                 row.state,
                 std::to_string(row.states),
                 or_dash(row.doc),
                 or_dash(row.why.substr(0, row.why.find('\n')))};
       }});
}

/// A file, or without one the policy that is loaded.
Result<int> show_policy(Context& context, const PolicyArgs& args) {
  std::string body;
  if (args.file.empty()) {
    const ApiClient client = TRY(context.connect());
    body = TRY(client.get(api_path({"policy"})));
  } else {
    body = render_json(TRY(read_policy(args.file)).policy);
  }
  return show_object<RemediationPolicy>(context, body, draw_policy);
}

Result<int> try_policy(Context& context, const PolicyArgs& args) {
  PolicyRequest request;
  request.text = TRY(read_small_file(args.file));
  request.name = args.file;
  request.since_s = args.since.s();
  const ApiClient client = TRY(context.connect());
  const std::string body =
      TRY(client.change({"POST", api_path({"policy", "try"}), render_json(request)}));
  std::vector<std::string> items;
  for (const auto& item : TRY(JsonValue::parse(body)).items()) items.push_back(item.render());
  if (context.form() == OutputForm::table) {
    context.out() << tell_rehearsals(TRY(parse_objects<Rehearsal>(items)));
    return exit_done;
  }
  return show_items<Rehearsal>(context, items, {{}, [](const Rehearsal&) { return Cells{}; }});
}

Result<int> load_policy(Context& context, const PolicyArgs& args) {
  PolicyRequest request;
  request.text = TRY(read_small_file(args.file));
  request.name = args.file;
  const auto body = TRY(context.change(
      {"POST", api_path({"policy", "load"}), render_json(request), context.settings().reason}));
  if (!body) return exit_done;
  return show_object<PolicyAnswer>(context, *body, [](const PolicyAnswer& answer) {
    return "loaded " + control::verify::render(answer.verification);
  });
}

}  // namespace

void add_policy(Command root, Context& context) {
  Command noun = root.noun("policy", "how faults are remedied, and the proof that it ends well");
  const auto args = std::make_shared<PolicyArgs>();
  const OptionDoc file{"file", "YAML file, see docs/policy.md", Need::required};
  Command verify = noun.verb("verify", "prove a policy, or tell the shortest way it goes wrong");
  verify.take(file, args->file);
  verify.take({"--catalog",
               "folder with codes and limits; else the nearest above the file, or the shipped one"},
              args->catalog);
  verify.take({"--other-checks", "checks that the file describes may be another system's"},
              args->other_checks);
  verify.run([&context, args] { return verify_policy(context, *args); });
  noun.verb("list", "the policy that is loaded, or why none is").run([&context] {
    return list_policies(context);
  });
  Command show = noun.verb("show", "draw the machine as text: the loaded one, or a file");
  show.take({"file", "YAML file; else the loaded policy"}, args->file);
  show.run([&context, args] { return show_policy(context, *args); });
  Command attempt = noun.verb("try", "what it would have done with the incidents of history");
  attempt.take(file, args->file);
  attempt.take({"--since", "how far back, for example 30d"}, args->since);
  attempt.run([&context, args] { return try_policy(context, *args); });
  Command load = noun.verb("load", "prove it and let tundishd act by it");
  load.take(file, args->file);
  load.run([&context, args] { return load_policy(context, *args); });
}

}  // namespace tundish::edge::cli
