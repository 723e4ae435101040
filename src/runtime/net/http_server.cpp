#include "runtime/net/http_server.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/log.hpp"
#include "runtime/net/http_connection.hpp"
#include "runtime/net/loop_impl.hpp"

namespace tundish::net {
namespace {

using Acceptor = asio::basic_socket_acceptor<asio::generic::stream_protocol>;

/// Out of file descriptors: wait for some to come back instead of spinning.
constexpr auto accept_retry = std::chrono::milliseconds(100);

Error listen_error(const std::string& url, const char* step) {
  const int number = errno;
  auto error = make_error(number == EADDRINUSE ? Code::conflict : Code::unavailable,
                          "cannot listen on " + url + ": " + step + ": " + std::strerror(number));
  if (number == EADDRINUSE) error.remedy = "stop the other program or choose another port";
  if (number == EACCES) error.remedy = "run as root or choose another port or directory";
  return error;
}

/// A socket file survives a crash of its owner; one that somebody still serves stays.
Result<> remove_stale_socket(const std::string& path) {
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0) return {};
  if (!S_ISSOCK(info.st_mode)) {
    return make_error(Code::conflict, "'" + path + "' exists and is no socket");
  }
  const Endpoint endpoint = make_socket_file_endpoint(path);
  const int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool is_served =
      connect(probe, endpoint.data(), static_cast<socklen_t>(endpoint.size())) == 0;
  ::close(probe);
  if (is_served) {
    return make_error(Code::conflict, "another program serves '" + path + "'")
        .with_remedy("stop it or choose another path");
  }
  unlink(path.c_str());
  return {};
}

/// The listening descriptor.
Result<int> open_listener(const std::string& url, const Endpoint& endpoint) {
  const int family = endpoint.protocol().family();
  const int fd = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return listen_error(url, "socket");
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  // The mode must hold from the first moment the file exists.
  const mode_t mask = umask(0117);
  const int bound = ::bind(fd, endpoint.data(), static_cast<socklen_t>(endpoint.size()));
  umask(mask);
  if (bound != 0 || ::listen(fd, SOMAXCONN) != 0) {
    Error error = listen_error(url, bound != 0 ? "bind" : "listen");
    ::close(fd);
    return error;
  }
  return fd;
}

Peer identify(Socket& socket) {
  ErrorCode failed;
  Peer peer;
  const Endpoint local = socket.local_endpoint(failed);
  if (!failed) peer.local_address = render_endpoint(local);
  if (peer.local_address == "unix") {
    ucred who{};
    socklen_t size = sizeof who;
    const bool known =
        getsockopt(socket.native_handle(), SOL_SOCKET, SO_PEERCRED, &who, &size) == 0;
    peer.name = known ? "unix:uid=" + std::to_string(who.uid) : "unix:uid=unknown";
    return peer;
  }
  const Endpoint remote = socket.remote_endpoint(failed);
  if (!failed) peer.name = render_endpoint(remote);
  return peer;
}

template <class Act>
void on_loop(const std::shared_ptr<Reply::State>& state, Act act) {
  auto connection = state->connection.lock();
  if (!connection) return;
  auto& target = *connection;
  asio::dispatch(target.executor(), [connection = std::move(connection), state,
                                     act = std::move(act)]() mutable { act(*connection, *state); });
}

using Stage = Reply::State::Stage;

}  // namespace

Reply::State::~State() {
  if (stage == Stage::done) return;
  auto lost = connection.lock();
  if (!lost || lost->is_closed()) return;
  auto& target = *lost;
  asio::dispatch(target.executor(),
                 [lost = std::move(lost)] { lost->abort_reply("http_reply_dropped"); });
}

void Reply::send(HttpResponse response) const {
  on_loop(state_, [response = std::move(response)](Connection& connection, State& state) mutable {
    if (state.stage == Stage::done) return;
    // Too late for a status: what is missing of the stream must be visible to the peer.
    if (state.stage == Stage::streaming) return connection.abort_reply("http_reply_after_stream");
    state.stage = Stage::done;
    connection.answer(std::move(response));
  });
}

void Reply::send(int status, std::string json_body) const {
  send(HttpResponse{status, {{"content-type", "application/json"}}, std::move(json_body)});
}

void Reply::begin_stream(std::string content_type) const {
  on_loop(state_, [type = std::move(content_type)](Connection& connection, State& state) mutable {
    if (state.stage != Stage::waiting) return;
    state.stage = Stage::streaming;
    connection.begin_stream(std::move(type));
  });
}

void Reply::write(std::string chunk) const {
  on_loop(state_, [chunk = std::move(chunk)](Connection& connection, State& state) {
    if (state.stage == Stage::streaming) connection.write_stream(chunk);
  });
}

void Reply::end() const {
  on_loop(state_, [](Connection& connection, State& state) {
    if (state.stage != Stage::streaming) return;
    state.stage = Stage::done;
    connection.end_stream();
  });
}

bool Reply::closed() const {
  const auto connection = state_->connection.lock();
  return !connection || connection->is_closed();
}

struct HttpServer::Impl {
  Impl(Loop& loop, ListenOptions options, Handler handler)
      : acceptor(loop.impl().io), timer(loop.impl().io), retry(loop.impl().io) {
    shared->options = std::move(options);
    shared->handler = std::move(handler);
  }
  ~Impl() {
    shared->is_open = false;
    ErrorCode ignored;
    acceptor.close(ignored);
    timer.cancel();
    retry.cancel();
    // close() takes each out of the map.
    while (!shared->connections.empty()) shared->connections.begin()->second->close();
    if (!socket_path.empty()) unlink(socket_path.c_str());
  }
  void accept();
  void admit(Socket socket);
  void sweep();

  std::shared_ptr<ServerShared> shared = std::make_shared<ServerShared>();
  Acceptor acceptor;
  asio::steady_timer timer;
  asio::steady_timer retry;
  TlsContext tls;
  std::string socket_path;
  int port = 0;
};

void HttpServer::Impl::accept() {
  acceptor.async_accept([this, alive = shared](ErrorCode failed, Socket socket) {
    if (!alive->is_open) return;
    if (!failed) {
      admit(std::move(socket));
      return accept();
    }
    log(LogLevel::warn, "http_accept_failed", {{"what", failed.message()}});
    retry.expires_after(accept_retry);
    retry.async_wait([this, alive = shared](ErrorCode cancelled) {
      if (!cancelled && alive->is_open) accept();
    });
  });
}

void HttpServer::Impl::admit(Socket socket) {
  Peer peer = identify(socket);
  auto transport =
      tls ? make_server_transport(std::move(socket), tls) : make_plain_transport(std::move(socket));
  auto connection = std::make_shared<Connection>(shared, std::move(transport), std::move(peer));
  shared->connections.emplace(connection.get(), connection);
  connection->start();
}

/// One timer for all connections: arming one per read would cost more than the reads.
void HttpServer::Impl::sweep() {
  const auto idle = std::chrono::microseconds(shared->options.idle_limit.us);
  timer.expires_after(std::clamp<std::chrono::microseconds>(idle / 4, std::chrono::milliseconds(10),
                                                            std::chrono::seconds(1)));
  timer.async_wait([this, alive = shared](ErrorCode cancelled) {
    if (cancelled || !alive->is_open) return;
    const auto now = std::chrono::steady_clock::now();
    std::vector<std::shared_ptr<Connection>> overdue;
    for (const auto& [key, connection] : shared->connections) {
      if (connection->is_overdue(now)) overdue.push_back(connection);
    }
    for (const auto& connection : overdue) connection->close();
    sweep();
  });
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

HttpServer::~HttpServer() = default;

int HttpServer::port() const { return impl_->port; }

Result<std::unique_ptr<HttpServer>> HttpServer::listen(Loop& loop, ListenOptions options,
                                                       Handler handler) {
  const Url url = TRY(parse_url(options.url));
  auto impl = std::make_unique<Impl>(loop, options, std::move(handler));
  if (url.scheme == Scheme::https) {
    impl->tls = TRY(make_server_tls({options.tls_cert, options.tls_key}));
  }
  Endpoint endpoint;
  if (url.scheme == Scheme::socket_file) {
    TRY_VOID(remove_stale_socket(url.socket_path));
    endpoint = make_socket_file_endpoint(url.socket_path);
  } else {
    const std::string address = url.address == "localhost" ? "127.0.0.1" : url.address;
    endpoint = TRY(make_tcp_endpoint(address, url.port));
  }
  const int fd = TRY(open_listener(options.url, endpoint));
  if (url.scheme == Scheme::socket_file) impl->socket_path = url.socket_path;
  ErrorCode failed;
  impl->acceptor.assign(endpoint.protocol(), fd, failed);
  if (failed) {
    ::close(fd);
    return make_error(Code::internal, "cannot listen on " + options.url + ": " + failed.message());
  }
  impl->port = port_of(impl->acceptor.local_endpoint(failed));
  impl->accept();
  impl->sweep();
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

}  // namespace tundish::net
