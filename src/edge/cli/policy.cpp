// policy: verify, list, show, try, load.
#include "control/fault/policy.hpp"

#include <filesystem>
#include <fstream>
#include <ostream>
#include <sstream>

#include "codec/kernel_log/catalogue.hpp"
#include "codec/limits.hpp"
#include "codec/yaml.hpp"
#include "control/verify/threshold_rows.hpp"
#include "control/verify/verify.hpp"
#include "edge/api/contract_policy.hpp"
#include "edge/cli/nouns.hpp"
#include "edge/cli/policy_text.hpp"
#include "edge/cli/simple_kind.hpp"

namespace tundish::edge::cli {
namespace {

using control::verify::Rehearsal;
using control::verify::Verification;

struct PolicyArgs {
  std::string file, catalog, name;
  Duration since = hours(30 * 24);
};

constexpr std::uintmax_t largest_policy = 1 << 20;

Result<std::string> read_text(const std::string& name) {
  std::error_code failed;
  if (std::filesystem::file_size(name, failed) > largest_policy && !failed) {
    return make_error(Code::invalid, name + " is larger than a policy can be");
  }
  std::ifstream in(name);
  std::ostringstream text;
  if (!in || std::filesystem::is_directory(name, failed) || !(text << in.rdbuf())) {
    return make_error(Code::not_found, name + " cannot be read");
  }
  return text.str();
}

/// The folder with xid.yaml: as said, else the nearest one above the policy, else the installed.
Result<std::string> find_catalogue(const PolicyArgs& args) {
  if (!args.catalog.empty()) return args.catalog;
  std::error_code ignored;
  const auto file = std::filesystem::absolute(args.file, ignored);
  for (auto at = file.parent_path(); at.has_relative_path(); at = at.parent_path()) {
    if (std::filesystem::exists(at / "xid.yaml", ignored)) return at.string();
    if (std::filesystem::exists(at / "catalog/xid.yaml", ignored)) return (at / "catalog").string();
  }
  const std::string installed = "/usr/share/tundish/catalog";
  if (std::filesystem::exists(installed + "/xid.yaml", ignored)) return installed;
  return make_error(Code::not_found, "no catalogue of faults is near " + args.file)
      .with_remedy("say where xid.yaml, sxid.yaml, thresholds.yaml and nameplates.yaml are: "
                   "--catalog DIR");
}

Result<RemediationPolicy> read_policy(const std::string& file) {
  RemediationPolicy policy;
  TRY_VOID(parse_yaml(TRY(read_text(file)), policy, file));
  return policy;
}

Result<std::vector<control::verify::ThresholdRow>> read_limits(const std::string& folder) {
  const std::string plates_file = folder + "/nameplates.yaml";
  const std::string limits_file = folder + "/thresholds.yaml";
  const std::string plates_text = TRY(read_text(plates_file));
  const std::string limits_text = TRY(read_text(limits_file));
  const auto plates = TRY(load_nameplates(plates_text, plates_file));
  const auto limits = TRY(load_thresholds(limits_text, limits_file, plates));
  return control::verify::threshold_rows(limits, plates);
}

Result<Verification> verify_file(const PolicyArgs& args) {
  const RemediationPolicy policy = TRY(read_policy(args.file));
  const std::string folder = TRY(find_catalogue(args));
  const std::string xid = TRY(read_text(folder + "/xid.yaml"));
  const std::string sxid = TRY(read_text(folder + "/sxid.yaml"));
  const auto faults = TRY(load_xid_catalogue({xid, "xid.yaml"}, {sxid, "sxid.yaml"}));
  const auto limits = TRY(read_limits(folder));
  return control::verify::verify({policy, control::verify::faults_of(faults), limits});
}

Result<int> verify_policy(Context& context, const PolicyArgs& args) {
  const Verification found = TRY(verify_file(args));
  const int code =
      TRY(show_object<Verification>(context, render_json(found), [](const Verification& v) {
        return control::verify::render(v);
      }));
  return found.is_proved() ? code : exit_refused;
}

Result<int> list_policies(Context& context) {
  const ApiClient client = TRY(context.connect());
  const auto items = TRY(client.list(api_path({"policies"})));
  return show_items<PolicyRow>(
      context, items,
      {{"POLICY", "VERSION", "STATE", "STATES", "WHAT", "WHY"}, [](const PolicyRow& row) -> Cells {
         return {or_dash(row.name), std::to_string(row.version),
                 row.state,         std::to_string(row.states),
                 or_dash(row.doc),  or_dash(row.why.substr(0, row.why.find('\n')))};
       }});
}

/// A file, or without one the policy that is loaded.
Result<int> show_policy(Context& context, const PolicyArgs& args) {
  std::string body;
  if (args.file.empty()) {
    const ApiClient client = TRY(context.connect());
    body = TRY(client.get(api_path({"policy"})));
  } else {
    const RemediationPolicy policy = TRY(read_policy(args.file));
    TRY_VOID(control::check_policy(policy));
    body = render_json(policy);
  }
  return show_object<RemediationPolicy>(context, body, draw_policy);
}

Result<int> try_policy(Context& context, const PolicyArgs& args) {
  PolicyRequest request;
  request.text = TRY(read_text(args.file));
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
  request.text = TRY(read_text(args.file));
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
  verify.take({"--catalog", "folder with codes and limits; else the nearest above the file"},
              args->catalog);
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
