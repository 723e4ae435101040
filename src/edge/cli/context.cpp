#include "edge/cli/context.hpp"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "base/text.hpp"
#include "edge/api/contract.hpp"
#include "edge/cli/suggest.hpp"

namespace tundish::edge::cli {
namespace {

Result<std::string> read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) {
    return make_error(Code::not_found, "cannot read " + path);
  }
  return text.str();
}

/// ": scope rack:r01, reason fans" of a body; what is empty, zero or off was not asked for.
std::string given_fields(const std::string& body) {
  const auto value = JsonValue::parse(body);
  if (!value || value->kind() != JsonValue::Kind::object) return "";
  std::string out;
  for (const auto& [key, field] : value->members()) {
    const std::string text = field.as_text().value_or(field.render());
    if (text.empty() || text == "0" || text == "false" || text == "[]" || text == "null" ||
        text == "{}") {
      continue;
    }
    out += (out.empty() ? ": " : ", ") + key + " " + text;
  }
  return out;
}

}  // namespace

OutputForm Context::form() const {
  if (settings_.output == "json") return OutputForm::json;
  return settings_.output == "yaml" ? OutputForm::yaml : OutputForm::table;
}

std::string Context::variable(const std::string& name) const {
  const auto found = variables_.find(name);
  return found == variables_.end() ? "" : found->second;
}

std::string Context::context_path() const {
  const std::string config = variable("XDG_CONFIG_HOME");
  const std::string home = variable("HOME");
  return (config.empty() ? (home.empty() ? "/root" : home) + "/.config" : config) +
         "/tundish/context.yaml";
}

Result<ContextFile> Context::load_context() const {
  ContextFile file;
  const std::string path = context_path();
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return file;
  const std::string text = TRY(read_text(path));
  if (!trim(text).empty()) TRY_VOID(parse_yaml(text, file, path));
  return file;
}

Result<> Context::save_context(const ContextFile& file) const {
  const std::filesystem::path path = context_path();
  std::error_code failed;
  std::filesystem::create_directories(path.parent_path(), failed);
  const std::string fresh = path.string() + ".new";
  std::ofstream stream(fresh, std::ios::trunc);
  stream << render_yaml(describe_const(file));
  stream.close();
  if (stream) std::filesystem::rename(fresh, path, failed);
  if (!stream || failed) {
    return make_error(Code::internal, "cannot write " + path.string())
        .with_remedy("set XDG_CONFIG_HOME to a folder that you may write");
  }
  return {};
}

Result<ApiClient> Context::connect() const {
  const ContextFile file = TRY(load_context());
  const auto first = [](const std::string& a, const auto& b) { return a.empty() ? b : a; };
  Endpoint endpoint;
  endpoint.api = first(first(settings_.api, variable("TUNDISH_API")), file.api);
  endpoint.token = first(settings_.token, variable("TUNDISH_TOKEN"));
  endpoint.ca_file = first(variable("TUNDISH_CA"), file.ca_file);
  if (endpoint.api.empty()) {
    return make_error(Code::unavailable, "no API address is known")
        .with_remedy(
            "start a lab with `tundish lab up`, or give --api, TUNDISH_API or "
            "`tundish context use --api URL`");
  }
  if (endpoint.token.empty() && !file.token_file.empty()) {
    const auto token = read_text(file.token_file);
    if (!token) {
      return make_error(Code::denied, "cannot read the token file " + file.token_file)
          .with_remedy(
              "give --token or TUNDISH_TOKEN, or name another file with "
              "`tundish context use --token-file FILE`");
    }
    endpoint.token = trim(*token);
  }
  return ApiClient(endpoint);
}

Result<std::optional<std::string>> Context::change(ApiChange change, Privacy privacy) {
  change.reason = settings_.reason;
  const ApiClient client = TRY(connect());
  if (settings_.dry_run) {
    (void)TRY(client.rehearse(change));
    note("dry run: would " + change.method + " " + change.path +
         (privacy == Privacy::hidden ? "" : given_fields(change.body)) +
         "\n  the API checked it and would do it; nothing was changed");
    return std::optional<std::string>();
  }
  return std::optional<std::string>(TRY(client.change(change)));
}

bool Context::confirm(const std::string& what_is_lost) {
  if (settings_.yes || settings_.dry_run) return true;
  terminal_.err << what_is_lost << "\n";
  if (terminal_.presence == Presence::script) {
    terminal_.err << "tundish: not done: nobody can be asked here\n  remedy: add --yes\n";
    return false;
  }
  terminal_.err << "Go on? [y/N] " << std::flush;
  std::string answer;
  std::getline(terminal_.in, answer);
  answer = to_lower(trim(answer));
  if (answer == "y" || answer == "yes") return true;
  terminal_.err << "tundish: declined, nothing was changed\n";
  return false;
}

void Context::note(const std::string& line) { terminal_.err << line << "\n" << std::flush; }

int Context::fail(Error error) {
  if (error.code == Code::not_found && error.remedy.empty()) {
    error.remedy = suggest_object(*this, error.object);
  }
  std::string message = error.what;
  const std::string name = error.object.substr(error.object.find('/') + 1);
  if (!error.object.empty() && message.find(name) == std::string::npos) {
    message = error.object + ": " + message;
  }
  for (const auto& outer : error.context) message = outer + ": " + message;
  message = with_local_times(message);
  terminal_.err << "tundish: " << message << "\n";
  if (!error.remedy.empty()) terminal_.err << "  remedy: " << error.remedy << "\n";
  return exit_code(code_name(error.code));
}

int Context::fail_flag(const std::string& message) {
  terminal_.err << "tundish: " << message << "\n";
  return exit_bad_flag;
}

}  // namespace tundish::edge::cli
