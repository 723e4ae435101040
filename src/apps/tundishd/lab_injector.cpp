#include "apps/tundishd/lab_injector.hpp"

#include "codec/json.hpp"
#include "lab/control_model.hpp"

namespace tundish::tundishd {
namespace {

lab::FaultKind kind_of(const std::string& effect) {
  const auto names = lab::enum_names(lab::FaultKind{});
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == effect) return static_cast<lab::FaultKind>(i);
  }
  return lab::FaultKind::none;
}

}  // namespace

void LabInjector::start(const Injection& injection, Done done) {
  lab::FaultRequest body;
  body.node = injection.node_name;
  body.gpu = injection.gpu;
  body.kind = kind_of(injection.effect);
  body.sticky = injection.sticky;
  body.line = injection.line;
  body.facility = injection.userspace ? lab::LogFacility::user : lab::LogFacility::kernel;
  HttpRequest request;
  request.method = "POST";
  request.url = "unix:" + socket_ + ":/fault";
  request.body = render_json(body);
  wire_.start(std::move(request), seconds(10),
              [done = std::move(done)](Result<HttpResponse> response) {
                if (!response) {
                  done(Error(response.error()).wrap("lab"));
                } else if (response->status >= 300) {
                  done(make_error(Code::unavailable, "the lab refused: " + response->body));
                } else {
                  done({});
                }
              });
}

}  // namespace tundish::tundishd
