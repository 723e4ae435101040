#pragma once
// Many keep-alive HTTP connections from one thread: what thousands of agents look like from the
// far end. Only what tundishd answers is understood: a status, Content-Length, a body.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>

#include "base/check.hpp"
#include "bench/figures.hpp"

namespace tundish::bench {

struct Answer {
  int status = 0;
  double took_s = 0;
  std::string body;
};

class HttpLoad {
 public:
  using Done = std::function<void(const Answer&)>;

  explicit HttpLoad(int port) : port_(port), epoll_(::epoll_create1(EPOLL_CLOEXEC)) {}
  ~HttpLoad() {
    for (const auto& connection : connections_) ::close(connection->fd);
    ::close(epoll_);
  }
  HttpLoad(const HttpLoad&) = delete;
  HttpLoad& operator=(const HttpLoad&) = delete;

  /// Number of a new connection.
  std::size_t open() {
    auto made = std::make_unique<Connection>();
    made->fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    check(made->fd >= 0, "the bench needs more file descriptors");
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(port_));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    check(::connect(made->fd, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0,
          "tundishd must accept the bench");
    const int on = 1;
    ::setsockopt(made->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ::fcntl(made->fd, F_SETFL, O_NONBLOCK);
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = connections_.size();
    ::epoll_ctl(epoll_, EPOLL_CTL_ADD, made->fd, &event);
    connections_.push_back(std::move(made));
    return connections_.size() - 1;
  }

  /// One request in flight per connection.
  void send(std::size_t number, const std::string& request, Done done) {
    Connection& connection = *connections_[number];
    connection.done = std::move(done);
    connection.input.clear();
    connection.sent_at = wall_s();
    const auto wrote = ::send(connection.fd, request.data(), request.size(), MSG_NOSIGNAL);
    check(wrote == static_cast<ssize_t>(request.size()), "a request of the bench must fit");
  }

  /// Handles what arrives within `limit_ms`.
  void turn(int limit_ms) {
    epoll_event events[256];
    const int count = ::epoll_wait(epoll_, events, 256, limit_ms);
    for (int i = 0; i < count; ++i) read(*connections_[events[i].data.u64]);
  }

 private:
  struct Connection {
    int fd = -1;
    double sent_at = 0;
    std::string input;
    Done done;
  };

  static void read(Connection& connection) {
    char buffer[65536];
    const auto size = ::recv(connection.fd, buffer, sizeof buffer, 0);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
    check(size > 0, "tundishd closed a connection of the bench");
    connection.input.append(buffer, static_cast<std::size_t>(size));
    const auto head = connection.input.find("\r\n\r\n");
    if (head == std::string::npos) return;
    std::size_t length = 0;
    for (const char* name : {"Content-Length: ", "content-length: "}) {
      const auto at = connection.input.find(name);
      if (at < head) length = std::strtoul(connection.input.c_str() + at + 16, nullptr, 10);
    }
    if (connection.input.size() < head + 4 + length) return;
    Answer answer;
    answer.status = std::atoi(connection.input.c_str() + 9);
    answer.took_s = wall_s() - connection.sent_at;
    answer.body = connection.input.substr(head + 4);
    const Done done = std::move(connection.done);
    connection.done = nullptr;
    if (done) done(answer);
  }

  int port_;
  int epoll_;
  std::vector<std::unique_ptr<Connection>> connections_;
};

inline std::string make_request(const std::string& call, const std::string& token,
                                const std::string& body) {
  return call + " HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer " + token +
         "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + body;
}

}  // namespace tundish::bench
