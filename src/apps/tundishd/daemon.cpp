#include "apps/tundishd/daemon.hpp"

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "apps/tundishd/catalogue.hpp"
#include "apps/tundishd/check_infos.hpp"
#include "apps/tundishd/first_start.hpp"
#include "apps/tundishd/lab_injector.hpp"
#include "apps/tundishd/network_plan.hpp"
#include "apps/tundishd/secret_vault.hpp"
#include "apps/tundishd/start_clock.hpp"
#include "apps/tundishd/webhook.hpp"
#include "base/log.hpp"
#include "base/quote.hpp"
#include "base/text.hpp"
#include "control/notice/desk.hpp"
#include "edge/api/agent_hub.hpp"
#include "edge/api/api.hpp"
#include "families/bmcs/redfish.hpp"
#include "families/checks/check.hpp"
#include "families/engines/driver.hpp"
#include "families/fabrics/driver_select.hpp"
#include "families/faults/fault.hpp"
#include "families/storage/export_script.hpp"
#include "families/switches/driver_select.hpp"
#include "runtime/net/http_client.hpp"
#include "runtime/net/http_server.hpp"
#include "runtime/net/ssh_exec.hpp"
#include "runtime/process/process.hpp"
#include "runtime/secret_box.hpp"
#include "runtime/store_sqlite/sqlite_store.hpp"

namespace tundish::tundishd {
namespace {

/// Tests kill the daemon at a named hook, as a power cut would.
std::function<void(const std::string&)> crash_hook(const DaemonConfig& config) {
  return [at = config.crash_at, nth = config.crash_nth, seen = 0](const std::string& hook) mutable {
    if (hook != at) return;
    if (++seen == nth) ::kill(::getpid(), SIGKILL);
  };
}

std::vector<edge::FaultKind> fault_kinds() {
  std::vector<edge::FaultKind> out;
  for (const auto* fault : families::list_faults()) {
    edge::FaultKind kind;
    kind.name = fault->name;
    kind.doc = fault->doc;
    kind.expected_detection = fault->expected_detection;
    kind.expected_action = fault->expected_action;
    kind.unavailable = fault->unavailable;
    out.push_back(std::move(kind));
  }
  return out;
}

Result<Injection> render_fault(const edge::FaultRequest& request, const Node& node) {
  const auto* fault = families::find_fault(request.kind);
  if (!fault) {
    return make_error(Code::not_found, "no fault is called " + shorten(request.kind))
        .with_remedy("list them: tundish fault kinds");
  }
  if (!fault->unavailable.empty()) {
    return make_error(Code::unsupported, request.kind + ": " + std::string(fault->unavailable))
        .with_remedy("choose another kind: tundish fault kinds");
  }
  families::FaultOrder order;
  order.node_name = node.meta.name;
  order.gpu = request.gpu;
  order.xid = request.xid;
  order.sticky = request.sticky;
  order.userspace = request.userspace;
  order.text = request.text;
  order.part = request.part;
  order.for_s = request.for_s;
  order.copies = request.copies;
  for (const auto& gpu : node.status.accepted_gpus) {
    if (gpu.index == request.gpu) order.pci = gpu.pci;
  }
  return fault->render(order);
}

void watch_hold_file(net::Loop& loop, control::Manager& manager, const std::string& file) {
  std::error_code ignored;
  manager.set_hold_file(std::filesystem::exists(file, ignored));
  loop.at(loop.now() + milliseconds(500),
          [&loop, &manager, file] { watch_hold_file(loop, manager, file); });
}

Result<std::vector<std::unique_ptr<net::HttpServer>>> listen_all(const DaemonConfig& config,
                                                                 net::Loop& loop, edge::Api& api) {
  std::vector<std::unique_ptr<net::HttpServer>> out;
  for (const auto& url : config.listen) {
    net::ListenOptions options;
    options.url = url;
    options.tls_cert = config.tls_cert;
    options.tls_key = config.tls_key;
    out.push_back(TRY(net::HttpServer::listen(loop, options,
                                              [&api](net::ServerRequest request, net::Reply reply) {
                                                api.handle(std::move(request), std::move(reply));
                                              })));
    log(LogLevel::info, "listening", {{"url", url}});
  }
  return out;
}

/// Names of sockets are short, so they cannot lie in the state folder.
Result<std::string> make_socket_dir() {
  char name[] = "/tmp/tundishd-XXXXXX";
  if (!::mkdtemp(name)) {
    return make_error(Code::unavailable, "no folder for ssh's sockets can be made in /tmp");
  }
  return std::string(name);
}

Result<> make_state_dir(const std::string& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) {
    return make_error(Code::unavailable, folder + ": " + failed.message())
        .with_remedy("set state_dir to a folder that can be made");
  }
  std::filesystem::permissions(folder, std::filesystem::perms::owner_all, failed);
  return {};
}

Result<std::string> bmc_password(const DaemonConfig& config) {
  if (config.bmc_password_file.empty()) return std::string();
  const std::string text = TRY(process::read_file(config.bmc_password_file));
  return std::string(trim(text));
}

control::Limits make_limits(const DaemonConfig& config) {
  control::Limits limits;
  limits.export_type = config.export_type;
  limits.export_source = config.export_source;
  return limits;
}

void start_all(control::Manager& manager, control::NoticeDesk& desk, StartClock& clock) {
  clock.watch();
  manager.start();
  desk.start();
}

void remove_quietly(const std::string& folder) {
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
}

void run_until_told(net::Loop& loop, const std::string& site) {
  loop.on_signals({SIGTERM, SIGINT}, [&loop](int) { loop.stop(); });
  log(LogLevel::info, "ready", {{"site", site}});
  loop.run();
}

}  // namespace

Result<> run_daemon(const DaemonConfig& config) {
  const Catalogues catalogues = TRY(load_catalogues(config));
  TRY_VOID(make_state_dir(config.state_dir));
  const auto store = TRY(SqliteStore::open(config.state_dir + "/store.sqlite"));
  const SecretBox box = TRY(SecretBox::open(config.state_dir + "/secret.key"));
  KernelRandom random;
  net::Loop loop;
  StartClock clock(loop, store->head().newest, config.state_dir);
  control::Ledger ledger(*store, loop);
  TRY_VOID(ledger.load());
  TRY_VOID(prepare_first_start(config, ledger, random));
  TRY_VOID(declare_fabrics(config, ledger));
  const std::string sockets = TRY(make_socket_dir());
  net::HttpClient wire(loop, {config.ca_file});
  edge::AgentHub hub({ledger, loop, random, hash_token});
  families::RedfishBmc bmc(wire, loop,
                           {config.bmc_url, config.bmc_user, TRY(bmc_password(config))});
  net::SshExec exec(loop, {config.switch_key_file, config.switch_known_hosts, sockets});
  switches::SwitchDrivers switches({wire, exec, loop, {config.switch_authorization}});
  fabrics::FabricDrivers fabrics({wire, exec, loop, ""});
  families::ExportScriptStorage storage(exec);
  engines::AgentEngine engine(hub, *engines::find_engine("slurm"));
  SecretVault secrets(ledger, box, random);
  LabInjector injector(wire, loop, config.lab_socket);
  Webhook webhook(wire, config.webhook_url);

  FaultInjector* drills = config.lab_socket.empty() ? nullptr : &injector;
  control::Manager manager({ledger,
                            loop,
                            {hub, bmc, switches, fabrics, engine, drills, &storage},
                            secrets,
                            catalogues.xid,
                            catalogues.policy.policy,
                            make_limits(config),
                            crash_hook(config),
                            {}, {}, checks::judge_bmc});
  control::NoticeDesk desk({ledger, loop, config.webhook_url.empty() ? nullptr : &webhook,
                            [&manager] { manager.pump_soon(); }}, catalogues.notices);
  hub.connect(manager);
  edge::Api api({manager, ledger, *store, loop, random, hash_token,
                 [&box](std::string_view clear) { return box.seal(clear); }, fault_kinds(),
                 render_fault, config.site, TUNDISH_VERSION,
                 [&hub](net::ServerRequest request, net::Reply reply) {
                   hub.handle(std::move(request), std::move(reply));
                 },
                 [&loop](std::function<void()> work, std::function<void()> done) {
                   loop.offload(std::move(work), std::move(done));
                 },
                 [&hub] { return hub.counts(); }, plan_switch_text, switch_driver_infos(),
                 check_infos(catalogues.limits),
                 [&config](const std::string& text) { return keep_policy(config, text); },
                 catalogues.policy.note, limit_rows(catalogues.limits), config.webhook_url,
                 [&clock] { return clock.note(); }});
  const auto servers = TRY(listen_all(config, loop, api));
  watch_hold_file(loop, manager, config.hold_file);
  start_all(manager, desk, clock);
  run_until_told(loop, config.site);
  remove_quietly(sockets);
  return {};
}

}  // namespace tundish::tundishd
