#include <sys/stat.h>

#include <chrono>
#include <exception>

#include "base/log.hpp"
#include "runtime/agent/verbs.hpp"

namespace tundish::agent {
namespace {

Result<VerbNote> run_verb(const VerbCall& call, const VerbTools& tools) {
  switch (call.verb) {
    case Verb::setup_node: return verb_setup_node(call, tools);
    case Verb::leave_cluster: return verb_leave_cluster(call, tools);
    case Verb::setup_controller: return verb_setup_controller(call, tools);
    case Verb::stop_controller: return verb_stop_controller(call, tools);
    case Verb::engine_commands: return verb_engine_commands(call, tools);
    case Verb::engine_observe: return verb_engine_observe(call, tools);
    case Verb::run_checks: return verb_run_checks(call, tools);
    case Verb::reset_gpus: return verb_reset_gpus(call, tools);
    case Verb::wipe: return verb_wipe(call, tools);
    case Verb::inject: return verb_inject(call, tools);
    case Verb::probe_network: return verb_probe_network(call, tools);
    case Verb::read_load: return verb_read_load(call, tools);
  }
  return make_error(Code::unsupported, "this agent does not know the verb");
}

/// Whoever wants the node does not wait for a check that has time.
bool ends_active_runs(Verb verb) {
  return verb == Verb::setup_node || verb == Verb::leave_cluster || verb == Verb::reset_gpus ||
         verb == Verb::wipe;
}

Result<VerbNote> run_guarded(const VerbCall& call, const VerbTools& tools) {
  try {
    return run_verb(call, tools);
  } catch (const std::exception& thrown) {  // of the standard library: file systems, memory
    return make_error(Code::internal, thrown.what());
  }
}

std::string name_of(Verb verb) {
  return std::string(enum_names(Verb{})[static_cast<std::size_t>(verb)]);
}

}  // namespace

bool is_on_hold(const AgentConfig& config) {
  struct stat info {};
  return ::stat(config.hold_file.c_str(), &info) == 0;
}

bool is_forbidden_on_hold(Verb verb) {
  switch (verb) {
    case Verb::setup_node:
    case Verb::leave_cluster:
    case Verb::setup_controller:
    case Verb::reset_gpus:
    case Verb::wipe: return true;
    case Verb::stop_controller:
    case Verb::engine_commands:
    case Verb::engine_observe:
    case Verb::run_checks:
    case Verb::inject:
    case Verb::probe_network:
    case Verb::read_load: return false;
  }
  return true;
}

bool is_read_only(Verb verb) {
  return verb == Verb::engine_observe || verb == Verb::run_checks ||
         verb == Verb::probe_network || verb == Verb::read_load;
}

std::string lane_of(const VerbCall& call) {
  switch (call.verb) {
    case Verb::setup_node:
    case Verb::leave_cluster:
    case Verb::reset_gpus:
    case Verb::wipe: return "node";
    case Verb::setup_controller:
    case Verb::stop_controller:
    case Verb::engine_commands:
    case Verb::engine_observe: return "cluster/" + call.cluster;
    case Verb::run_checks:
      // Passive ones are quick and wait for no active one.
      return call.run_checks && call.run_checks->is_leased() ? "active" : "checks";
    case Verb::inject: return "inject";
    case Verb::read_load: return "load";
    case Verb::probe_network:
      return "probe/" + (call.net_probe ? call.net_probe->interface : std::string());
  }
  return "node";
}

VerbResult execute(const VerbCall& call, const VerbTools& tools) {
  const auto start = std::chrono::steady_clock::now();
  log(LogLevel::info, "verb_started", {{"key", call.key}, {"verb", name_of(call.verb)}});
  Result<VerbNote> note;
  if (is_forbidden_on_hold(call.verb) && is_on_hold(tools.config)) {
    note = make_error(Code::denied, "hold file");
  } else {
    if (tools.leases && ends_active_runs(call.verb)) {
      tools.leases->preempt("the node is wanted: " + name_of(call.verb));
    }
    note = run_guarded(call, tools);
  }
  VerbResult result;
  result.key = call.key;
  result.ok = note.has_value();
  if (note) {
    result.what = std::move(note->what);
    result.text = std::move(note->text);
    result.verdicts = std::move(note->verdicts);
    result.load = std::move(note->load);
  } else {
    result.code = code_name(note.error().code);
    result.what = note.error().message();
  }
  const auto took = std::chrono::steady_clock::now() - start;
  result.took = microseconds(std::chrono::duration_cast<std::chrono::microseconds>(took).count());
  log(result.ok ? LogLevel::info : LogLevel::warn, "verb_ended",
      {{"key", call.key},
       {"verb", name_of(call.verb)},
       {"code", result.code},
       {"what", result.what},
       {"took_ms", result.took.ms()}});
  return result;
}

}  // namespace tundish::agent
