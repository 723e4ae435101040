#include "runtime/agent/access_gateway.hpp"
#include "runtime/agent/cluster_network.hpp"
#include "runtime/agent/controller_address.hpp"
#include "runtime/agent/port_shield.hpp"
#include "runtime/agent/stages.hpp"
#include "runtime/agent/text_block.hpp"
#include "runtime/agent/validate.hpp"
#include "runtime/agent/verbs.hpp"

namespace tundish::agent {
namespace {

/// The port in a network of the cluster's own; where the node cannot make one, behind a shield.
Result<> place_cluster(const SetupController& setup, const VerbTools& tools) {
  if (can_make_networks()) {
    TRY_VOID(record_controller_address(tools.config.state_dir, setup, PortPlace::own_network));
    return place_port({setup.cluster, setup.interface}, seconds(10));
  }
  TRY_VOID(check_shared_prefix(tools.config.state_dir, setup));
  TRY_VOID(record_controller_address(tools.config.state_dir, setup, PortPlace::shared));
  return shield_port(setup.interface, setup.address, seconds(10));
}

/// Where nothing keeps clusters apart, or the node has no access interface, nobody comes in.
Result<> set_gateway(const SetupController& setup, const VerbTools& tools) {
  if (!can_make_networks()) {
    if (!setup.gateway) return {};
    return make_error(Code::unsupported, "a gateway needs a network namespace of its cluster's own")
        .with_remedy("let the agent make network namespaces");
  }
  if (!setup.gateway) return close_gateway(setup.cluster, seconds(10));
  const std::string& uplink = tools.config.access_interface;
  if (uplink.empty()) {
    return make_error(Code::unsupported, "this node has no access interface for a gateway")
        .about("cluster/" + setup.cluster)
        .with_remedy("name it in the agent's configuration: access_interface");
  }
  return open_gateway({setup.cluster, uplink, setup.interface}, *setup.gateway, seconds(10));
}

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
  // A service node serves several clusters, whose addresses may be the same: nobody may reach one
  // of them from the network of another.
  TRY_VOID(stages.run("place", [&] { return place_cluster(setup, tools); }));
  TRY_VOID(stages.run("network", [&] {
    AddressPlan plan{setup.interface, setup.address, setup.prefix_length, Others::keep};
    if (can_make_networks()) {
      plan.others = Others::flush;  // nobody else's are in there
      plan.network = cluster_network(setup.cluster);
    }
    return apply_address(plan, seconds(10));
  }));
  TRY_VOID(stages.run("names", [&] {
    return write_block(tools.paths.etc + "/hosts", {setup.cluster, render_names(setup.hosts)});
  }));
  TRY_VOID(stages.run("gateway", [&] { return set_gateway(setup, tools); }));
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
