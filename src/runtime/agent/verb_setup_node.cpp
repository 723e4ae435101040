#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "base/text.hpp"
#include "runtime/agent/accounts.hpp"
#include "runtime/agent/export_mount.hpp"
#include "runtime/agent/mounts.hpp"
#include "runtime/agent/sample_maker.hpp"
#include "runtime/agent/ssh_service.hpp"
#include "runtime/agent/stages.hpp"
#include "runtime/agent/teardown.hpp"
#include "runtime/agent/text_block.hpp"
#include "runtime/agent/validate.hpp"

namespace tundish::agent {
namespace {

bool has_service(const SetupNode& setup, const std::string& name) {
  return std::count(setup.services.begin(), setup.services.end(), name) != 0;
}

Result<> check_arguments(const SetupNode& setup, const VerbTools& tools) {
  TRY_VOID(validate(setup));
  for (const auto& mount : setup.exports) {
    TRY_VOID(validate_export(mount, tools.config.bind_root));
  }
  if (setup.interface == tools.config.oob_interface) {
    return make_error(Code::denied, "the out-of-band port is not a tenant's");
  }
  const auto membership = TRY(load_membership(tools.config.state_dir));
  if (!membership.cluster.empty() && membership.cluster != setup.cluster) {
    return make_error(Code::conflict, "the node is still set up for cluster " + membership.cluster)
        .with_remedy("leave_cluster first");
  }
  return {};
}

Result<> apply_exports(const SetupNode& setup, const VerbTools& tools, const Deadline& deadline) {
  const ExportRecord record(tools.config.state_dir);
  const auto before = TRY(record.load());
  std::vector<ExportMount> gone;
  for (const auto& old : before) {
    const bool stays = std::any_of(setup.exports.begin(), setup.exports.end(), [&](const auto& e) {
      return e.target == old.target && e.source == old.source && e.type == old.type;
    });
    if (!stays) gone.push_back(old);
  }
  TRY_VOID(unmount_exports(gone, deadline.at_most(seconds(10))));
  TRY_VOID(record.save(setup.exports));  // before mounting: a crash leaves none unknown
  TRY_VOID(write_export_access(setup, tools.paths));
  for (const auto& mount : setup.exports) {
    const Duration limit = deadline.at_most(seconds(30));
    const Result<> mounted = mount.type == "sshfs" ? mount_sshfs(mount, tools.paths, limit)
                                                   : mount_export(mount, limit);
    if (!mounted) return mounted.error();
  }
  return {};
}

Result<> apply_network(const SetupNode& setup, const Deadline& deadline) {
  const std::string beside = setup.storage ? setup.storage->address + "/32" : "";
  TRY_VOID(apply_address(
      {setup.interface, setup.address, setup.prefix_length, Others::flush, "", beside},
      deadline.left()));
  return apply_storage_route(setup, deadline.left());
}

Result<> apply_users(const SetupNode& setup, const VerbTools& tools) {
  TRY_VOID(apply_accounts(tools.paths.etc, setup.users));
  TRY_VOID(write_ssh_keys(setup.users, tools.paths));
  for (const auto& user : setup.users) {
    TRY_VOID(make_home("/home", user));
    for (const auto& mount : setup.exports) TRY_VOID(make_home(mount.target, user));
  }
  return {};
}

Result<> start_engine(const SetupNode& setup, const VerbTools& tools) {
  if (has_service(setup, "slurmd")) {
    TRY(start_slurm_node(setup, tools.paths));
  } else if (!setup.munge_key.empty()) {
    TRY(start_slurm_login(setup, tools.paths));
  }
  return {};
}

}  // namespace

Result<VerbNote> verb_setup_node(const VerbCall& call, const VerbTools& tools) {
  if (!call.setup_node) return make_error(Code::invalid, "setup_node has no arguments");
  const SetupNode& setup = *call.setup_node;
  TRY_VOID(check_arguments(setup, tools));
  const Deadline deadline(milliseconds(call.limit_ms));
  Stages stages;
  const auto before = TRY(load_membership(tools.config.state_dir));
  if (before.cluster.empty() && tools.samples) tools.samples->forget_links();
  TRY_VOID(save_membership(tools.config.state_dir, {setup.cluster, setup.interface}));
  TRY_VOID(stages.run("network", [&] { return apply_network(setup, deadline); }));
  TRY_VOID(stages.run("names", [&] {
    return write_block(tools.paths.etc + "/hosts", {setup.cluster, render_names(setup.hosts)});
  }));
  TRY_VOID(stages.run("storage", [&] { return apply_exports(setup, tools, deadline); }));
  TRY_VOID(stages.run("users", [&] { return apply_users(setup, tools); }));
  TRY_VOID(stages.run("engine", [&] { return start_engine(setup, tools); }));
  TRY_VOID(stages.run("sshd", [&]() -> Result<> {
    if (has_service(setup, "sshd")) return start_sshd(setup, tools.paths);
    return stop_sshd(tools.paths);
  }));
  return VerbNote{stages.render(), {}, {}};
}

}  // namespace tundish::agent
