#pragma once
// One request and its response, asynchronously, with a deadline. Both clients are made of it.
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "ports/wire.hpp"
#include "runtime/net/http_text.hpp"
#include "runtime/net/transport.hpp"

namespace tundish::net {

struct NameLookup;

class Exchange : public std::enable_shared_from_this<Exchange> {
 public:
  using Kept = std::shared_ptr<Transport>;
  /// Gets the connection back when the peer lets it live; null otherwise.
  using Done = std::function<void(Result<HttpResponse>, Kept)>;
  /// Body bytes as they come; false stops.
  using OnChunk = std::function<bool(std::string_view)>;
  struct Call {
    HttpRequest request;
    Url url;
    Duration limit;
    TlsContext tls;    ///< for https
    Kept kept;         ///< an idle connection to the same origin, or null
    OnChunk on_chunk;  ///< set for a stream: `limit` then ends with the response's header
  };

  Exchange(asio::io_context& io, Call call, Done done);
  void start();
  /// Drops the call without calling `done`.
  void abandon();

 private:
  using Parser = boost::beast::http::response_parser<boost::beast::http::string_body>;
  using Step = void (Exchange::*)(ErrorCode, std::size_t);

  auto then(Step step);
  void arm(Duration wait);
  void on_timer();
  void connect();
  void look_up_name();
  void connect_next(Error last);
  void on_connected(ErrorCode failed, Socket& socket);
  void on_secured(ErrorCode failed, std::size_t);
  void send();
  void expect_answer();
  void on_sent(ErrorCode failed, std::size_t size);
  void read();
  void on_read(ErrorCode failed, std::size_t size);
  void parse();
  void on_message_done();
  bool deliver();
  void lose(const ErrorCode& why);
  void release();
  void finish(Result<HttpResponse> result, Kept kept = nullptr);
  HttpResponse take_response();
  Error unavailable(std::string_view step, std::string_view why) const;

  asio::io_context& io_;
  Call call_;
  Done done_;
  asio::steady_timer timer_;
  std::string bytes_;
  std::vector<Endpoint> endpoints_;
  std::size_t next_endpoint_ = 0;
  std::shared_ptr<NameLookup> lookup_;
  std::shared_ptr<Socket> connecting_;
  Kept transport_;
  /// Completions of an earlier connection are told apart by it.
  int attempt_ = 0;
  bool is_reused_ = false;
  std::size_t sent_ = 0;
  bool has_answer_ = false;
  bool is_finished_ = false;
  std::optional<Parser> parser_;
  boost::beast::flat_buffer input_;
};

}  // namespace tundish::net
