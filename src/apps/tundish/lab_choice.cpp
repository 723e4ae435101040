#include "apps/tundish/lab_choice.hpp"

#include <algorithm>
#include <filesystem>

#include "apps/tundish/cmd_lab.hpp"
#include "apps/tundish/lab_files.hpp"
#include "base/text.hpp"
#include "edge/cli/suggest.hpp"

namespace tundish {
namespace {

namespace cli = edge::cli;
namespace fs = std::filesystem;

struct LabEntry {
  std::string name, state, root;
  bool used = false;
  void fields(Fields& f) {
    f(1, "name", name, "name, or root folder where that does not follow from a name");
    f(2, "state", state, "ready, stopped ...");
    f(3, "root", root, "folder of its state");
    f(4, "used", used, "commands mean this one");
  }
};

bool is_lab(const std::string& name_or_root) {
  std::error_code ignored;
  return fs::exists(lab_paths(name_or_root).spec_file(), ignored);
}

/// As it was named with --name, wherever its root is.
std::string name_of_lab(const std::string& name_or_root) {
  const auto spec = lab::load_spec(lab_paths(name_or_root).spec_file());
  return spec ? spec->name : "";
}

std::string used_lab(const cli::Context& context) {
  const auto file = context.load_context();
  return file ? file->lab : "";
}

Result<int> list(cli::Context& context) {
  std::vector<std::string> items;
  const std::string used = used_lab(context);
  for (const auto& name : known_labs(context)) {
    const lab::LabPaths paths = lab_paths(name);
    const auto told = lab::lab_status(paths);
    const std::string state = told ? told->state : "unknown";
    const bool is_used = !used.empty() && lab_paths(used).root == paths.root;
    const std::string called =
        told && !told->name.empty() ? told->name : fs::path(paths.root).filename().string();
    items.push_back(render_json(LabEntry{called, state, paths.root, is_used}));
  }
  return cli::show_items<LabEntry>(
      context, items, {{"NAME", "STATE", "ROOT", "USED"}, [](const LabEntry& lab) -> cli::Cells {
                         return {lab.name, lab.state, lab.root, lab.used ? "yes" : "-"};
                       }});
}

Result<int> use(cli::Context& context, const std::string& name) {
  const auto file = TRY(find_lab(context, name));
  if (context.settings().dry_run) {
    context.note("dry run: would use lab " + file.lab);
    return cli::exit_done;
  }
  TRY_VOID(context.save_context(file));
  context.note("lab " + file.lab + " is used now; `tundish context show` tells its API");
  return cli::exit_done;
}

}  // namespace

std::vector<std::string> known_labs(const cli::Context& context) {
  std::vector<std::string> names;
  std::error_code failed;
  const fs::path folder = fs::path(lab::default_root("any")).parent_path();
  for (const auto& entry : fs::directory_iterator(folder, failed)) {
    const std::string name = entry.path().filename().string();
    if (is_lab(name)) names.push_back(name);
  }
  const std::string used = used_lab(context);
  const bool is_new = std::find(names.begin(), names.end(), used) == names.end();
  if (!used.empty() && is_new && is_lab(used)) names.push_back(used);
  std::sort(names.begin(), names.end());
  return names;
}

Error no_lab_error(const cli::Context& context, const std::string& name_or_root) {
  const auto known = known_labs(context);
  const std::string near = cli::did_you_mean(name_or_root, known);
  return make_error(Code::not_found, "no lab at " + lab_paths(name_or_root).root)
      .with_remedy(known.empty() ? "start one with `tundish lab up`"
                                 : (near.empty() ? "" : near + " ") +
                                       "labs on this machine: " + join(known, ", "));
}

std::string resolve_lab(const cli::Context& context, const std::string& name_or_root) {
  if (name_or_root.find('/') != std::string::npos || is_lab(name_or_root)) return name_or_root;
  for (const auto& known : known_labs(context)) {
    if (name_of_lab(known) == name_or_root) return known;
  }
  return name_or_root;
}

Result<cli::ContextFile> find_lab(const cli::Context& context, const std::string& name_or_root) {
  const std::string known = resolve_lab(context, name_or_root);
  const bool is_root = known.find('/') != std::string::npos;
  const std::string lab = is_root ? fs::absolute(known).lexically_normal().string() : known;
  if (!is_lab(lab)) return no_lab_error(context, lab);
  const LabAccess access = lab_access(lab_paths(lab));
  return cli::ContextFile{access.api, access.token_file, "", lab};
}

void add_lab_choice(cli::Command noun, cli::Context& context) {
  noun.verb("list", "labs on this machine").run([&context] { return list(context); });
  const auto name = std::make_shared<std::string>();
  cli::Command verb = noun.verb("use", "let commands mean this lab from now on");
  verb.take({"name", "name of the lab, or its root folder", cli::Need::required}, *name);
  verb.run([&context, name] { return use(context, *name); });
}

}  // namespace tundish
