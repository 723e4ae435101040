#pragma once
#include <functional>
#include <map>
#include <string>

#include "base/instant.hpp"
#include "base/result.hpp"

namespace tundish {

struct HttpRequest {
  std::string method = "GET";
  std::string url;  ///< http://host:port/path, https://..., or unix:/path/to/socket:/path
  std::map<std::string, std::string> headers;
  std::string body;
};

struct HttpResponse {
  int status = 0;
  std::map<std::string, std::string> headers;  ///< names in lower case
  std::string body;
};

/// HTTP client of drivers. `done` runs once, on the loop thread.
class Wire {
 public:
  virtual ~Wire() = default;
  using Done = std::function<void(Result<HttpResponse>)>;
  /// An unreachable peer is `unavailable`, a passed deadline `timeout` (it may have happened).
  virtual void start(HttpRequest request, Duration limit, Done done) = 0;
};

}  // namespace tundish
