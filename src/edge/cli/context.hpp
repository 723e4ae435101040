#pragma once
// What every command needs: terminal, global flags, the way to the API.
#include <functional>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "codec/limit_names.hpp"
#include "control/fault/policy_problem.hpp"
#include "edge/cli/client.hpp"
#include "edge/cli/command.hpp"
#include "edge/cli/output.hpp"

namespace tundish::edge::cli {

inline constexpr int exit_done = 0;
inline constexpr int exit_tool_error = 1;
inline constexpr int exit_bad_flag = 2;
inline constexpr int exit_refused = 3;
inline constexpr int exit_unknown = 4;
inline constexpr int exit_declined = 130;

enum class Presence { script, person };

struct Terminal {
  std::ostream& out;
  std::ostream& err;
  std::istream& in;
  Presence presence = Presence::script;  ///< whether somebody can answer a question
};

/// Global flags.
struct Settings {
  std::string api, token, reason, output = "table";
  bool wait = false, dry_run = false, yes = false;
  Duration timeout = minutes(10);
};

/// ${XDG_CONFIG_HOME:-~/.config}/tundish/context.yaml
struct ContextFile {
  std::string api, token_file, ca_file, lab;
  void fields(Fields& f) {
    f(1, "api", api, "address of the API");
    f(2, "token_file", token_file, "file that holds the bearer token");
    f(3, "ca_file", ca_file, "PEM that signs the API's certificate; empty: the system's store");
    f(4, "lab", lab, "name of the lab on this machine, or its root folder; empty: none");
  }
};

enum class CheckState { ok, warn, fail, unknown };
/// One line of doctor.
struct DoctorLine {
  std::string what;
  CheckState state = CheckState::unknown;
  std::string detail, remedy;
};

enum class Privacy { open, hidden };

class Context {
 public:
  using Variables = std::map<std::string, std::string>;
  Context(Terminal terminal, Variables variables)
      : terminal_(terminal), variables_(std::move(variables)) {}

  Terminal& terminal() { return terminal_; }
  std::ostream& out() { return terminal_.out; }
  Settings& settings() { return settings_; }
  OutputForm form() const;
  std::string variable(const std::string& name) const;

  std::string context_path() const;
  /// Empty when there is no such file.
  Result<ContextFile> load_context() const;
  Result<> save_context(const ContextFile& file) const;
  Result<ApiClient> connect() const;

  /// Sends a change; in a dry run the API only checks it, and nothing is returned.
  Result<std::optional<std::string>> change(ApiChange change, Privacy privacy = Privacy::open);
  /// Asks a person; --yes answers. false: say nothing further, exit with 130.
  bool confirm(const std::string& what_is_lost);
  /// Progress, on standard error.
  void note(const std::string& line);
  /// Prints the Error and returns its exit code.
  int fail(Error error);
  int fail_flag(const std::string& message);

  /// Further lines for doctor, from rooms that edge cannot see.
  std::vector<std::function<DoctorLine()>> doctor_probes;
  /// Argument of ssh's ProxyCommand that reaches nodes of a lab; set by the program.
  std::function<std::string(const std::string& lab, const std::string& node)> lab_proxy;
  /// Checks that there are and the limits that they ask for; empty: nobody says. Set by the
  /// program.
  std::vector<control::KnownCheck> known_checks;
  std::vector<KnownLimit> known_limits;
  /// The catalogue that was shipped with this program; set by the program.
  std::string catalog_dir = "/usr/share/tundish/catalog";
  /// API, token and lab of a lab on this machine, by name or root folder; set by the program.
  std::function<Result<ContextFile>(const std::string& lab)> find_lab;

 private:
  Terminal terminal_;
  Variables variables_;
  Settings settings_;
};

template <Described T>
Result<int> show_object(Context& context, const std::string& body,
                        const std::function<std::string(const T&)>& text = {}) {
  if (context.form() == OutputForm::json) {
    context.out() << indent_json(body);
    return exit_done;
  }
  const T object = TRY(parse_object<T>(body));
  const bool is_yaml = context.form() == OutputForm::yaml;
  context.out() << (is_yaml ? render_yaml(describe_const(object))
                    : text  ? text(object)
                            : render_detail(describe_const(object)));
  return exit_done;
}

template <Described T>
Result<int> show_items(Context& context, const std::vector<std::string>& items,
                       const Listing<T>& listing) {
  const auto objects = TRY(parse_objects<T>(items));
  context.out() << render_items(context.form(), items, objects, listing);
  return exit_done;
}

/// Sends a change and shows the object that comes back, or one line about it.
template <Described T>
Result<int> change_and_show(Context& context, const ApiChange& change,
                            const std::function<std::string(const T&)>& text) {
  const auto body = TRY(context.change(change));
  return body ? show_object<T>(context, *body, text) : Result<int>(exit_done);
}

}  // namespace tundish::edge::cli
