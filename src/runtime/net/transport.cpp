#include "runtime/net/transport.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <cerrno>
#include <cstddef>
#include <cstring>

namespace tundish::net {
namespace {

class PlainTransport final : public Transport {
 public:
  explicit PlainTransport(Socket socket) : socket_(std::move(socket)) {}
  void handshake(Done done) override {
    asio::post(socket_.get_executor(), [done = std::move(done)] { done({}, 0); });
  }
  void read_some(asio::mutable_buffer into, Done done) override {
    socket_.async_read_some(into, std::move(done));
  }
  void write_all(asio::const_buffer data, Done done) override {
    asio::async_write(socket_, data, std::move(done));
  }
  Socket& socket() override { return socket_; }

 private:
  Socket socket_;
};

class TlsTransport final : public Transport {
 public:
  using Stream = asio::ssl::stream<Socket>;
  TlsTransport(Socket socket, TlsContext tls, Stream::handshake_type role)
      : tls_(std::move(tls)), stream_(std::move(socket), *tls_), role_(role) {}
  void handshake(Done done) override {
    stream_.async_handshake(role_, [done = std::move(done)](ErrorCode failed) { done(failed, 0); });
  }
  void read_some(asio::mutable_buffer into, Done done) override {
    stream_.async_read_some(into, std::move(done));
  }
  void write_all(asio::const_buffer data, Done done) override {
    asio::async_write(stream_, data, std::move(done));
  }
  Socket& socket() override { return stream_.next_layer(); }
  Stream& stream() { return stream_; }

 private:
  TlsContext tls_;
  Stream stream_;
  Stream::handshake_type role_;
};

void set_no_delay(Socket& socket) {
  const int on = 1;
  // Fails on a socket file, where there is nothing to delay.
  setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

Error tls_error(const std::string& what, const ErrorCode& why) {
  return make_error(Code::invalid, what + ": " + why.message())
      .with_remedy("give readable PEM files that belong together");
}

}  // namespace

void Transport::close() {
  ErrorCode ignored;
  socket().close(ignored);
}

void Transport::shutdown_send() {
  ErrorCode ignored;
  socket().shutdown(Socket::shutdown_send, ignored);
}

bool Transport::is_stale() {
  char byte = 0;
  const auto got = recv(socket().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
}

std::unique_ptr<Transport> make_plain_transport(Socket socket) {
  set_no_delay(socket);
  return std::make_unique<PlainTransport>(std::move(socket));
}

std::unique_ptr<Transport> make_server_transport(Socket socket, TlsContext tls) {
  set_no_delay(socket);
  return std::make_unique<TlsTransport>(std::move(socket), std::move(tls),
                                        asio::ssl::stream_base::server);
}

std::unique_ptr<Transport> make_client_transport(Socket socket, TlsContext tls,
                                                 const std::string& name) {
  set_no_delay(socket);
  auto transport = std::make_unique<TlsTransport>(std::move(socket), std::move(tls),
                                                  asio::ssl::stream_base::client);
  ErrorCode ignored;
  transport->stream().set_verify_callback(asio::ssl::host_name_verification(name), ignored);
  asio::ip::make_address(name, ignored);
  // The server name extension carries DNS names only (RFC 6066, section 3).
  if (ignored) SSL_set_tlsext_host_name(transport->stream().native_handle(), name.c_str());
  return transport;
}

Result<TlsContext> make_server_tls(const CertificateFiles& files) {
  auto tls = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_server);
  SSL_CTX_set_min_proto_version(tls->native_handle(), TLS1_2_VERSION);
  ErrorCode failed;
  tls->use_certificate_chain_file(files.certificate, failed);
  if (failed) return tls_error("certificate '" + files.certificate + "'", failed);
  tls->use_private_key_file(files.key, asio::ssl::context::pem, failed);
  if (failed) return tls_error("key '" + files.key + "'", failed);
  return tls;
}

Result<TlsContext> make_client_tls(const std::string& ca_file) {
  auto tls = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_client);
  SSL_CTX_set_min_proto_version(tls->native_handle(), TLS1_2_VERSION);
  ErrorCode failed;
  if (ca_file.empty()) {
    tls->set_default_verify_paths(failed);
  } else {
    tls->load_verify_file(ca_file, failed);
  }
  if (failed) return tls_error("CA file '" + ca_file + "'", failed);
  tls->set_verify_mode(asio::ssl::verify_peer);
  return tls;
}

Endpoint make_socket_file_endpoint(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::size_t length = std::min(path.size(), sizeof address.sun_path - 1);
  std::memcpy(address.sun_path, path.data(), length);
  return {&address, offsetof(sockaddr_un, sun_path) + length + 1};
}

Result<Endpoint> make_tcp_endpoint(const std::string& address, int port) {
  ErrorCode failed;
  const auto parsed = asio::ip::make_address(address, failed);
  if (failed) return make_error(Code::invalid, "'" + address + "' is no numeric address");
  const asio::ip::tcp::endpoint endpoint(parsed, static_cast<unsigned short>(port));
  return Endpoint(endpoint);
}

std::string render_endpoint(const Endpoint& endpoint) {
  if (endpoint.protocol().family() == AF_UNIX) return "unix";
  asio::ip::tcp::endpoint tcp;
  if (endpoint.size() > tcp.capacity()) return "";
  std::memcpy(tcp.data(), endpoint.data(), endpoint.size());
  return tcp.address().to_string();
}

int port_of(const Endpoint& endpoint) {
  asio::ip::tcp::endpoint tcp;
  if (endpoint.protocol().family() == AF_UNIX || endpoint.size() > tcp.capacity()) return 0;
  std::memcpy(tcp.data(), endpoint.data(), endpoint.size());
  return tcp.port();
}

}  // namespace tundish::net
