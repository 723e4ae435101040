#include "families/bmcs/redfish.hpp"

#include "families/bmcs/basic_auth.hpp"
#include "families/bmcs/power_off.hpp"

namespace tundish::families {

std::string_view redfish_reset_type(PowerVerb verb) {
  switch (verb) {
    case PowerVerb::on: return "On";
    case PowerVerb::off: return "ForceOff";
    case PowerVerb::cycle: return "PowerCycle";
    case PowerVerb::restart: return "ForceRestart";
  }
  return "ForceRestart";
}

namespace {

Error no_address() {
  return make_error(Code::invalid, "the node has no BMC address")
      .with_remedy("add bmc_address to its row in the inventory");
}

}  // namespace

HttpRequest RedfishBmc::request_to(const std::string& bmc_address, const std::string& path) const {
  std::string base = access_.url_template;
  if (const auto at = base.find("{address}"); at != std::string::npos) {
    base.replace(at, std::string_view("{address}").size(), bmc_address);
  }
  HttpRequest request;
  request.url = base + path;
  request.headers["authorization"] = basic_auth(access_.user, access_.password);
  return request;
}

void RedfishBmc::start(const std::string& bmc_address, PowerVerb verb, Duration limit, Done done) {
  if (bmc_address.empty()) return done(no_address());
  if (verb != PowerVerb::off) return reset(bmc_address, verb, limit, std::move(done));
  const Instant until = scheduler_.now() + limit;
  const auto left = [this, until] { return until - scheduler_.now(); };
  const auto ask = [this, bmc_address, left](Wire::Done then) {
    wire_.start(request_to(bmc_address, "/redfish/v1/Systems/1"), left(), std::move(then));
  };
  const auto tell = [this, bmc_address, left](Done then) {
    reset(bmc_address, PowerVerb::off, left(), std::move(then));
  };
  std::make_shared<PowerOff>(PowerOff::Parts{ask, tell, scheduler_, until}, std::move(done))
      ->start();
}

void RedfishBmc::reset(const std::string& bmc_address, PowerVerb verb, Duration limit, Done done) {
  HttpRequest request =
      request_to(bmc_address, "/redfish/v1/Systems/1/Actions/ComputerSystem.Reset");
  request.method = "POST";
  request.headers["content-type"] = "application/json";
  request.body = "{\"ResetType\":\"" + std::string(redfish_reset_type(verb)) + "\"}";
  wire_.start(std::move(request), limit,
              [done = std::move(done), bmc_address](Result<HttpResponse> response) {
                if (!response) {
                  done(Error(response.error()).wrap("BMC " + bmc_address));
                } else if (response->status >= 200 && response->status < 300) {
                  done({});
                } else if (response->status == 401 || response->status == 403) {
                  done(make_error(Code::denied, "BMC " + bmc_address + " refused the credentials")
                           .with_remedy("check the bmc password that tundishd was given"));
                } else {
                  done(make_error(Code::unavailable, "BMC " + bmc_address + " answered " +
                                                         std::to_string(response->status)));
                }
              });
}

void RedfishBmc::read(const std::string& bmc_address, Duration limit, ReadDone done) {
  if (bmc_address.empty()) return done(no_address());
  const auto ask = [this, bmc_address, limit](const std::string& path, Wire::Done then) {
    wire_.start(request_to(bmc_address, path), limit, std::move(then));
  };
  const auto known = known_;
  const auto look = std::make_shared<LeakLook>(
      ask, [known, bmc_address, done = std::move(done)](Result<BmcReading> reading,
                                                        std::vector<LeakCollection> found) {
        if (reading && !reading->leaks.empty()) {
          (*known)[bmc_address] = std::move(found);
        } else {
          known->erase(bmc_address);
        }
        if (!reading) return done(Error(reading.error()).wrap("BMC " + bmc_address));
        done(std::move(reading));
      });
  const auto before = known_->find(bmc_address);
  look->start(before == known_->end() ? std::vector<LeakCollection>{} : before->second);
}

}  // namespace tundish::families
