#include "edge/cli/cluster_exec.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/text.hpp"
#include "edge/cli/simple_kind.hpp"
#include "model/allocation.hpp"

namespace tundish::edge::cli {
namespace {

struct ExecArgs {
  std::string name, user, identity_file;
  std::vector<std::string> words;
};

std::string quote(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
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
  LoginCall call{args.user, cluster.status.login_address, args.identity_file, "", args.words};
  if (!file.lab.empty() && context.lab_proxy) call.proxy = context.lab_proxy(file.lab);
  if (context.settings().dry_run) {
    context.note("dry run: would run " + join(ssh_argv(call), " "));
    return exit_done;
  }
  return replace_process(ssh_argv(call));
}

}  // namespace

std::vector<std::string> ssh_argv(const LoginCall& call) {
  // Nodes are re-imaged and addresses reused: a remembered host key would only cry wolf.
  std::vector<std::string> argv = {
      "ssh",           "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o",
      "LogLevel=ERROR"};
  if (!call.proxy.empty()) argv.insert(argv.end(), {"-o", "ProxyCommand=" + call.proxy});
  if (!call.identity_file.empty()) {
    argv.insert(argv.end(), {"-o", "IdentitiesOnly=yes", "-i", call.identity_file});
  }
  // With a command nobody is there to type a password.
  if (!call.words.empty()) argv.insert(argv.end(), {"-o", "BatchMode=yes"});
  argv.push_back("-l");
  argv.push_back(call.user);
  argv.push_back(call.address);
  if (call.words.empty()) return argv;
  argv.push_back("--");
  std::string line;
  for (const auto& one : call.words) line += (line.empty() ? "" : " ") + quote(one);
  argv.push_back(call.words.size() == 1 ? call.words.front() : line);
  return argv;
}

Error replace_process(std::vector<std::string> argv) {
  std::vector<char*> words;
  for (auto& one : argv) words.push_back(one.data());
  words.push_back(nullptr);
  ::execvp(words.front(), words.data());
  return make_error(Code::unsupported, "cannot run " + argv.front() + ": " + std::strerror(errno))
      .with_remedy("is it installed?");
}

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
