// inventory import, export, diff: files in, all problems or all changes out.
#include <filesystem>
#include <fstream>
#include <ostream>
#include <sstream>

#include "codec/utf8.hpp"
#include "edge/api/contract.hpp"
#include "edge/cli/catalogue_files.hpp"
#include "edge/cli/nouns.hpp"
#include "edge/cli/simple_kind.hpp"

namespace tundish::edge::cli {
namespace {

/// Sheets of a large site; the API takes no more in one call.
constexpr std::size_t largest_sheet = 8 << 20;

struct InventoryArgs {
  std::vector<std::string> files;
  std::string scope, folder;
};

/// Text of one file; what it is instead, when it is no sheet.
Result<std::string> read_sheet(const std::string& name) {
  std::error_code failed;
  const auto refuse = [&name](const std::string& what, const std::string& remedy) -> Error {
    return make_error(Code::invalid, name + ": " + what).with_remedy(remedy);
  };
  if (!std::filesystem::exists(name, failed)) return refuse("no such file", "check the name");
  if (std::filesystem::is_directory(name, failed)) {
    return refuse("is a folder", "name the files in it: " + name + "/*.csv");
  }
  const std::string content = TRY(read_bytes(name, largest_sheet));
  if (content.starts_with("PK")) {
    return refuse("is a workbook or an archive", "save each of its sheets as CSV");
  }
  if (content.find('\0') != std::string::npos) {
    return refuse("is no text in UTF-8 or Latin-1", "save it as CSV in UTF-8");
  }
  return content;
}

/// A spreadsheet's Latin-1 as UTF-8, byte for byte and only where it is not UTF-8 already: what is
/// sent as JSON would lose those letters.
std::string as_utf8(Context& context, const std::string& name, const std::string& text) {
  std::string out;
  std::size_t line = 1, noted = 0;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint next = decode_utf8(text, at);
    append_utf8(out, next.valid ? next.value : static_cast<unsigned char>(text[at]));
    if (!next.valid && noted != line) {
      context.note(name + ":" + std::to_string(line) + ": not UTF-8, read as Latin-1");
      noted = line;
    }
    if (text[at] == '\n') ++line;
    at += next.size;
  }
  return out;
}

/// nullopt after a message for every file that is none: the others are not sent either.
std::optional<InventoryRequest> read_files(Context& context, const InventoryArgs& args) {
  InventoryRequest request;
  request.scope = args.scope;
  for (const auto& name : args.files) {
    const auto text = read_sheet(name);
    if (text) {
      const std::string short_name = std::filesystem::path(name).filename().string();
      request.files.push_back({short_name, as_utf8(context, short_name, *text)});
    } else {
      context.fail(text.error());
    }
  }
  if (request.files.size() == args.files.size()) return request;
  context.note("nothing was sent and nothing was changed");
  return std::nullopt;
}

std::string render_problems(const InventoryAnswer& answer) {
  std::vector<Cells> rows;
  for (const auto& problem : answer.problems) {
    rows.push_back({problem.file + ":" + std::to_string(problem.row), or_dash(problem.column),
                    or_dash(problem.value), problem.what, or_dash(problem.remedy)});
  }
  return render_table({"PLACE", "COLUMN", "VALUE", "WHAT", "REMEDY"}, rows);
}

std::string details_of(const InventoryChange& change) {
  if (change.verb != "missing") return or_dash(change.details);
  const std::string means = change.kind == "node"
                                ? "row absent from the sheet: condition set, nothing retired"
                                : "row absent from the sheet: kept as it is, nothing removed";
  return change.details.empty() ? means : means + " (" + change.details + ")";
}

std::string render_changes(const InventoryAnswer& answer) {
  std::vector<Cells> rows;
  for (const auto& change : answer.changes) {
    if (change.verb == "unchanged") continue;
    rows.push_back({change.verb, change.kind, change.name, details_of(change)});
  }
  std::string out = rows.empty() ? "" : render_table({"DO", "KIND", "NAME", "DETAILS"}, rows);
  for (const auto& line : answer.lines) out += line + "\n";
  return out;
}

std::string summarize(const InventoryAnswer& answer) {
  std::map<std::string, int> counts;
  for (const auto& change : answer.changes) ++counts[change.verb];
  std::string out;
  for (const std::string verb : {"create", "update", "missing", "unchanged"}) {
    if (counts[verb] == 0) continue;
    out += (out.empty() ? "" : ", ") + std::to_string(counts[verb]) + " " + verb;
  }
  return out.empty() ? "nothing to change" : out;
}

int show_answer(Context& context, const std::string& body, const InventoryAnswer& answer) {
  if (context.form() == OutputForm::json) {
    context.out() << indent_json(body);
  } else if (context.form() == OutputForm::yaml) {
    context.out() << render_yaml(describe_const(answer));
  } else if (!answer.problems.empty()) {
    context.out() << render_problems(answer);
  } else {
    context.out() << render_changes(answer);
  }
  if (answer.problems.empty()) return exit_done;
  context.note("tundish: " + count_of(static_cast<int>(answer.problems.size()), "problem") +
               " in the files; nothing was changed\n  remedy: correct them and import again");
  return exit_refused;
}

Result<int> import_files(Context& context, const InventoryArgs& args) {
  auto request = read_files(context, args);
  if (!request) return exit_refused;
  request->dry_run = context.settings().dry_run;
  const ApiClient client = TRY(context.connect());
  const std::string body = TRY(client.exchange(
      {"POST", "/v1/inventory/import", render_json(*request), context.settings().reason}));
  const auto answer = TRY(parse_object<InventoryAnswer>(body));
  const int code = show_answer(context, body, answer);
  if (code == exit_done) {
    context.note(summarize(answer) + (answer.applied ? "; done" : "; nothing was changed"));
  }
  return code;
}

Result<int> diff_files(Context& context, const InventoryArgs& args) {
  const auto request = read_files(context, args);
  if (!request) return exit_refused;
  const ApiClient client = TRY(context.connect());
  const std::string body =
      TRY(client.exchange({"POST", "/v1/inventory/diff", render_json(*request), ""}));
  const auto answer = TRY(parse_object<InventoryAnswer>(body));
  const int code = show_answer(context, body, answer);
  if (code == exit_done) context.note(summarize(answer));
  return code;
}

Result<> write_export(Context& context, const InventoryArgs& args, const InventoryRequest& told) {
  namespace fs = std::filesystem;
  std::error_code failed;
  fs::create_directories(args.folder, failed);
  for (const auto& file : told.files) {
    // Names come from the API: they stay inside the folder.
    const fs::path path = fs::path(args.folder) / fs::path(file.name).filename();
    std::ofstream stream(path, std::ios::binary | std::ios::trunc);
    stream << file.content;
    stream.close();
    if (!stream) return make_error(Code::internal, "cannot write " + path.string());
    context.note("wrote " + path.string());
  }
  return {};
}

Result<int> export_files(Context& context, const InventoryArgs& args) {
  const ApiClient client = TRY(context.connect());
  const std::string query = args.scope.empty() ? "" : "?scope=" + escape_word(args.scope);
  const std::string body = TRY(client.get("/v1/inventory/export" + query));
  const auto told = TRY(parse_object<InventoryRequest>(body));
  if (!args.folder.empty()) {
    TRY_VOID(write_export(context, args, told));
    return exit_done;
  }
  if (context.form() == OutputForm::json) {
    context.out() << indent_json(body);
  } else if (context.form() == OutputForm::yaml) {
    context.out() << render_yaml(describe_const(told));
  } else {
    for (const auto& file : told.files) context.out() << "# " << file.name << "\n" << file.content;
  }
  return exit_done;
}

}  // namespace

void add_inventory(Command root, Context& context) {
  Command noun = root.noun("inventory", "what the operator declares, as spreadsheets");
  const OptionDoc files{"files", "CSV files; the kind of each is known by its header",
                        Need::required};
  const OptionDoc scope{"--scope", "rows missing from this scope are marked"};
  const auto args = std::make_shared<InventoryArgs>();
  Command import_verb = noun.verb("import", "admit or update what the files declare");
  import_verb.take(files, args->files);
  import_verb.take(scope, args->scope);
  import_verb.run([&context, args] { return import_files(context, *args); });
  Command diff_verb = noun.verb("diff", "how the files differ from what is stored");
  diff_verb.take(files, args->files);
  diff_verb.take(scope, args->scope);
  diff_verb.run([&context, args] { return diff_files(context, *args); });
  Command export_verb = noun.verb("export", "write the inventory as CSV");
  export_verb.take({"--dir", "folder for the files; without it they go to standard output"},
                   args->folder);
  export_verb.take(scope, args->scope);
  export_verb.run([&context, args] { return export_files(context, *args); });
}

}  // namespace tundish::edge::cli
