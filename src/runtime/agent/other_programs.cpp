#include "runtime/agent/other_programs.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <ctime>

#include "base/text.hpp"
#include "codec/foreign_verdicts.hpp"
#include "runtime/process/process.hpp"

namespace tundish::agent {
namespace {

constexpr Duration ask_limit = seconds(10);
/// A word that is older says nothing of now.
constexpr std::int64_t oldest_s = 1800;
/// NHC's log grows for ever; its last run is at its end.
constexpr std::size_t tail_bytes = 256 << 10;

Verdict silent(const char* source, const std::string& why) {
  Verdict out;
  out.check = "other_programs";
  out.source = source;
  out.state = VerdictState::unknown;
  out.reason = std::string(source) + ": " + why;
  return out;
}

void append(std::vector<Verdict>& out, std::vector<Verdict> more) {
  for (auto& verdict : more) out.push_back(std::move(verdict));
}

bool is_installed(const std::string& program) {
  if (program.find('/') != std::string::npos) return ::access(program.c_str(), X_OK) == 0;
  for (const char* const folder : {"/usr/bin/", "/usr/local/bin/", "/usr/sbin/", "/bin/"}) {
    if (::access((folder + program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

std::string tail_of(const std::string& path) {
  const auto text = process::read_file(path);
  if (!text) return "";
  return text->size() > tail_bytes ? text->substr(text->size() - tail_bytes) : *text;
}

/// A file that another program writes; a stale one is unknown.
template <class Parse>
void read_file_of(const char* source, const std::string& path, Parse&& parse,
                  std::vector<Verdict>& out) {
  struct stat info {};
  if (path.empty() || ::stat(path.c_str(), &info) != 0) return;
  const std::int64_t age = ::time(nullptr) - info.st_mtim.tv_sec;
  if (age > oldest_s) {
    out.push_back(silent(source, "its last word is older than half an hour"));
    return;
  }
  append(out, parse(tail_of(path)));
}

Result<std::string> ask(std::vector<std::string> argv) {
  process::Command command;
  command.argv = std::move(argv);
  command.limit = ask_limit;
  command.output_limit = 1 << 20;
  const auto output = TRY(process::run(command));
  if (output.timed_out) return make_error(Code::timeout, "it does not answer within 10 s");
  const bool answered = trim(output.out).starts_with("{") || trim(output.out).starts_with("[");
  if (output.exit_code != 0 && !answered) return make_error(Code::unavailable, output.summary());
  return output.out;
}

/// The tool without a running engine says so; then there is no witness.
bool is_engine_away(const Error& error) {
  const std::string what = to_lower(error.what);
  return what.find("unable to connect") != std::string::npos ||
         what.find("unable to establish") != std::string::npos;
}

void ask_dcgm(const AgentConfig& config, std::vector<Verdict>& out) {
  if (config.dcgm_tool.empty() || !is_installed(config.dcgm_tool)) return;
  const auto health = ask({config.dcgm_tool, "health", "-g", "0", "-c", "-j"});
  if (!health && is_engine_away(health.error())) return;
  if (health)
    append(out, parse_dcgm_health(*health));
  else
    out.push_back(silent("dcgm", health.error().what));
  const auto fields = ask({config.dcgm_tool, "dmon", "-e", "230,1523", "-c", "1"});
  if (fields) append(out, parse_dcgm_fields(*fields));
}

void ask_gpud(const AgentConfig& config, std::vector<Verdict>& out) {
  if (config.gpud_url.empty() || !is_installed("gpud")) return;
  // Its certificate is its own; the address is this node's.
  const auto states = ask({"curl", "-sk", "--max-time", "5", config.gpud_url});
  if (states)
    append(out, parse_gpud_states(*states));
  else
    out.push_back(silent("gpud", states.error().what));
}

}  // namespace

std::vector<Verdict> ask_other_programs(const AgentConfig& config, Instant now) {
  std::vector<Verdict> out;
  ask_dcgm(config, out);
  ask_gpud(config, out);
  read_file_of("nhc", config.nhc_log, parse_nhc_log, out);
  read_file_of("kubernetes", config.node_conditions, parse_node_conditions, out);
  read_file_of("soperator", config.soperator_results, parse_soperator_results, out);
  for (auto& verdict : out) verdict.at = now;
  return out;
}

}  // namespace tundish::agent
