#include "apps/tundishd/lab_injector.hpp"

#include <algorithm>

#include "base/log.hpp"
#include "codec/json.hpp"
#include "edge/cli/client.hpp"
#include "lab/control_model.hpp"

namespace tundish::tundishd {
namespace {

/// Of a storage server that is slow: a probe of a mount waits one to four times. Unit: ms.
constexpr int storage_delay_ms = 3000;

std::optional<lab::FaultKind> kind_of(const std::string& effect) {
  const auto names = lab::enum_names(lab::FaultKind{});
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == effect) return static_cast<lab::FaultKind>(i);
  }
  return std::nullopt;
}

lab::FaultRequest gpu_fault(const Injection& injection, lab::FaultKind kind) {
  lab::FaultRequest body;
  body.node = injection.node_name;
  body.gpu = injection.gpu;
  body.kind = kind;
  body.sticky = injection.sticky;
  body.line = injection.line;
  for (int i = 1; i < injection.copies; ++i) body.line += "\n" + injection.line;
  body.facility = injection.userspace ? lab::LogFacility::user : lab::LogFacility::kernel;
  return body;
}

/// InfiniBand first: Ethernet carries the agent's own reports of the tenant's network.
std::string cable_of(const Injection& injection) {
  return injection.node_name + "/" + (injection.part.empty() ? "mlx5_0" : injection.part);
}

std::string cable(const Injection& injection, lab::CableFault action) {
  return render_json(lab::CableRequest{cable_of(injection), action});
}
std::string agent(const Injection& injection, lab::ProcessVerb action) {
  return render_json(lab::AgentRequest{injection.node_name, action});
}
std::string oob(const Injection& injection, lab::CableVerb verb) {
  return render_json(lab::NetworkRequest{injection.node_name, verb});
}
/// Busy tasks in the node's own control group: everything else on it waits.
std::string busy(const Injection& injection) {
  lab::RunRequest request;
  request.node = injection.node_name;
  const std::string one = "timeout " + std::to_string(std::max(1, injection.for_s)) +
                          " bash -c \"while :; do :; done\"";
  request.argv = {"setsid", "bash", "-c",
                  "for i in $(seq " + std::to_string(std::max(1, injection.copies)) + "); do " +
                      one + " </dev/null >/dev/null 2>&1 & done"};
  return render_json(request);
}
std::string storage(lab::StorageVerb action) {
  return render_json(lab::StorageRequest{action, storage_delay_ms});
}
/// A lab has one.
bool is_storage(const std::string& part) { return part.empty() || part == "stor1"; }
std::string bmc(const Injection& injection, lab::BmcVerb mode) {
  lab::BmcRequest request;
  request.node = injection.node_name;
  request.mode = mode;
  return render_json(request);
}

std::string leak(const Injection& injection, lab::LeakLevel level) {
  lab::LeakRequest request;
  request.node = injection.node_name;
  if (!injection.part.empty()) request.detector = injection.part;
  request.level = level;
  return render_json(request);
}

/// The lab answers as the API does: {"code", "message"}.
Error refusal_of(const HttpResponse& response) {
  Error error = edge::cli::api_error(response.status, response.body);
  if (error.code == Code::unavailable || error.code == Code::internal) return error;
  error.what = "the lab cannot do it: " + error.what;
  return error;
}

}  // namespace

/// The lowest point at which the lab can break the thing.
Result<LabInjector::Knob> LabInjector::knob_of(const Injection& injection) {
  if (injection.effect.starts_with("storage_") && !is_storage(injection.part)) {
    return make_error(Code::not_found, "this lab has no storage server " + injection.part);
  }
  if (const auto kind = kind_of(injection.effect)) {
    return Knob{"/fault", render_json(gpu_fault(injection, *kind)), ""};
  }
  if (injection.effect == "cable_cut") {
    return Knob{"/cable", cable(injection, lab::CableFault::cut),
                cable(injection, lab::CableFault::mend)};
  }
  if (injection.effect == "cable_flap") {
    return Knob{"/cable", cable(injection, lab::CableFault::flap), ""};
  }
  if (injection.effect == "agent_stop") {
    return Knob{"/agent", agent(injection, lab::ProcessVerb::stop),
                agent(injection, lab::ProcessVerb::start)};
  }
  if (injection.effect == "oob_cut") {
    return Knob{"/network", oob(injection, lab::CableVerb::down),
                oob(injection, lab::CableVerb::up)};
  }
  if (injection.effect == "cpu_hog") return Knob{"/run", busy(injection), ""};
  if (injection.effect == "storage_hang") {
    return Knob{"/storage", storage(lab::StorageVerb::hang), storage(lab::StorageVerb::mend)};
  }
  if (injection.effect == "storage_slow") {
    return Knob{"/storage", storage(lab::StorageVerb::slow), storage(lab::StorageVerb::mend)};
  }
  if (injection.effect == "bmc_ignore") {
    return Knob{"/bmc", bmc(injection, lab::BmcVerb::ignore), bmc(injection, lab::BmcVerb::normal)};
  }
  if (injection.effect == "leak") {
    return Knob{"/leak", leak(injection, lab::LeakLevel::critical),
                leak(injection, lab::LeakLevel::dry)};
  }
  return make_error(Code::unsupported, "this lab has no hand for " + injection.effect);
}

void LabInjector::start(const Injection& injection, Done done) {
  const auto knob = knob_of(injection);
  if (!knob) return done(knob.error());
  const Duration lasts = seconds(injection.for_s);
  post(*knob, [this, knob = *knob, lasts, done = std::move(done)](Result<> result) {
    if (result && !knob.mend.empty() && lasts.us > 0) {
      scheduler_.at(scheduler_.now() + lasts, [this, knob] {
        post({knob.path, knob.mend, ""}, [path = knob.path](Result<> mended) {
          if (mended) return;
          log(LogLevel::warn, "drill_not_mended",
              {{"what", path}, {"why", mended.error().message()}});
        });
      });
    }
    done(std::move(result));
  });
}

void LabInjector::post(const Knob& knob, Done done) {
  HttpRequest request;
  request.method = "POST";
  request.url = "unix:" + socket_ + ":" + knob.path;
  request.body = knob.body;
  wire_.start(std::move(request), seconds(10),
              [done = std::move(done)](Result<HttpResponse> response) {
                if (!response) {
                  done(Error(response.error()).wrap("lab"));
                } else if (response->status >= 300) {
                  done(refusal_of(*response));
                } else {
                  done({});
                }
              });
}

}  // namespace tundish::tundishd
