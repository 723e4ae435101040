#pragma once
// Answers of the lab's own interfaces.
#include "base/error.hpp"
#include "runtime/net/http_server.hpp"

namespace tundish::lab {

/// {"code", "message"} with the HTTP status that belongs to the code.
void send_error(const net::Reply& reply, const Error& error);
void send_not_found(const net::Reply& reply, const net::ServerRequest& request);
int status_of(Code code);

}  // namespace tundish::lab
