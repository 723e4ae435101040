#pragma once
// One connected byte stream, plain or TLS, TCP or socket file, behind one type: so the HTTP code
// above is compiled once instead of once per stream type.
#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ssl/context.hpp>
#include <functional>
#include <memory>
#include <string>

#include "base/result.hpp"

namespace tundish::net {

namespace asio = boost::asio;
using ErrorCode = boost::system::error_code;
using Socket = asio::generic::stream_protocol::socket;
using Endpoint = asio::generic::stream_protocol::endpoint;
using TlsContext = std::shared_ptr<asio::ssl::context>;

/// `done` runs later, never before the call returns. The caller keeps the transport alive until
/// then, and has at most one read and one write under way.
class Transport {
 public:
  using Done = std::function<void(ErrorCode, std::size_t)>;
  virtual ~Transport() = default;
  virtual void handshake(Done done) = 0;
  virtual void read_some(asio::mutable_buffer into, Done done) = 0;
  virtual void write_all(asio::const_buffer data, Done done) = 0;
  virtual Socket& socket() = 0;
  /// Pending calls end with an error.
  void close();
  void shutdown_send();
  /// The peer closed it or sent what nobody asked for: no request may go out on it.
  bool is_stale();
};

std::unique_ptr<Transport> make_plain_transport(Socket socket);
std::unique_ptr<Transport> make_server_transport(Socket socket, TlsContext tls);
/// Verifies that the certificate is for `name` (a DNS name or an address).
std::unique_ptr<Transport> make_client_transport(Socket socket, TlsContext tls,
                                                 const std::string& name);

struct CertificateFiles {
  std::string certificate;
  std::string key;
};
Result<TlsContext> make_server_tls(const CertificateFiles& files);
/// `ca_file` empty: the system's store.
Result<TlsContext> make_client_tls(const std::string& ca_file);

Endpoint make_socket_file_endpoint(const std::string& path);
/// nullopt-like: `invalid` when `address` is no numeric address.
Result<Endpoint> make_tcp_endpoint(const std::string& address, int port);
/// "10.88.0.11" of a TCP endpoint, "unix" of a socket file.
std::string render_endpoint(const Endpoint& endpoint);
int port_of(const Endpoint& endpoint);

}  // namespace tundish::net
