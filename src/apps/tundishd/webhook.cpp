#include "apps/tundishd/webhook.hpp"

#include "base/log.hpp"
#include "codec/json.hpp"

namespace tundish::tundishd {

void Webhook::tell(const Incident& incident) {
  if (url_.empty()) return;
  const auto state = enum_names(IncidentState{})[static_cast<std::size_t>(incident.state)];
  const std::string key = incident.id.str() + "/" + std::string(state);
  if (!told_.insert(key).second) return;
  HttpRequest request;
  request.method = "POST";
  request.url = url_;
  request.headers["content-type"] = "application/json";
  request.headers["idempotency-key"] = key;
  request.body = render_json(incident);
  wire_.start(std::move(request), seconds(10), [key](Result<HttpResponse> response) {
    if (!response || response->status >= 300) {
      log(LogLevel::warn, "webhook_failed",
          {{"event", key},
           {"why", response ? std::to_string(response->status) : response.error().message()}});
    }
  });
}

}  // namespace tundish::tundishd
