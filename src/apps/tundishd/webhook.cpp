#include "apps/tundishd/webhook.hpp"

#include "codec/json.hpp"

namespace tundish::tundishd {

void Webhook::start(const NoticeMessage& message, Done done) {
  HttpRequest request;
  request.method = "POST";
  request.url = url_;
  request.headers["content-type"] = "application/json";
  request.headers["idempotency-key"] = message.key;
  request.body = render_json(message);
  wire_.start(std::move(request), seconds(10),
              [done = std::move(done)](Result<HttpResponse> response) {
                if (!response) return done(response.error());
                if (response->status >= 200 && response->status < 300) return done({});
                done(make_error(Code::unavailable,
                                "the receiver answered " + std::to_string(response->status)));
              });
}

}  // namespace tundish::tundishd
