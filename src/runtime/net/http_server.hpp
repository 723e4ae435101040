#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "ports/wire.hpp"
#include "runtime/net/loop.hpp"

namespace tundish::net {

struct ServerRequest {
  std::string method;
  std::string path;                            ///< percent-decoded, without the query
  std::map<std::string, std::string> query;    ///< percent-decoded
  std::map<std::string, std::string> headers;  ///< names in lower case
  std::string body;
  std::string peer;           ///< "10.88.0.11" or "unix:uid=0"
  std::string local_address;  ///< address the connection was accepted on; "unix" for a socket file
};

/// Answers one request, at once or later. A handle: copies are the same reply; only the first
/// answer counts; when the last copy goes unanswered the peer gets 500. Calls from other threads
/// are carried to the loop thread, except closed(), which belongs there.
class Reply {
 public:
  struct State;
  explicit Reply(std::shared_ptr<State> state) : state_(std::move(state)) {}
  void send(HttpResponse response) const;
  void send(int status, std::string json_body) const;  ///< content-type application/json
  /// Chunked stream (server-sent events): begin once, write often, end once.
  void begin_stream(std::string content_type) const;
  void write(std::string chunk) const;
  void end() const;
  bool closed() const;  ///< the peer went away; further writes are dropped

 private:
  std::shared_ptr<State> state_;
};

using Handler = std::function<void(ServerRequest, Reply)>;

struct ListenOptions {
  std::string url = {};       ///< http://ADDR:PORT (port 0 = any), https://ADDR:PORT or unix:/path
  std::string tls_cert = {};  ///< PEM file, for https
  std::string tls_key = {};
  std::size_t body_limit = 8 << 20;  ///< bytes; larger bodies get 413
  /// A connection on which nothing moves for so long is closed; a pending reply does not count.
  Duration idle_limit = seconds(120);
};

/// HTTP/1.1 with keep-alive. Lives on the loop and dies before it, on its thread; destroying it
/// closes every connection.
class HttpServer {
 public:
  static Result<std::unique_ptr<HttpServer>> listen(Loop& loop, ListenOptions options,
                                                    Handler handler);
  ~HttpServer();
  int port() const;  ///< the port really bound; 0 for a socket file

 private:
  struct Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tundish::net
