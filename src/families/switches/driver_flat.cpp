#include "families/switches/driver_flat.hpp"

#include "codec/json.hpp"

namespace tundish::families {
namespace {

struct PortConfig {
  std::string segment;
  void fields(Fields& f) { f(1, "segment", segment, "name; empty: quarantine"); }
};

Result<> require_credentials(const PortRef& port) {
  if (!port.management_url.empty()) return {};
  return make_error(Code::invalid, "switch " + port.switch_name + " has no management_url")
      .about("switch/" + port.switch_name)
      .with_remedy("add management_url to its row in the inventory");
}

Result<SwitchReading> to_reading(Result<std::vector<PortObserved>> ports) {
  SwitchReading reading;
  reading.ports = TRY(std::move(ports));
  return reading;
}

}  // namespace

Result<std::vector<PortObserved>> parse_flat_ports(const std::string& switch_name,
                                                   std::string_view json) {
  const JsonValue root = TRY(JsonValue::parse(json));
  std::vector<PortObserved> out;
  for (const auto& item : root.items()) {
    const auto port = item.at("port").as_text();
    const auto segment = item.at("observed_segment").as_text();
    if (!port || !segment) {
      return make_error(Code::corrupt, "switch " + switch_name + " lists a port without name");
    }
    PortObserved seen;
    seen.switch_name = switch_name;
    seen.port = *port;
    seen.segment = *segment;
    seen.link_up = item.at("link").as_text().value_or("") == "up";
    out.push_back(std::move(seen));
  }
  return out;
}

void FlatSwitch::attach(const PortRef& port, const PortIntent& intent, Duration limit, Done done) {
  if (const auto ready = require_credentials(port); !ready) {
    done(ready);
    return;
  }
  HttpRequest request;
  request.method = "PUT";
  request.url = port.management_url + "/ports/" + port.port;
  request.headers["content-type"] = "application/json";
  PortConfig config{intent.segment};
  request.body = render_json(config);
  wire_.start(
      std::move(request), limit, [done = std::move(done), port](Result<HttpResponse> response) {
        if (!response) {
          done(Error(response.error()).wrap("switch " + port.switch_name));
        } else if (response->status >= 300) {
          done(make_error(Code::unavailable, "switch " + port.switch_name + " port " + port.port +
                                                 " answered " + std::to_string(response->status) +
                                                 " " + response->body));
        } else {
          done({});
        }
      });
}

void FlatSwitch::read(const PortRef& port, const SwitchOwnership&, Duration limit, ReadDone done) {
  if (const auto ready = require_credentials(port); !ready) {
    done(Error(ready.error()));
    return;
  }
  HttpRequest request;
  request.url = port.management_url + "/ports";
  wire_.start(std::move(request), limit,
              [done = std::move(done), name = port.switch_name](Result<HttpResponse> response) {
                if (!response) {
                  done(Error(response.error()).wrap("switch " + name));
                } else if (response->status != 200) {
                  done(make_error(Code::unavailable, "switch " + name + " answered " +
                                                         std::to_string(response->status)));
                } else {
                  done(to_reading(parse_flat_ports(name, response->body)));
                }
              });
}

}  // namespace tundish::families
