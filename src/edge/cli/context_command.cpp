// context: which API, token and lab this person means when no flag says it.
#include <filesystem>
#include <ostream>

#include "edge/cli/nouns.hpp"

namespace tundish::edge::cli {
namespace {

struct UseArgs {
  std::string token_file, ca_file, lab;
};

std::string absolute(const std::string& file) {
  return file.empty() ? "" : std::filesystem::absolute(file).lexically_normal().string();
}

Result<int> show(Context& context) {
  const ContextFile file = TRY(context.load_context());
  if (context.form() == OutputForm::json) {
    context.out() << render_json(file, 2) << "\n";
  } else if (context.form() == OutputForm::yaml) {
    context.out() << render_yaml(describe_const(file));
  } else {
    context.out() << "context " << context.context_path() << "\n"
                  << render_detail(describe_const(file));
  }
  return exit_done;
}

Result<int> use(Context& context, const UseArgs& args) {
  const std::string api = context.settings().api;
  if (api.empty() && args.token_file.empty() && args.ca_file.empty() && args.lab.empty()) {
    return context.fail_flag("context use: give --api, --token-file, --ca-file or --lab");
  }
  ContextFile file = TRY(context.load_context());
  // Another API is another site: its token and certificate do not carry over.
  if (!api.empty() && api != file.api) file = ContextFile{api, "", "", ""};
  if (!args.lab.empty()) {
    // A lab brings its own API and token; flags beside it still win.
    if (context.find_lab) file = TRY(context.find_lab(args.lab));
    if (!context.find_lab) file.lab = args.lab;
    if (!api.empty()) file.api = api;
  }
  if (!args.token_file.empty()) file.token_file = absolute(args.token_file);
  if (!args.ca_file.empty()) file.ca_file = absolute(args.ca_file);
  TRY_VOID(context.save_context(file));
  return show(context);
}

}  // namespace

void add_context(Command root, Context& context) {
  Command noun = root.noun("context", "API, token and lab to use when no flag says it");
  noun.verb("show", "what is used now").run([&context] { return show(context); });
  const auto args = std::make_shared<UseArgs>();
  Command verb = noun.verb("use", "use another API (--api URL), token or lab from now on");
  verb.take({"--token-file", "file that holds the bearer token"}, args->token_file);
  verb.take({"--ca-file", "PEM that signs the API's certificate"}, args->ca_file);
  verb.take({"--lab", "lab on this machine, by name or root folder"}, args->lab);
  verb.run([&context, args] { return use(context, *args); });
}

}  // namespace tundish::edge::cli
