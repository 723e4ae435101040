#include "lab/lab_service.hpp"

#include <signal.h>

#include <memory>

#include "base/log.hpp"
#include "lab/control_api.hpp"
#include "lab/fabric.hpp"
#include "lab/namespaces.hpp"
#include "runtime/process/process.hpp"

namespace tundish::lab {
namespace {

constexpr Duration tick = milliseconds(50);

/// Everything that runs in one lab; members in the order of their dependencies.
class LabService {
 public:
  LabService(net::Loop& loop, const LabSpec& spec, KernelLogServer& kernel_log)
      : loop_(loop),
        spec_(spec),
        paths_(paths_of(spec)),
        fabric_(make_fabric(loop, spec)),
        power_(loop, spec, kernel_log, *fabric_),
        bmc_(loop, spec, power_),
        daemon_(loop, spec),
        control_({loop, spec_, kernel_log, power_, bmc_, daemon_, *fabric_}) {}

  Result<> start() {
    loop_.on_signals({SIGTERM, SIGINT}, [this](int) { stop(); });
    loop_.on_signals({SIGCHLD}, [this](int) {
      power_.poll();
      fabric_->poll();
    });
    TRY_VOID(make_oob_network(spec_));
    TRY_VOID(fabric_->start());
    TRY_VOID(bmc_.listen());
    TRY_VOID(control_.listen());
    if (spec_.start_daemon) TRY_VOID(daemon_.start());
    if (spec_.power_on) {
      for (const auto& node : hardware_of(spec_)) {
        TRY_VOID(power_.apply(node.name, PowerAction::on));
      }
    }
    poll();
    return {};
  }

  void shut_down() {
    power_.stop_all();
    fabric_->stop_all();
  }

 private:
  void poll() {
    if (stopping_) return;
    power_.poll();
    fabric_->poll();
    daemon_.poll();
    if (!ready_) report_ready();
    loop_.at(loop_.now() + tick, [this] { poll(); });
  }

  /// Ready when everything has come up or failed to: a lab with a broken node is a lab.
  void report_ready() {
    if (!fabric_->is_settled()) return;
    for (const auto& [name, node] : power_.nodes()) {
      const bool settled = node.phase == NodePhase::running || node.phase == NodePhase::failed;
      if (spec_.power_on && !settled) return;
    }
    ready_ = true;
    const auto written = process::write_file_atomic(paths_.state_file(), "ready\n");
    if (!written) log(LogLevel::error, "lab_state", {{"error", written.error().message()}});
    log(LogLevel::info, "lab_ready", {{"nodes", power_.nodes().size()}});
  }

  void stop() {
    if (stopping_) return;
    stopping_ = true;
    log(LogLevel::info, "lab_stopping");
    daemon_.stop([this] { loop_.stop(); });
  }

  net::Loop& loop_;
  LabSpec spec_;
  LabPaths paths_;
  std::unique_ptr<Fabric> fabric_;
  NodePower power_;
  BmcSimulator bmc_;
  DaemonKeeper daemon_;
  ControlApi control_;
  bool ready_ = false;
  bool stopping_ = false;
};

}  // namespace

Result<> run_lab_service(const LabSpec& spec) {
  const LabPaths paths = paths_of(spec);
  TRY_VOID(make_folder(paths.kmsg()));
  TRY_VOID(make_folder(paths.storage()));
  const auto kernel_log = TRY(KernelLogServer::mount(paths.kmsg()));
  for (const auto& node : hardware_of(spec)) TRY_VOID(kernel_log->add_node(node.name));
  net::Loop loop;
  LabService service(loop, spec, *kernel_log);
  TRY_VOID(service.start());
  loop.run();
  service.shut_down();
  return {};
}

}  // namespace tundish::lab
