#include "runtime/net/http_connection.hpp"

#include "base/log.hpp"
#include "base/text.hpp"

namespace tundish::net {
namespace {

/// Bytes of all header lines of a request.
constexpr std::uint32_t header_limit = 32 << 10;
/// Read sizes: small while a connection waits, so that thousands of idle ones cost little.
constexpr std::size_t head_read_size = 4 << 10;
constexpr std::size_t body_read_size = 64 << 10;
/// A stream whose reader is slower than its writer is cut here instead of filling memory.
constexpr std::size_t queue_limit = 16 << 20;
/// After a refusal we read on a little: closing with unread input makes the kernel send a reset,
/// which can destroy the answer before the peer has read it.
constexpr std::size_t linger_bytes_max = 64 << 20;
constexpr auto linger_limit = std::chrono::seconds(3);

std::string error_json(std::string_view code, std::string_view message) {
  return R"({"code":")" + std::string(code) + R"(","message":")" + std::string(message) + "\"}";
}

HttpResponse json_response(int status, std::string body) {
  return {status, {{"content-type", "application/json"}}, std::move(body)};
}

bool allows_body(int status) { return status >= 200 && status != 204 && status != 304; }

}  // namespace

Connection::Connection(std::shared_ptr<ServerShared> shared, std::unique_ptr<Transport> transport,
                       Peer peer)
    : shared_(std::move(shared)), transport_(std::move(transport)), peer_(std::move(peer)) {}

void Connection::start() {
  touch();
  transport_->handshake([self = shared_from_this()](ErrorCode failed, std::size_t) {
    if (self->is_closed()) return;
    if (failed) {
      log(LogLevel::debug, "http_handshake_failed",
          {{"peer", self->peer_.name}, {"what", failed.message()}});
      return self->close();
    }
    self->begin_request();
  });
}

void Connection::touch() {
  deadline_ =
      std::chrono::steady_clock::now() + std::chrono::microseconds(shared_->options.idle_limit.us);
}

void Connection::close() {
  if (is_closed()) return;
  const auto self = shared_from_this();  // the map may hold the last reference
  phase_ = Phase::closed;
  transport_->close();
  shared_->connections.erase(this);
}

void Connection::begin_request() {
  phase_ = Phase::reading;
  parser_.emplace();
  parser_->eager(true);
  parser_->header_limit(header_limit);
  parser_->body_limit(shared_->options.body_limit);
  is_streaming_ = false;
  is_continued_ = false;
  touch();
  if (is_reading_) return;  // the watch on the peer becomes the read of the next request
  if (input_.size() > 0) return parse();
  if (input_.capacity() > body_read_size) input_.shrink_to_fit();
  start_read();
}

void Connection::start_read() {
  is_reading_ = true;
  const bool in_body = phase_ == Phase::lingering || parser_->is_header_done();
  const auto space = input_.prepare(in_body ? body_read_size : head_read_size);
  transport_->read_some(asio::mutable_buffer(space),
                        [self = shared_from_this()](ErrorCode failed, std::size_t size) {
                          self->is_reading_ = false;
                          if (!self->is_closed()) self->on_read(failed, size);
                        });
}

void Connection::on_read(ErrorCode failed, std::size_t size) {
  if (failed) {
    // A peer that has only closed its sending half still gets the answer that is on its way.
    if (phase_ != Phase::flushing) return close();
    after_ = After::close;
    return;
  }
  input_.commit(size);
  if (phase_ == Phase::reading) return parse();
  if (phase_ != Phase::lingering) return;  // the next request waits for this one's reply
  drained_ += size;
  input_.consume(size);
  if (drained_ > linger_bytes_max) return close();
  start_read();
}

void Connection::parse() {
  ErrorCode failed;
  while (input_.size() > 0 && !parser_->is_done()) {
    const std::size_t used = parser_->put(input_.data(), failed);
    input_.consume(used);
    if (failed || used == 0) break;
  }
  if (failed && failed != http::error::need_more) {
    if (failed == http::error::body_limit) return refuse(413, "the body is larger than allowed");
    if (failed == http::error::header_limit)
      return refuse(431, "the header is larger than allowed");
    return refuse(400, "malformed request: " + failed.message());
  }
  if (parser_->is_done()) return serve();
  if (parser_->is_header_done()) {
    touch();  // a long upload may take its time as long as it moves
    const auto expect = parser_->get()[http::field::expect];
    if (!is_continued_ && boost::beast::iequals(expect, "100-continue")) {
      is_continued_ = true;
      queue("HTTP/1.1 100 Continue\r\n\r\n");
    }
  }
  if (!is_closed()) start_read();
}

void Connection::serve() {
  auto& message = parser_->get();
  has_head_request_ = message.method() == http::verb::head;
  after_ = message.keep_alive() ? After::keep_alive : After::close;
  framing_ = message.version() >= 11 ? Framing::chunked : Framing::until_close;
  auto target = parse_target(std::string_view(message.target().data(), message.target().size()));
  if (!target) return refuse(400, "malformed request target");
  ServerRequest request;
  request.method = message.method_string();
  request.path = std::move(target->path);
  request.query = std::move(target->query);
  for (const auto& field : message) {
    auto& value = request.headers[to_lower(std::string_view(field.name_string()))];
    if (!value.empty()) value += ", ";
    value += field.value();
  }
  request.body = std::move(message.body());
  request.peer = peer_.name;
  request.local_address = peer_.local_address;
  phase_ = Phase::answering;
  deadline_ = SteadyTime::max();
  call_handler(std::move(request), Reply(std::make_shared<Reply::State>(weak_from_this())));
  // One pending read tells when the peer goes away during a long poll.
  if (phase_ == Phase::answering && !is_reading_ && input_.size() == 0) start_read();
}

void Connection::call_handler(ServerRequest request, const Reply& reply) {
  const std::string path = request.path;
  std::string why;
  try {
    shared_->handler(std::move(request), reply);
    return;
  } catch (const std::exception& e) {
    why = e.what();
  } catch (...) {
    why = "not a std::exception";
  }
  log(LogLevel::error, "http_handler_threw", {{"path", path}, {"what", why}});
  reply.send(500, error_json("internal", "the request could not be served"));
}

void Connection::answer(HttpResponse response) {
  if (phase_ != Phase::answering) return;
  if (!are_headers_safe(response.headers) || response.status < 200 || response.status > 999) {
    log(LogLevel::error, "http_reply_invalid", {{"status", response.status}});
    response = json_response(500, error_json("internal", "the reply was malformed"));
  }
  const bool with_body = allows_body(response.status);
  std::string bytes =
      render_response_head(response, with_body ? Framing::content_length : Framing::none, after_);
  if (with_body && !has_head_request_) bytes += response.body;
  // Set first: a write that fails at once must find the reply finished.
  phase_ = Phase::flushing;
  queue(std::move(bytes));
}

void Connection::begin_stream(std::string content_type) {
  if (phase_ != Phase::answering) return;
  HttpResponse head{
      200, {{"content-type", std::move(content_type)}, {"cache-control", "no-store"}}, ""};
  if (!are_headers_safe(head.headers)) head.headers.clear();
  if (framing_ == Framing::until_close) after_ = After::close;
  is_streaming_ = true;
  queue(render_response_head(head, framing_, after_));
}

void Connection::write_stream(std::string_view data) {
  // An empty chunk would end the body.
  if (phase_ != Phase::answering || !is_streaming_ || data.empty() || has_head_request_) return;
  queue(framing_ == Framing::chunked ? render_chunk(data) : std::string(data));
}

void Connection::end_stream() {
  if (phase_ != Phase::answering || !is_streaming_) return;
  phase_ = Phase::flushing;
  if (framing_ == Framing::chunked && !has_head_request_) return queue("0\r\n\r\n");
  if (!is_writing_) on_flushed();
}

void Connection::abort_reply(std::string_view event) {
  if (phase_ != Phase::answering) return;
  log(LogLevel::error, event, {{"peer", peer_.name}});
  // A stream without its last chunk tells the peer that it is not whole.
  if (is_streaming_) return close();
  answer(json_response(500, error_json("internal", "the request was dropped")));
}

void Connection::refuse(int status, std::string_view why) {
  std::string message(why);
  // The parser's words are ours, not the peer's; still nothing may break the quotes.
  std::erase_if(message, [](char c) { return c == '"' || c == '\\'; });
  phase_ = Phase::answering;
  after_ = After::close;
  lingers_ = true;
  answer(json_response(status, error_json("invalid", message)));
}

void Connection::queue(std::string bytes) {
  if (is_closed()) return;
  if (queued_.empty()) {
    queued_ = std::move(bytes);
  } else {
    queued_ += bytes;
  }
  if (is_streaming_ && queued_.size() > queue_limit) {
    log(LogLevel::warn, "http_stream_cut", {{"peer", peer_.name}, {"bytes", queued_.size()}});
    return close();
  }
  if (!is_writing_) write_next();
}

void Connection::write_next() {
  is_writing_ = true;
  writing_.swap(queued_);
  queued_.clear();
  touch();
  transport_->write_all(asio::buffer(writing_),
                        [self = shared_from_this()](ErrorCode failed, std::size_t) {
                          self->is_writing_ = false;
                          if (self->is_closed()) return;
                          if (failed) return self->close();
                          if (!self->queued_.empty()) return self->write_next();
                          self->on_flushed();
                        });
}

void Connection::on_flushed() {
  if (writing_.capacity() > body_read_size) std::string().swap(writing_);
  if (phase_ == Phase::answering) deadline_ = SteadyTime::max();
  if (phase_ != Phase::flushing) return;
  if (after_ == After::keep_alive) return begin_request();
  if (lingers_) return linger();
  close();
}

void Connection::linger() {
  phase_ = Phase::lingering;
  deadline_ = std::chrono::steady_clock::now() + linger_limit;
  transport_->shutdown_send();
  input_.consume(input_.size());
  if (!is_reading_) start_read();
}

}  // namespace tundish::net
