#include "edge/cli/program.hpp"

#include <ostream>

#include "edge/cli/completion.hpp"
#include "edge/cli/nouns.hpp"

namespace tundish::edge::cli {
namespace {

void add_globals(Command root, Settings& settings) {
  root.take({"-o,--output", "form of the answer", Need::optional, {"table", "json", "yaml"}},
            settings.output);
  root.take({"--api", "address of the API: https://..., http://... or unix:/socket"}, settings.api);
  root.take({"--token", "bearer token; TUNDISH_TOKEN keeps it out of the process list"},
            settings.token);
  root.take({"--reason", "why; kept in the history"}, settings.reason);
  root.take({"--wait", "until it is really so; expired: exit 4"}, settings.wait);
  root.take({"--timeout", "how long --wait waits, for example 10m"}, settings.timeout);
  root.take({"--dry-run", "say what would be done, change nothing"}, settings.dry_run);
  root.take({"--yes", "answer yes to every question"}, settings.yes);
}

void add_completion(Command root, Context& context, const CommandTree& tree) {
  Command noun = root.noun("completion", "completion for your shell");
  using Render = std::string (*)(const CommandDoc&);
  const auto add = [&](const std::string& shell, Render render) {
    noun.verb(shell, "print the completion for " + shell).run([&context, &tree, render] {
      context.out() << render(tree.describe());
      return Result<int>(exit_done);
    });
  };
  add("bash", render_bash_completion);
  add("zsh", render_zsh_completion);
  add("fish", render_fish_completion);
}

}  // namespace

int run_program(const std::vector<std::string>& args, Context& context, const AddNouns& add_nouns) {
  CommandTree tree("tundish", "A GPU cloud that repairs itself, and says what it does.");
  tree.set_version(std::string("tundish ") + TUNDISH_VERSION);
  const Command root = tree.root();
  add_globals(root, context.settings());
  if (add_nouns) add_nouns(root, context);
  for (const auto add : {add_inventory, add_node,     add_physical, add_tenancy,  add_access,
                         add_cluster,   add_network,  add_fault,    add_incident, add_governance,
                         add_history,   add_overview, add_doctor,   add_context,  add_maintenance,
                         add_notice,    add_shift,    add_policy,   add_drill,    add_check}) {
    add(root, context);
  }
  add_completion(root, context, tree);
  const Parsed parsed = tree.parse(args);
  context.terminal().out << parsed.out;
  context.terminal().err << parsed.err;
  if (!parsed.action) return parsed.exit_code;
  const Result<int> code = parsed.action();
  context.terminal().out.flush();
  return code ? *code : context.fail(code.error());
}

}  // namespace tundish::edge::cli
