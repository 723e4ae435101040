#include "edge/api/api.hpp"

#include "edge/api/backend.hpp"
#include "edge/api/idempotency.hpp"
#include "edge/api/routes.hpp"
#include "edge/api/watch.hpp"
#include "model/ops/tenancy_ops.hpp"

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

/// Every answer says what time it is here, so that a client can tell that clocks differ.
class DatedOutlet final : public Outlet {
 public:
  DatedOutlet(std::shared_ptr<Outlet> outlet, const Scheduler& scheduler)
      : outlet_(std::move(outlet)), scheduler_(scheduler) {}
  void send(HttpResponse response) override {
    response.headers.try_emplace("date", render_http_date(scheduler_.now()));
    outlet_->send(std::move(response));
  }
  void begin_stream(std::string content_type) override {
    outlet_->begin_stream(std::move(content_type));
  }
  void write(std::string chunk) override { outlet_->write(std::move(chunk)); }
  void end() override { outlet_->end(); }
  bool closed() const override { return outlet_->closed(); }

 private:
  std::shared_ptr<Outlet> outlet_;
  const Scheduler& scheduler_;
};

/// Who calls is not known: 401, and what is asked for. What a known caller may not do is 403.
/// Source: RFC 6750, section 3; checked 2026-11
HttpResponse unauthenticated(const Error& error, std::string_view bearer) {
  HttpResponse response = error_response(error);
  response.status = 401;
  response.headers["www-authenticate"] = bearer.empty()
                                             ? "Bearer realm=\"tundish\""
                                             : "Bearer realm=\"tundish\", error=\"invalid_token\"";
  return response;
}

/// A create meets no object whose revision could be compared: better told than left out.
bool ignores_match(const Route& route, const Call& call) {
  return !call.header("if-match").empty() && call.parts.empty() && route.pattern != "/v1/faults" &&
         route.method != "GET";
}

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
  void note_use(const Identity& who);
  void refuse_role(const Call& call, const Route& route, const std::shared_ptr<Outlet>& outlet);
  void run_changing(const Route& route, Call call, std::shared_ptr<Outlet> outlet);
  void rehearse(const Route& route, const Call& call, const std::shared_ptr<Outlet>& outlet);
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
    backend.parts.ledger.record_refusal("peer:" + request.peer, request.method + " " + request.path,
                                        "", who.error());
    backend.after_commit([](const Result<>&) {});
  }
  if (who) note_use(*who);
  return who;
}

void Api::Impl::note_use(const Identity& who) {
  const Token* token = backend.reg().find(who.token);
  if (!token || backend.now() - token->last_used_at < token_use_pause) return;
  (void)backend.parts.ledger.perform(*touch_token(who.token), "user:" + who.name, "used");
  backend.after_commit([](const Result<>&) {});
}

void Api::Impl::refuse_role(const Call& call, const Route& route,
                            const std::shared_ptr<Outlet>& outlet) {
  const auto names = enum_names(Role{});
  const auto role = std::string(names[static_cast<std::size_t>(call.who.role)]);
  const Error error = make_error(Code::denied, "role " + role + " may not " +
                                                   std::string(route.method) + " " + route.pattern)
                          .with_remedy("roles that may: " + roles_with(route.right));
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

/// A slow handler looks at is_dry_run() itself: it cannot be taken back.
void Api::Impl::rehearse(const Route& route, const Call& call,
                         const std::shared_ptr<Outlet>& outlet) {
  const Respond respond = [outlet](const Result<Answer>& answer) {
    HttpResponse response = to_response(answer);
    response.headers["x-dry-run"] = "true";
    outlet->send(std::move(response));
  };
  const auto* write = std::get_if<WriteHandler>(&route.handler);
  if (!write) return std::get<SlowHandler>(route.handler)(backend, call, respond);
  Result<Answer> answer;
  backend.parts.ledger.rehearse([&] {
    const auto done = (*write)(backend, call);
    answer = done ? Result<Answer>((*done)()) : Result<Answer>(done.error());
  });
  respond(answer);
}

void Api::Impl::run_changing(const Route& route, Call call, std::shared_ptr<Outlet> outlet) {
  if (call.is_dry_run()) return rehearse(route, call, outlet);
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

void Api::Impl::answer(net::ServerRequest request, std::shared_ptr<Outlet> given) {
  std::shared_ptr<Outlet> outlet =
      std::make_shared<DatedOutlet>(std::move(given), backend.parts.scheduler);
  Match match = match_route(request.method, request.path);
  if (!match.route) {
    const bool wrong_method = !match.allow.empty();
    HttpResponse response = error_response(
        wrong_method ? make_error(Code::unsupported, request.path + " takes no " + request.method)
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
    if (!who) {
      const std::string bearer = bearer_of(request.headers);
      const Token* known = backend.reg().find_token(backend.parts.hash_token(bearer));
      const bool is_agent = !bearer.empty() && known && known->role == Role::agent;
      return outlet->send(is_agent ? error_response(who.error())
                                   : unauthenticated(who.error(), bearer));
    }
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
  if (ignores_match(route, call)) {
    return outlet->send(error_response(
        make_error(Code::invalid, std::string(route.method) + " " + route.pattern +
                                      " takes no If-Match: it is about no object that is there")
            .with_remedy("leave If-Match out")));
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
