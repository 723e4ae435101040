#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "ports/wire.hpp"
#include "runtime/net/loop.hpp"

namespace tundish::net {

struct TlsTrust {
  std::string ca_file;  ///< PEM; empty: the system's store. The peer's name is always verified.
};

/// Asynchronous client on the loop; implements the Wire port for drivers. Keeps idle connections.
/// Lives on the loop thread and dies before the loop; calls still under way are then dropped.
class HttpClient final : public Wire {
 public:
  HttpClient(Loop& loop, TlsTrust trust);
  ~HttpClient() override;
  void start(HttpRequest request, Duration limit, Done done) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// One blocking call, for command lines and agent threads. Keeps no connection.
Result<HttpResponse> http_call(const HttpRequest& request, Duration limit,
                               const TlsTrust& trust = {});

/// A blocking client that keeps its connection and reconnects when it must. Not thread-safe.
class HttpSession {
 public:
  explicit HttpSession(TlsTrust trust = {});
  ~HttpSession();
  Result<HttpResponse> call(const HttpRequest& request, Duration limit);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Blocking read of a stream: `on_chunk` gets body bytes as they come, and an empty piece every
/// second of silence so that the caller can stop; returning false stops (and is no error). A status
/// other than 2xx is an Error. Connecting has a limit of 10 s, the stream itself none.
Result<> http_stream(const HttpRequest& request, const TlsTrust& trust,
                     const std::function<bool(std::string_view)>& on_chunk);

}  // namespace tundish::net
