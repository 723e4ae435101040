#include "edge/cli/cluster_exec.hpp"

#include "base/text.hpp"
#include "edge/cli/run_ssh.hpp"
#include "edge/cli/simple_kind.hpp"
#include "model/allocation.hpp"

namespace tundish::edge::cli {
namespace {

struct ExecArgs {
  std::string name, user, identity_file;
  std::vector<std::string> words;
};

/// Name of the cluster's login node: other tenants' may have the same address.
Result<std::string> login_node(const ApiClient& client, const Cluster& cluster) {
  const auto held = TRY(
      get_object<Allocation>(client, api_path({"allocations", cluster.status.allocation.str()})));
  for (const auto& member : held.status.nodes) {
    if (member.role != MemberRole::login) continue;
    return TRY(get_object<Node>(client, api_path({"nodes", member.node.str()}))).meta.name;
  }
  return make_error(Code::not_found, "cluster " + cluster.meta.name + " has no login node");
}

Result<int> exec(Context& context, const ExecArgs& args) {
  const ApiClient client = TRY(context.connect());
  const auto cluster = TRY(get_object<Cluster>(client, api_path({"clusters", args.name})));
  if (cluster.status.login_address.empty()) {
    return make_error(Code::conflict, "cluster " + args.name + " has no login node (it is " +
                                          word(cluster.status.phase) + ")")
        .with_remedy("wait until it is active; one made with --no-login has none");
  }
  const ContextFile file = TRY(context.load_context());
  const bool has_gateway = !cluster.status.access_address.empty();
  LoginCall call{args.user,
                 has_gateway ? cluster.status.access_address : cluster.status.login_address,
                 args.identity_file,
                 "",
                 args.words,
                 "cluster " + args.name};
  if (!file.lab.empty() && context.lab_proxy) {
    const std::string node = has_gateway ? "" : TRY(login_node(client, cluster));
    call.proxy = context.lab_proxy(file.lab, node);
  }
  if (context.settings().dry_run) {
    context.note("dry run: would run " + join(ssh_argv(call), " "));
    return exit_done;
  }
  return run_ssh(call);
}

}  // namespace

void add_cluster_exec(Command noun, Context& context) {
  const auto args = std::make_shared<ExecArgs>();
  Command verb = noun.verb("exec", "run a command, or log in, on the cluster's login node");
  verb.take({"name", "name or id of the cluster", Need::required}, args->name);
  verb.take({"--user", "who runs it", Need::required}, args->user);
  verb.take({"--identity", "file with the user's private key"}, args->identity_file);
  verb.take_rest({"command", "what to run; nothing: a shell"}, args->words);
  verb.run([&context, args] { return exec(context, *args); });
}

}  // namespace tundish::edge::cli
