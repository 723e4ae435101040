#include "lab/reply.hpp"

#include "base/describe.hpp"
#include "codec/json.hpp"

namespace tundish::lab {
namespace {

struct ErrorBody {
  std::string code;
  std::string message;

  void fields(Fields& f) {
    f(1, "code", code, "Closed set of reasons.");
    f(2, "message", message, "For people.");
  }
};

}  // namespace

int status_of(Code code) {
  switch (code) {
    case Code::invalid: return 400;
    case Code::not_found: return 404;
    case Code::conflict: return 409;
    case Code::denied: return 403;
    case Code::exhausted: return 429;
    case Code::unavailable: return 503;
    case Code::timeout: return 504;
    case Code::unsupported: return 501;
    case Code::corrupt:
    case Code::internal: return 500;
  }
  return 500;
}

void send_error(const net::Reply& reply, const Error& error) {
  const ErrorBody body{std::string(code_name(error.code)), error.message()};
  reply.send(status_of(error.code), render_json(body));
}

void send_not_found(const net::Reply& reply, const net::ServerRequest& request) {
  send_error(reply, make_error(Code::not_found, request.method + " " + request.path +
                                                    " is not part of this interface"));
}

}  // namespace tundish::lab
