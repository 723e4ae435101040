#include "apps/tundish/cmd_lab.hpp"

#include <unistd.h>

#include <filesystem>
#include <ostream>

#include "apps/tundish/lab_choice.hpp"
#include "apps/tundish/lab_connect.hpp"
#include "apps/tundish/lab_files.hpp"
#include "base/text.hpp"
#include "edge/cli/interrupt.hpp"
#include "edge/cli/run_ssh.hpp"
#include "edge/cli/wait.hpp"
#include "lab/node_init.hpp"
#include "lab/supervisor.hpp"
#include "runtime/process/process.hpp"

namespace tundish {
namespace {

namespace cli = edge::cli;
using cli::Need;

constexpr Duration daemon_limit = seconds(30);

struct LabArgs {
  lab::LabSpec spec;
  std::string lab, node, at, user, identity_file, keep, fabric = "frr", end, other;
  std::vector<std::string> words;
  int uid = 0, port = 22, tasks = 40, for_s = 60, delay_ms = 500;
  bool keep_logs = false;
};

/// Named by a flag, else by the context, else "lab".
Result<std::string> chosen_lab(cli::Context& context, const LabArgs& args) {
  if (!args.lab.empty()) return resolve_lab(context, args.lab);
  const auto file = TRY(context.load_context());
  return file.lab.empty() ? std::string("lab") : file.lab;
}

Result<lab::LabPaths> chosen_paths(cli::Context& context, const LabArgs& args) {
  return lab_paths(TRY(chosen_lab(context, args)));
}

/// How a later command finds the lab: by name where the root follows from it.
std::string context_name(const lab::LabSpec& spec) {
  const std::string root = lab::paths_of(spec).root;
  return root == lab::default_root(spec.name) ? spec.name : root;
}

/// Nodes are up when lab_up returns; tundishd opens its socket a moment later.
Result<std::string> missing_daemon(const std::string& api) {
  const cli::ApiClient client(cli::Endpoint{api, "", ""});
  const auto contact = client.contact("/healthz");
  if (!contact) return std::string("tundishd does not answer yet");
  return contact->status == 200 ? "" : "tundishd answers " + std::to_string(contact->status);
}

Result<int> await_daemon(cli::Context& context, const lab::LabPaths& paths,
                         const std::string& api) {
  const Duration asked = context.settings().timeout;
  context.settings().timeout = std::min(asked, daemon_limit);
  const int code =
      TRY(cli::wait_until(context, {"tundishd", "tail " + paths.log() + "/tundishd.log"},
                          [&] { return missing_daemon(api); }));
  context.settings().timeout = asked;
  return code;
}

/// The first count that no lab can have; empty when there is none.
std::string bad_count(const lab::LabSpec& spec) {
  struct Count {
    const char* flag;
    int value, least;
  };
  for (const Count& count :
       {Count{"--nodes", spec.nodes, 1}, Count{"--racks", spec.racks, 1},
        Count{"--gpus", spec.gpus, 0}, Count{"--service-nodes", spec.service_nodes, 0},
        Count{"--login-nodes", spec.login_nodes, 0}, Count{"--hcas", spec.hcas, 0},
        Count{"--domain-trays", spec.domain_trays, 0}}) {
    if (count.value >= count.least) continue;
    return std::string(count.flag) + " " + std::to_string(count.value) + " is below " +
           std::to_string(count.least);
  }
  return "";
}

Result<int> up(cli::Context& context, LabArgs args) {
  args.spec.fabric = args.fabric == "frr" ? lab::FabricKind::frr : lab::FabricKind::flat;
  const std::string bad = bad_count(args.spec);
  if (!bad.empty()) return context.fail_flag("lab up: " + bad + "; nothing was started");
  if (args.spec.bin_dir.empty()) {
    args.spec.bin_dir = std::filesystem::path(own_path()).parent_path().string();
  }
  if (!args.spec.root.empty()) {
    args.spec.root = std::filesystem::absolute(args.spec.root).lexically_normal().string();
  }
  const lab::LabPaths paths = lab::paths_of(args.spec);
  const std::string size = std::to_string(args.spec.nodes) + " nodes of " +
                           std::to_string(args.spec.gpus) + " GPUs in " +
                           std::to_string(args.spec.racks) + " racks";
  if (context.settings().dry_run) {
    context.note("dry run: would start lab " + args.spec.name + " with " + size + " at " +
                 paths.root);
    return cli::exit_done;
  }
  context.note("lab " + args.spec.name + ": starting " + size);
  TRY_VOID(lab::lab_up(args.spec, TRY(lab_files(args.spec))));
  const LabAccess access = lab_access(paths);
  // Before waiting: the lab is there, whether or not its tundishd answers in time.
  TRY_VOID(context.save_context({access.api, access.token_file, "", context_name(args.spec)}));
  if (args.spec.start_daemon) {
    const int code = TRY(await_daemon(context, paths, access.api));
    if (code != cli::exit_done) return code;
  }
  context.note("lab " + args.spec.name +
               " is up; `tundish status` looks at it, and `tundish lab "
               "down` ends it");
  return cli::exit_done;
}

/// Commands must not go on to mean a lab that is gone.
Result<> forget_lab(cli::Context& context, const lab::LabPaths& gone) {
  const auto file = TRY(context.load_context());
  if (file.lab.empty() || lab_paths(file.lab).root != gone.root) return {};
  return context.save_context({});
}

Result<int> down(cli::Context& context, const LabArgs& args) {
  const std::string chosen = TRY(chosen_lab(context, args));
  const lab::LabPaths paths = lab_paths(chosen);
  std::error_code ignored;
  // A lab is where its root is: ending one by its name alone might hit another's processes.
  if (!std::filesystem::exists(paths.root, ignored)) {
    const Error none = no_lab_error(context, chosen);
    if (!context.settings().dry_run) TRY_VOID(forget_lab(context, paths));
    context.note(none.what + ": nothing to end\n  " + none.remedy);
    // Whoever names a lab means one that there is: another one may run on under a slip of the name.
    return args.lab.empty() ? cli::exit_done : cli::exit_tool_error;
  }
  if (context.settings().dry_run) {
    context.note("dry run: would end the lab at " + paths.root);
    return cli::exit_done;
  }
  context.note("lab at " + paths.root + ": ending it, some seconds");
  // Idempotent: without the file only name and root are known, which is enough to clean up.
  lab::LabSpec spec;
  spec.name = std::filesystem::path(paths.root).filename().string();
  spec.root = paths.root;
  if (const auto known = lab::load_spec(paths.spec_file())) spec = *known;
  TRY_VOID(lab::lab_down(spec, args.keep_logs ? lab::KeepLogs::yes : lab::KeepLogs::no));
  TRY_VOID(forget_lab(context, paths));
  context.note("lab " + spec.name + " is down");
  return cli::exit_done;
}

std::string render_lab(const lab::LabStatus& status) {
  std::string out = "lab " + status.name + ": " + status.state;
  if (status.supervisor_pid != 0) {
    out += "   tundishd " + std::string(status.daemon_running ? "runs" : "does not run") +
           ", started " + std::to_string(status.daemon_starts) + " times";
  }
  if (!status.daemon_failure.empty()) {
    out += "\ntundishd does not stay up: " + status.daemon_failure +
           "\n  mend what it names; `tundishd --check --config FILE` tells whether it would start";
  }
  std::vector<cli::Cells> rows;
  for (const auto& node : status.nodes) {
    rows.push_back({node.name, node.role, node.phase, std::to_string(node.boots),
                    cli::or_dash(node.oob_address), cli::or_dash(node.bmc_address),
                    cli::or_dash(node.failure)});
  }
  out += "\n";
  if (!rows.empty()) {
    out += render_table({"NODE", "ROLE", "POWER", "BOOTS", "OOB", "BMC", "FAILURE"}, rows);
  }
  rows.clear();
  for (const auto& one : status.switches) {
    rows.push_back({one.name, one.role, one.phase, std::to_string(one.starts),
                    one.management_address, cli::or_dash(join(one.cut, " ")),
                    cli::or_dash(one.failure)});
  }
  if (rows.empty()) return out;
  return out + "\n" +
         render_table({"SWITCH", "ROLE", "STATE", "STARTS", "ADDRESS", "CUT", "FAILURE"}, rows);
}

Result<int> status(cli::Context& context, const LabArgs& args) {
  const lab::LabPaths paths = TRY(chosen_paths(context, args));
  const auto told = TRY(lab::lab_status(paths));
  TRY_VOID(cli::show_object<lab::LabStatus>(context, render_json(told), render_lab));
  const bool well = told.state == "ready" && told.daemon_failure.empty();
  return well ? cli::exit_done : cli::exit_unknown;
}

Result<int> exec(cli::Context& context, const LabArgs& args) {
  lab::LabExec exec;
  exec.node = args.node;
  exec.argv = args.words.empty() ? std::vector<std::string>{"bash", "-l"} : args.words;
  exec.uid = args.uid;
  return lab::lab_enter(TRY(chosen_paths(context, args)), exec);
}

/// Tasks that do nothing but run, in the node's own control group: everything else on it waits.
Result<int> hog(cli::Context& context, const LabArgs& args) {
  if (args.tasks < 1 || args.for_s < 1) {
    return context.fail_flag("lab hog: --tasks and --for are at least 1; nothing was started");
  }
  const std::string tasks = std::to_string(args.tasks), time = std::to_string(args.for_s);
  if (context.settings().dry_run) {
    context.note("dry run: would run " + tasks + " busy tasks on " + args.node + " for " + time +
                 " s");
    return cli::exit_done;
  }
  lab::LabExec exec;
  exec.node = args.node;
  const std::string one = "timeout " + time + " bash -c \"while :; do :; done\"";
  exec.argv = {"setsid", "bash", "-c",
               "for i in $(seq " + tasks + "); do " + one + " </dev/null >/dev/null 2>&1 & done"};
  return lab::lab_enter(TRY(chosen_paths(context, args)), exec);
}

/// What a person with a screwdriver does to switches and cables.
Result<int> post(cli::Context& context, const LabArgs& args, const lab::LabCall& call,
                 const std::string& what) {
  const lab::LabPaths paths = TRY(chosen_paths(context, args));
  if (context.settings().dry_run) {
    context.note("dry run: would send " + call.body + " to " + call.path + " of the lab");
    return cli::exit_done;
  }
  (void)TRY(lab::call_lab(paths, call));
  context.note("done: " + what);
  return cli::exit_done;
}

template <class E>
std::string word_of(E value) {
  return std::string(enum_names(value)[static_cast<std::size_t>(value)]);
}

Result<int> touch_cable(cli::Context& context, const LabArgs& args, lab::CableFault action) {
  const lab::CableRequest request{args.end, action};
  return post(context, args, {"POST", "/cable", render_json(request)},
              "cable at " + args.end + ": " + word_of(action));
}

Result<int> swap_cables(cli::Context& context, const LabArgs& args) {
  const lab::SwapRequest request{args.end, args.other};
  return post(context, args, {"POST", "/swap", render_json(request)},
              "the cables at " + args.end + " and " + args.other + " changed places");
}

Result<int> touch_switch(cli::Context& context, const LabArgs& args, lab::SwitchVerb action) {
  const lab::SwitchRequest request{args.node, action};
  return post(context, args, {"POST", "/switch", render_json(request)},
              "switch " + args.node + ": " + word_of(action));
}

Result<int> touch_storage(cli::Context& context, const LabArgs& args, lab::StorageVerb action) {
  const lab::StorageRequest request{action, args.delay_ms};
  return post(context, args, {"POST", "/storage", render_json(request)},
              "storage stor1: " + word_of(action));
}

/// One word of a shell command line.
std::string quote(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

/// `node` has the address: tenants may have the same.
std::string proxy_command(const std::string& lab, const std::string& node) {
  return quote(own_path()) + " lab connect --lab " + quote(lab) +
         (node.empty() ? "" : " --at " + quote(node)) + " %h %p";
}

Result<int> ssh(cli::Context& context, const LabArgs& args) {
  const std::string lab = TRY(chosen_lab(context, args));
  return cli::run_ssh({args.user, args.node, args.identity_file, proxy_command(lab, ""), args.words,
                       "node " + args.node});
}

Result<int> connect(cli::Context& context, const LabArgs& args) {
  TRY_VOID(connect_in_lab(TRY(chosen_paths(context, args)), {args.node, args.at, args.port}));
  return cli::exit_done;
}

cli::DoctorLine look_at_lab(cli::Context& context) {
  const auto file = context.load_context();
  if (!file) return {"lab", cli::CheckState::unknown, file.error().what, file.error().remedy};
  if (file->lab.empty()) return {"lab", cli::CheckState::ok, "none is used", ""};
  const auto told = lab::lab_status(lab_paths(file->lab));
  if (!told) return {"lab", cli::CheckState::fail, told.error().what, "`tundish lab up`"};
  if (told->state != "ready") {
    return {"lab", cli::CheckState::fail, told->name + " is " + told->state, "`tundish lab up`"};
  }
  if (!told->daemon_failure.empty()) {
    return {"lab", cli::CheckState::fail, "tundishd does not stay up: " + told->daemon_failure,
            "`tundish lab status` says more"};
  }
  int failed = 0;
  for (const auto& node : told->nodes) failed += node.phase == "failed" ? 1 : 0;
  if (failed > 0) {
    return {"lab", cli::CheckState::warn, std::to_string(failed) + " nodes did not boot",
            "`tundish lab status` says why"};
  }
  return {"lab", cli::CheckState::ok, told->name + " runs", ""};
}

using Args = std::shared_ptr<LabArgs>;

void take_lab(cli::Command verb, const Args& args) {
  verb.take({"--lab,--name", "name of the lab, or its root folder"}, args->lab);
}

void add_life(cli::Command noun, cli::Context& context, const Args& args) {
  lab::LabSpec& spec = args->spec;
  cli::Command up_verb = noun.verb("up", "start a virtual data centre on this machine");
  up_verb.take({"--name", "name of the lab"}, spec.name);
  up_verb.take({"--nodes", "GPU nodes"}, spec.nodes);
  up_verb.take({"--racks", "racks"}, spec.racks);
  up_verb.take({"--gpus", "GPUs per node"}, spec.gpus);
  up_verb.take({"--service-nodes", "nodes for engine controllers"}, spec.service_nodes);
  up_verb.take({"--login-nodes", "nodes that users log in to"}, spec.login_nodes);
  up_verb.take({"--fabric",
                "switches: frr (FRR routers, the default) or flat (one bridge per segment)",
                Need::optional,
                {"flat", "frr"}},
               args->fabric);
  up_verb.take({"--domain-trays", "GPU nodes, from n01, that are trays of one NVLink domain"},
               spec.domain_trays);
  up_verb.take({"--spines", "spine switches of an frr fabric"}, spec.spines);
  up_verb.take({"--hcas", "InfiniBand ports per GPU node with --fabric frr; 0: none"}, spec.hcas);
  up_verb.take({"--root", "folder for its state; empty: /var/lib/tundish-lab/NAME"}, spec.root);
  up_verb.take({"--bin-dir", "folder with tundishd and tundish-agent; empty: this program's"},
               spec.bin_dir);
  up_verb.run([&context, args] { return up(context, *args); });
  cli::Command down_verb = noun.verb("down", "end it and remove everything it made");
  take_lab(down_verb, args);
  down_verb.take({"--keep-logs", "leave its log folder"}, args->keep_logs);
  down_verb.run([&context, args] { return down(context, *args); });
  cli::Command status_verb = noun.verb("status", "power and boots of every node");
  take_lab(status_verb, args);
  status_verb.run([&context, args] { return status(context, *args); });
  add_lab_choice(noun, context);
}

void add_access(cli::Command noun, cli::Context& context, const Args& args) {
  cli::Command exec_verb =
      noun.verb("exec", "run a program inside a node or switch, as its console would");
  take_lab(exec_verb, args);
  exec_verb.take({"node", "name of the node", Need::required}, args->node);
  exec_verb.take({"--uid", "numeric user; 0: root"}, args->uid);
  exec_verb.take_rest({"command", "what to run; nothing: a shell"}, args->words);
  exec_verb.run([&context, args] { return exec(context, *args); });
  cli::Command hog_verb = noun.verb("hog", "keep a node's CPUs busy, so that all else on it waits");
  take_lab(hog_verb, args);
  hog_verb.take({"node", "name of the node", Need::required}, args->node);
  hog_verb.take({"--tasks", "busy tasks"}, args->tasks);
  hog_verb.take({"--for", "seconds until they end by themselves"}, args->for_s);
  hog_verb.run([&context, args] { return hog(context, *args); });
  cli::Command ssh_verb = noun.verb("ssh", "log in to a node by ssh, through the lab's network");
  take_lab(ssh_verb, args);
  ssh_verb.take({"node", "name of the node, or an address that a node has", Need::required},
                args->node);
  ssh_verb.take({"--user", "who logs in", Need::required}, args->user);
  ssh_verb.take({"--identity", "file with the user's private key"}, args->identity_file);
  ssh_verb.take_rest({"command", "what to run; nothing: a shell"}, args->words);
  ssh_verb.run([&context, args] { return ssh(context, *args); });
  cli::Command connect_verb = noun.verb("connect", "TCP connection for ssh's ProxyCommand");
  connect_verb.hide();
  take_lab(connect_verb, args);
  connect_verb.take({"address", "node or address", Need::required}, args->node);
  connect_verb.take({"port", "TCP port", Need::required}, args->port);
  connect_verb.take({"--at", "node that has the address"}, args->at);
  connect_verb.run([&context, args] { return connect(context, *args); });
}

void add_fabric(cli::Command noun, cli::Context& context, const Args& args) {
  cli::Command cable = noun.noun("cable", "cables of an frr fabric, as a hand in the rack");
  const std::string end = "SWITCH/PORT, NODE/INTERFACE or NODE/HCA at an end of it";
  const auto one = [&](lab::CableFault action, const std::string& name, const std::string& doc) {
    cli::Command verb = cable.verb(name, doc);
    take_lab(verb, args);
    verb.take({"end", end, Need::required}, args->end);
    verb.run([&context, args, action] { return touch_cable(context, *args, action); });
  };
  one(lab::CableFault::cut, "cut", "no link at either end");
  one(lab::CableFault::mend, "mend", "as before it was cut");
  one(lab::CableFault::flap, "flap", "cut for 0.3 s");
  cli::Command swap = cable.verb("swap", "two cables change places: both nodes are miswired");
  take_lab(swap, args);
  swap.take({"end", end, Need::required}, args->end);
  swap.take({"other", "the same of the other cable", Need::required}, args->other);
  swap.run([&context, args] { return swap_cables(context, *args); });

  cli::Command box =
      noun.noun("switch", "switches of an frr fabric, its manager sm1 and storage stor1");
  const auto touch = [&](lab::SwitchVerb action, const std::string& name, const std::string& doc) {
    cli::Command verb = box.verb(name, doc);
    take_lab(verb, args);
    verb.take({"switch", "name of the switch", Need::required}, args->node);
    verb.run([&context, args, action] { return touch_switch(context, *args, action); });
  };
  touch(lab::SwitchVerb::off, "off", "power off: every port loses its link");
  touch(lab::SwitchVerb::on, "on", "power on, with what it had saved");
  touch(lab::SwitchVerb::freeze, "freeze", "its programs stop; it goes on forwarding");
  touch(lab::SwitchVerb::thaw, "thaw", "its programs go on");
}

void add_storage(cli::Command noun, cli::Context& context, const Args& args) {
  cli::Command storage = noun.noun("storage", "the storage server of an frr fabric, stor1");
  const auto touch = [&](lab::StorageVerb action, const std::string& name,
                         const std::string& doc) {
    cli::Command verb = storage.verb(name, doc);
    take_lab(verb, args);
    if (action == lab::StorageVerb::slow) {
      verb.take({"--delay-ms", "milliseconds between moments in which it answers a little"},
                args->delay_ms);
    }
    verb.run([&context, args, action] { return touch_storage(context, *args, action); });
  };
  touch(lab::StorageVerb::slow, "slow", "it answers late, until it is mended");
  touch(lab::StorageVerb::hang, "hang", "it stops answering, until it is mended");
  touch(lab::StorageVerb::mend, "mend", "it answers as before");
}

}  // namespace

void add_lab(cli::Command root, cli::Context& context) {
  cli::Command noun = root.noun("lab", "a virtual data centre on this machine");
  const auto args = std::make_shared<LabArgs>();
  add_life(noun, context, args);
  add_access(noun, context, args);
  add_fabric(noun, context, args);
  add_storage(noun, context, args);
  context.doctor_probes.push_back([&context] { return look_at_lab(context); });
  context.lab_proxy = proxy_command;
  context.find_lab = [&context](const std::string& lab) { return find_lab(context, lab); };
}

lab::LabPaths lab_paths(const std::string& name_or_root) {
  const bool is_root = name_or_root.find('/') != std::string::npos;
  return {is_root ? name_or_root : lab::default_root(name_or_root)};
}

std::string own_path() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).string();
}

}  // namespace tundish
