#include "edge/api/contract.hpp"

namespace tundish::edge {

int http_status(Code code) {
  switch (code) {
    case Code::invalid: return 422;
    case Code::not_found: return 404;
    case Code::conflict: return 409;
    case Code::denied: return 403;
    case Code::exhausted: return 409;
    case Code::unavailable: return 503;
    case Code::timeout: return 504;
    case Code::unsupported: return 501;
    case Code::corrupt: return 500;
    case Code::internal: return 500;
  }
  return 500;
}

int exit_code(std::string_view code) {
  // Exit codes are the command-line contract: 1 tool error, 3 refused or failed, 4 unknown.
  if (code == "internal" || code == "corrupt") return 1;
  if (code == "unavailable" || code == "timeout") return 4;
  return 3;
}

}  // namespace tundish::edge
