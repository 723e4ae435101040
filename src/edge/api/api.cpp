#include "edge/api/api.hpp"

#include "edge/api/backend.hpp"
#include "edge/api/idempotency.hpp"
#include "edge/api/routes.hpp"
#include "edge/api/watch.hpp"

namespace tundish::edge {
namespace {

using namespace api;  // NOLINT: the parts of this one class

class ReplyOutlet final : public Outlet {
 public:
  explicit ReplyOutlet(net::Reply reply) : reply_(std::move(reply)) {}
  void send(HttpResponse response) override { reply_.send(std::move(response)); }
  void begin_stream(std::string content_type) override {
    reply_.begin_stream(std::move(content_type));
  }
  void write(std::string chunk) override { reply_.write(std::move(chunk)); }
  void end() override { reply_.end(); }
  bool closed() const override { return reply_.closed(); }

 private:
  net::Reply reply_;
};

HttpResponse to_response(const Result<Answer>& answer) {
  if (!answer) return error_response(answer.error());
  HttpResponse response;
  response.status = answer->status;
  response.headers = answer->headers;
  response.headers.try_emplace("content-type", "application/json");
  response.body = answer->body;
  return response;
}

}  // namespace

struct Api::Impl {
  explicit Impl(ApiParts parts) : backend(std::move(parts)), watch(backend) {
    backend.watch = &watch;
  }

  void answer(net::ServerRequest request, std::shared_ptr<Outlet> outlet);
  Result<Identity> authenticate(const net::ServerRequest& request);
  void refuse_role(const Call& call, const Route& route, const std::shared_ptr<Outlet>& outlet);
  void run_changing(const Route& route, Call call, std::shared_ptr<Outlet> outlet);
  void run_write(WriteHandler handler, const Call& call, const Respond& respond);

  Backend backend;
  Watch watch;
  Idempotency idempotency;
  RefusedLogins refused;
};

Result<Identity> Api::Impl::authenticate(const net::ServerRequest& request) {
  const std::string bearer = bearer_of(request.headers);
  const std::string hash = bearer.empty() ? "" : backend.parts.hash_token(bearer);
  auto who = identify(backend.reg(), hash, backend.now());
  if (!who && refused.should_record(request.peer, backend.now())) {
    backend.parts.ledger.record_refusal("peer:" + request.peer,
                                        request.method + " " + request.path, "", who.error());
    backend.after_commit([](const Result<>&) {});
  }
  return who;
}

void Api::Impl::refuse_role(const Call& call, const Route& route,
                            const std::shared_ptr<Outlet>& outlet) {
  const auto names = enum_names(Role{});
  const auto role = std::string(names[static_cast<std::size_t>(call.who.role)]);
  const Error error =
      make_error(Code::denied, "role " + role + " may not " + std::string(route.method) + " " +
                                   route.pattern)
          .with_remedy("ask somebody with the right role");
  if (refused.should_record("token:" + call.who.token.str(), backend.now())) {
    backend.refuse(call, "", error);
    backend.after_commit([](const Result<>&) {});
  }
  outlet->send(error_response(error));
}

void Api::Impl::run_write(WriteHandler handler, const Call& call, const Respond& respond) {
  auto done = handler(backend, call);
  if (!done) backend.refuse(call, done.error().object, done.error());
  // A refusal waits too: it may rest on changes of the same turn that do not become durable.
  backend.after_commit([done = std::move(done), respond](const Result<>& safe) {
    if (!safe) {
      Error error = safe.error();
      respond(std::move(error).wrap("nothing was changed"));
    } else if (!done) {
      respond(done.error());
    } else {
      respond((*done)());
    }
  });
}

void Api::Impl::run_changing(const Route& route, Call call, std::shared_ptr<Outlet> outlet) {
  const std::string key = call.header("idempotency-key");
  const std::string entry = call.who.token.str() + "|" + key;
  if (!key.empty()) {
    const auto& request = call.request;
    const std::string print = backend.parts.hash_token(
        request.method + " " + request.path + "\n" + call.header("if-match") + "\n" + request.body);
    const auto send = [outlet](const HttpResponse& response) { outlet->send(response); };
    switch (idempotency.begin(entry, print, backend.now(), send)) {
      case Idempotency::Begin::run: break;
      case Idempotency::Begin::repeated: return;
      case Idempotency::Begin::other:
        return outlet->send(error_response(
            make_error(Code::conflict, "Idempotency-Key " + key + " was used for another request")
                .with_remedy("use a new key for a new request")));
    }
  }
  const bool keyed = !key.empty();
  const Respond respond = [this, outlet, entry, keyed](const Result<Answer>& answer) {
    const HttpResponse response = to_response(answer);
    outlet->send(response);
    if (keyed) idempotency.finish(entry, response);
  };
  if (const auto* write = std::get_if<WriteHandler>(&route.handler)) {
    run_write(*write, call, respond);
  } else {
    std::get<SlowHandler>(route.handler)(backend, call, respond);
  }
}

void Api::Impl::answer(net::ServerRequest request, std::shared_ptr<Outlet> outlet) {
  Match match = match_route(request.method, request.path);
  if (!match.route) {
    const bool wrong_method = !match.allow.empty();
    HttpResponse response = error_response(
        wrong_method
            ? make_error(Code::unsupported, request.path + " takes no " + request.method)
            : make_error(Code::not_found, "no such path: " + request.path)
                  .with_remedy("GET /v1/openapi.json lists every path"));
    if (wrong_method) {
      response.status = 405;
      response.headers["allow"] = match.allow;
    }
    return outlet->send(std::move(response));
  }
  const Route& route = *match.route;
  Call call;
  if (route.right != Right::none) {
    auto who = authenticate(request);
    if (!who) return outlet->send(error_response(who.error()));
    call.who = std::move(*who);
  }
  call.request = std::move(request);
  call.parts = std::move(match.parts);
  if (!may(call.who, route.right)) return refuse_role(call, route, outlet);
  if (const auto* read = std::get_if<ReadHandler>(&route.handler)) {
    return outlet->send(to_response((*read)(backend, call)));
  }
  if (const auto* stream = std::get_if<StreamHandler>(&route.handler)) {
    return (*stream)(backend, call, std::move(outlet));
  }
  run_changing(route, std::move(call), std::move(outlet));
}

Api::Api(ApiParts parts) : impl_(std::make_unique<Impl>(std::move(parts))) {}
Api::~Api() = default;

void Api::handle(net::ServerRequest request, net::Reply reply) {
  if (request.path.starts_with("/v1/agent/") && impl_->backend.parts.agent_handler) {
    return impl_->backend.parts.agent_handler(std::move(request), std::move(reply));
  }
  answer(std::move(request), std::make_shared<ReplyOutlet>(std::move(reply)));
}

void Api::answer(net::ServerRequest request, std::shared_ptr<Outlet> outlet) {
  impl_->answer(std::move(request), std::move(outlet));
}

}  // namespace tundish::edge
