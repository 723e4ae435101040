#include "runtime/agent/controller_address.hpp"
#include "runtime/agent/port_shield.hpp"
#include "runtime/agent/stages.hpp"
#include "runtime/agent/text_block.hpp"
#include "runtime/agent/validate.hpp"
#include "runtime/agent/verbs.hpp"

namespace tundish::agent {
namespace {

Result<> start_controller(const SetupController& setup, const AgentPaths& paths,
                          std::string& note) {
  note = TRY(setup_slurm_controller(setup, paths));
  return {};
}

}  // namespace

Result<VerbNote> verb_setup_controller(const VerbCall& call, const VerbTools& tools) {
  if (!call.setup_controller) return make_error(Code::invalid, "setup_controller has no arguments");
  const SetupController& setup = *call.setup_controller;
  TRY_VOID(validate(setup));
  if (setup.interface == tools.config.oob_interface) {
    return make_error(Code::denied, "the out-of-band port is not a tenant's");
  }
  Stages stages;
  TRY_VOID(record_controller_address(tools.config.state_dir, setup));
  // A service node serves several clusters: their addresses and names live side by side, and
  // nobody may reach one of them from the network of another.
  TRY_VOID(stages.run("shield",
                      [&] { return shield_port(setup.interface, setup.address, seconds(10)); }));
  TRY_VOID(stages.run("network", [&] {
    return apply_address({setup.interface, setup.address, setup.prefix_length, Others::keep},
                         seconds(10));
  }));
  TRY_VOID(stages.run("names", [&] {
    return write_block(tools.paths.etc + "/hosts", {setup.cluster, render_names(setup.hosts)});
  }));
  std::string note;
  TRY_VOID(stages.run("engine", [&] { return start_controller(setup, tools.paths, note); }));
  return VerbNote{stages.render() + (note.empty() ? "" : "; " + note), {}, {}};
}

Result<VerbNote> verb_stop_controller(const VerbCall& call, const VerbTools& tools) {
  TRY_VOID(validate_cluster(call.cluster));
  TRY_VOID(stop_slurm_controller(call.cluster, tools.paths));
  TRY_VOID(write_block(tools.paths.etc + "/hosts", {call.cluster, ""}));
  TRY_VOID(drop_controller_address(tools.config.state_dir, call.cluster));
  return VerbNote{};
}

Result<VerbNote> verb_engine_commands(const VerbCall& call, const VerbTools& tools) {
  TRY_VOID(validate_cluster(call.cluster));
  VerbNote note;
  note.what = TRY(run_engine_commands(call.cluster, call.commands, tools.paths));
  return note;
}

Result<VerbNote> verb_engine_observe(const VerbCall& call, const VerbTools& tools) {
  TRY_VOID(validate_cluster(call.cluster));
  VerbNote note;
  note.text = TRY(observe_engine(call.cluster, tools.paths));
  return note;
}

}  // namespace tundish::agent
