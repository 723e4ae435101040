#pragma once
// One accepted connection: reads a request, hands it to the handler, writes the reply, repeats.
#include <boost/asio/dispatch.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "runtime/net/http_server.hpp"
#include "runtime/net/http_text.hpp"
#include "runtime/net/transport.hpp"

namespace tundish::net {

namespace http = boost::beast::http;

class Connection;
using SteadyTime = std::chrono::steady_clock::time_point;

/// What the connections of one server share. Outlives the server while a handler runs.
struct ServerShared {
  ListenOptions options;
  Handler handler;
  /// False once the server is gone: handlers that were queued before that look here first.
  bool is_open = true;
  std::map<Connection*, std::shared_ptr<Connection>> connections;
};

struct Peer {
  std::string name;
  std::string local_address;
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<ServerShared> shared, std::unique_ptr<Transport> transport, Peer peer);
  void start();
  void close();
  bool is_closed() const { return phase_ == Phase::closed; }
  bool is_overdue(SteadyTime now) const { return now > deadline_; }
  auto executor() { return transport_->socket().get_executor(); }

  void answer(HttpResponse response);
  void begin_stream(std::string content_type);
  void write_stream(std::string_view data);
  void end_stream();
  /// The handler lost its reply: nobody will answer any more.
  void abort_reply(std::string_view event);

 private:
  enum class Phase { handshake, reading, answering, flushing, lingering, closed };
  using Parser = http::request_parser<http::string_body>;

  void begin_request();
  void touch();
  void start_read();
  void on_read(ErrorCode failed, std::size_t size);
  void parse();
  void serve();
  void call_handler(ServerRequest request, const Reply& reply);
  void refuse(int status, std::string_view why);
  void queue(std::string bytes);
  void write_next();
  void on_flushed();
  void linger();

  std::shared_ptr<ServerShared> shared_;
  std::unique_ptr<Transport> transport_;
  Peer peer_;
  Phase phase_ = Phase::handshake;
  SteadyTime deadline_;
  std::optional<Parser> parser_;
  boost::beast::flat_buffer input_;
  bool is_reading_ = false;
  bool is_continued_ = false;
  std::string writing_;
  std::string queued_;
  bool is_writing_ = false;
  bool is_streaming_ = false;
  Framing framing_ = Framing::content_length;
  bool has_head_request_ = false;
  After after_ = After::keep_alive;
  bool lingers_ = false;
  std::size_t drained_ = 0;
};

/// Shared by the copies of a Reply. Touched on the loop thread only, but may be dropped anywhere.
struct Reply::State {
  enum class Stage { waiting, streaming, done };
  explicit State(std::weak_ptr<Connection> to) : connection(std::move(to)) {}
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  std::weak_ptr<Connection> connection;
  Stage stage = Stage::waiting;
};

}  // namespace tundish::net
