#include "runtime/net/http_exchange.hpp"

#include <netdb.h>

#include <boost/asio/post.hpp>
#include <chrono>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "base/text.hpp"

namespace tundish::net {
namespace {

namespace http = boost::beast::http;

constexpr std::uint64_t response_limit = 64 << 20;
constexpr std::uint32_t header_limit = 64 << 10;
constexpr std::size_t read_size = 16 << 10;
/// How often a silent stream gives its reader the chance to stop.
constexpr Duration stream_tick = seconds(1);

}  // namespace

/// getaddrinfo has no deadline: it runs on a thread of its own, which reports only while somebody
/// still waits, so that a dead name server delays nobody beyond his limit.
struct NameLookup {
  std::mutex guard;
  asio::io_context* io = nullptr;
  std::function<void(std::vector<Endpoint>, std::string)> done;

  void forget() {
    const std::lock_guard lock(guard);
    io = nullptr;
    done = nullptr;
  }
};

namespace {

void report_lookup(const std::shared_ptr<NameLookup>& lookup, const std::string& name, int port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int code = getaddrinfo(name.c_str(), std::to_string(port).c_str(), &hints, &list);
  std::vector<Endpoint> found;
  for (const addrinfo* at = list; at != nullptr; at = at->ai_next) {
    found.emplace_back(at->ai_addr, at->ai_addrlen);
  }
  if (list != nullptr) freeaddrinfo(list);
  const std::string why = code == 0 ? "" : gai_strerror(code);
  const std::lock_guard lock(lookup->guard);
  if (lookup->io == nullptr) return;
  asio::post(*lookup->io, [lookup, found = std::move(found), why] {
    // On the waiting thread: nobody else clears `done` now.
    if (lookup->done) std::exchange(lookup->done, nullptr)(found, why);
  });
}

}  // namespace

Exchange::Exchange(asio::io_context& io, Call call, Done done)
    : io_(io), call_(std::move(call)), done_(std::move(done)), timer_(io) {}

/// A completion handler that keeps exchange and connection alive and ignores what came too late.
auto Exchange::then(Step step) {
  return [self = shared_from_this(), transport = transport_, attempt = attempt_, step](
             ErrorCode failed, std::size_t size) {
    if (self->is_finished_ || self->attempt_ != attempt) return;
    (self.get()->*step)(failed, size);
  };
}

void Exchange::arm(Duration wait) {
  timer_.expires_after(std::chrono::microseconds(wait.us));
  timer_.async_wait([self = shared_from_this()](ErrorCode cancelled) {
    if (!cancelled && !self->is_finished_) self->on_timer();
  });
}

void Exchange::on_timer() {
  // A wait that was cancelled too late to be stopped.
  if (timer_.expiry() > std::chrono::steady_clock::now()) return;
  if (call_.on_chunk && has_answer_) {
    if (!call_.on_chunk("")) return finish(HttpResponse{});
    return arm(stream_tick);
  }
  finish(make_error(Code::timeout, call_.request.method + " " + call_.request.url +
                                       " was not answered within " + render_duration(call_.limit)));
}

void Exchange::start() {
  auto bytes = render_request(call_.request, call_.url);
  if (!bytes) {
    asio::post(io_, [self = shared_from_this(), error = std::move(bytes).error()]() mutable {
      if (!self->is_finished_) self->finish(std::move(error));
    });
    return;
  }
  bytes_ = std::move(*bytes);
  arm(call_.limit);
  transport_ = std::move(call_.kept);
  if (transport_ && !transport_->is_stale()) {
    is_reused_ = true;
    return send();
  }
  connect();
}

void Exchange::abandon() {
  done_ = nullptr;
  if (transport_) transport_->close();
  release();
}

/// Nothing of this call goes on: an unanswered connect would hold its descriptor for minutes.
void Exchange::release() {
  is_finished_ = true;
  timer_.cancel();
  if (lookup_) lookup_->forget();
  ErrorCode ignored;
  if (connecting_) connecting_->close(ignored);
  connecting_.reset();
  transport_.reset();
}

void Exchange::connect() {
  ++attempt_;
  is_reused_ = false;
  sent_ = 0;
  input_.clear();
  if (transport_) transport_->close();
  transport_.reset();
  endpoints_.clear();
  next_endpoint_ = 0;
  if (call_.url.scheme == Scheme::socket_file) {
    endpoints_.push_back(make_socket_file_endpoint(call_.url.socket_path));
  } else if (auto numeric = make_tcp_endpoint(call_.url.address, call_.url.port)) {
    endpoints_.push_back(*numeric);
  } else {
    return look_up_name();
  }
  connect_next(unavailable("cannot reach", "no address"));
}

void Exchange::look_up_name() {
  lookup_ = std::make_shared<NameLookup>();
  lookup_->io = &io_;
  lookup_->done = [self = shared_from_this()](std::vector<Endpoint> found, std::string why) {
    if (self->is_finished_) return;
    self->endpoints_ = std::move(found);
    self->connect_next(self->unavailable("cannot resolve the name of", why));
  };
  try {
    std::thread(report_lookup, lookup_, call_.url.address, call_.url.port).detach();
  } catch (const std::system_error& e) {
    asio::post(io_, [lookup = lookup_, why = std::string(e.what())] {
      if (lookup->done) std::exchange(lookup->done, nullptr)({}, why);
    });
  }
}

void Exchange::connect_next(Error last) {
  if (next_endpoint_ == endpoints_.size()) {
    // Posted, so that even a call that fails at once does so after start() has returned.
    asio::post(io_, [self = shared_from_this(), last = std::move(last)]() mutable {
      if (!self->is_finished_) self->finish(std::move(last));
    });
    return;
  }
  const Endpoint endpoint = endpoints_[next_endpoint_++];
  connecting_ = std::make_shared<Socket>(io_);
  connecting_->async_connect(endpoint,
                             [self = shared_from_this(), socket = connecting_](ErrorCode failed) {
                               if (!self->is_finished_) self->on_connected(failed, *socket);
                             });
}

void Exchange::on_connected(ErrorCode failed, Socket& socket) {
  if (failed) return connect_next(unavailable("cannot connect to", failed.message()));
  if (call_.tls) {
    transport_ = make_client_transport(std::move(socket), call_.tls, call_.url.address);
  } else {
    transport_ = make_plain_transport(std::move(socket));
  }
  transport_->handshake(then(&Exchange::on_secured));
}

void Exchange::on_secured(ErrorCode failed, std::size_t) {
  if (!failed) return send();
  const bool is_distrusted = failed.message().find("verify failed") != std::string::npos;
  if (!is_distrusted) return finish(unavailable("no TLS with", failed.message()));
  finish(make_error(Code::denied, "the certificate of " + call_.request.url +
                                      " is not trusted: " + failed.message())
             .with_remedy("check the CA file and that the certificate names this address"));
}

void Exchange::send() {
  expect_answer();
  transport_->write_all(asio::buffer(bytes_), then(&Exchange::on_sent));
}

void Exchange::expect_answer() {
  has_answer_ = false;
  parser_.emplace();
  parser_->eager(true);
  parser_->header_limit(header_limit);
  if (call_.on_chunk) {
    parser_->body_limit(boost::none);
  } else {
    parser_->body_limit(response_limit);
  }
  if (call_.request.method == "HEAD") parser_->skip(true);
}

void Exchange::on_sent(ErrorCode failed, std::size_t size) {
  sent_ = size;
  // A peer that refuses a large body answers before it has read all: look for that answer.
  if (failed && (size == 0 || is_reused_)) return lose(failed);
  read();
}

void Exchange::read() {
  transport_->read_some(asio::mutable_buffer(input_.prepare(read_size)), then(&Exchange::on_read));
}

void Exchange::on_read(ErrorCode failed, std::size_t size) {
  if (failed) {
    if (has_answer_ && failed == asio::error::eof && !parser_->is_done()) {
      ErrorCode incomplete;
      parser_->put_eof(incomplete);
      if (!incomplete && deliver()) return on_message_done();
    }
    return lose(failed);
  }
  input_.commit(size);
  parse();
}

void Exchange::parse() {
  ErrorCode broken;
  while (input_.size() > 0 && !parser_->is_done()) {
    const std::size_t used = parser_->put(input_.data(), broken);
    input_.consume(used);
    if (broken || used == 0) break;
  }
  if (broken && broken != http::error::need_more) {
    return finish(make_error(Code::corrupt, "the answer of " + call_.request.url +
                                                " is no valid HTTP: " + broken.message()));
  }
  if (parser_->is_header_done()) has_answer_ = true;
  if (!deliver()) return;
  if (parser_->is_done()) return on_message_done();
  read();
}

/// Hands body bytes to a stream's reader. False when the exchange has ended by that.
bool Exchange::deliver() {
  if (!call_.on_chunk || !has_answer_) return true;
  auto& message = parser_->get();
  if (message.result_int() < 200 || message.result_int() > 299) return true;
  std::string chunk;
  chunk.swap(message.body());
  if (!chunk.empty() && !call_.on_chunk(chunk)) {
    finish(HttpResponse{});
    return false;
  }
  if (!parser_->is_done()) arm(stream_tick);
  return true;
}

void Exchange::on_message_done() {
  const auto status = parser_->get().result_int();
  if (status >= 100 && status < 200) {
    // An interim answer (100 Continue); the real one follows, perhaps in the same read.
    expect_answer();
    return parse();
  }
  const bool keeps = parser_->keep_alive() && input_.size() == 0 && sent_ == bytes_.size();
  finish(take_response(), keeps ? transport_ : nullptr);
}

HttpResponse Exchange::take_response() {
  auto& message = parser_->get();
  HttpResponse response;
  response.status = static_cast<int>(message.result_int());
  for (const auto& field : message) {
    auto& value = response.headers[to_lower(std::string_view(field.name_string()))];
    if (!value.empty()) value += ", ";
    value += field.value();
  }
  response.body = std::move(message.body());
  return response;
}

void Exchange::lose(const ErrorCode& why) {
  const bool may_repeat = sent_ == 0 || is_idempotent(call_.request.method);
  if (is_reused_ && !has_answer_ && may_repeat) return connect();
  finish(unavailable("lost the connection to", why.message()));
}

void Exchange::finish(Result<HttpResponse> result, Kept kept) {
  if (transport_ && !kept) transport_->close();
  release();
  const auto done = std::exchange(done_, nullptr);
  if (done) done(std::move(result), std::move(kept));
}

Error Exchange::unavailable(std::string_view step, std::string_view why) const {
  return make_error(Code::unavailable,
                    std::string(step) + " " + call_.request.url + ": " + std::string(why))
      .with_remedy("check that it runs and that the address is right");
}

}  // namespace tundish::net
