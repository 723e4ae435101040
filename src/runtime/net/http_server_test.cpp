#include "runtime/net/http_server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <fstream>

#include "runtime/net/net_fixture_test.hpp"

namespace tundish::net {
namespace {

/// A raw TCP client: for what no well-behaved client sends.
class RawClient {
 public:
  explicit RawClient(int port) : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(port));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(fd_, reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
    timeval limit{3, 0};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  }
  ~RawClient() { close(fd_); }
  void send_text(std::string_view text) {
    EXPECT_EQ(::send(fd_, text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
  }
  /// Until `mark` was seen or the peer closed.
  std::string read_until(std::string_view mark) {
    std::string got;
    char byte = 0;
    while (got.find(mark) == std::string::npos && recv(fd_, &byte, 1, 0) == 1) got += byte;
    return got;
  }
  std::string read_all() { return read_until("\x01never"); }

 private:
  int fd_;
};

void echo(const ServerRequest& request, const Reply& reply) {
  reply.send(200, request.method + " " + request.path + " " + request.body);
}

TEST(HttpServer, hands_over_the_whole_request) {
  ServerRequest seen;
  TestServer server([&](ServerRequest request, Reply reply) {
    seen = request;
    reply.send(HttpResponse{201, {{"x-made", "yes"}}, "done"});
  });
  auto request = post(server.url("/a%20b?q=1"), "body");
  request.headers["X-Token"] = "T";
  const auto answer = http_call(request, seconds(3));
  ASSERT_TRUE(answer) << answer.error().message();
  EXPECT_EQ(answer->status, 201);
  EXPECT_EQ(answer->body, "done");
  EXPECT_EQ(answer->headers.at("x-made"), "yes");
  EXPECT_EQ(seen.method, "POST");
  EXPECT_EQ(seen.path, "/a b");
  EXPECT_EQ(seen.query.at("q"), "1");
  EXPECT_EQ(seen.headers.at("x-token"), "T");
  EXPECT_EQ(seen.body, "body");
  EXPECT_EQ(seen.peer, "127.0.0.1");
  EXPECT_EQ(seen.local_address, "127.0.0.1");
}

TEST(HttpServer, answers_pipelined_requests_in_order) {
  TestServer server(echo);
  RawClient client(server.port());
  client.send_text(
      "GET /1 HTTP/1.1\r\nhost: a\r\n\r\nPOST /2 HTTP/1.1\r\ncontent-length: 2\r\n\r\nhi"
      "GET /3 HTTP/1.1\r\nconnection: close\r\n\r\n");
  const std::string got = client.read_all();
  const auto one = got.find("GET /1");
  const auto two = got.find("POST /2 hi");
  const auto three = got.find("GET /3");
  ASSERT_NE(three, std::string::npos) << got;
  EXPECT_LT(one, two);
  EXPECT_LT(two, three);
}

TEST(HttpServer, takes_a_request_in_single_bytes_and_in_chunks) {
  TestServer server(echo);
  RawClient client(server.port());
  for (const char c : std::string("POST /x HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n"
                                  "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")) {
    client.send_text({&c, 1});
  }
  EXPECT_NE(client.read_until("POST /x abcde").find("200 OK"), std::string::npos);
}

TEST(HttpServer, refuses_malformed_requests_with_400_and_closes) {
  int calls = 0;
  TestServer server([&](ServerRequest, Reply reply) {
    ++calls;
    reply.send(200, "{}");
  });
  for (const char* text :
       {"nonsense\r\n\r\n", "GET /%zz HTTP/1.1\r\n\r\n", "GET x HTTP/1.1\r\n\r\n",
        "POST / HTTP/1.1\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n"}) {
    RawClient client(server.port());
    client.send_text(text);
    EXPECT_EQ(client.read_all().substr(0, 12), "HTTP/1.1 400") << text;
  }
  EXPECT_EQ(calls, 0);
}

TEST(HttpServer, refuses_a_huge_header_and_a_huge_body) {
  ListenOptions options;
  options.body_limit = 1000;
  TestServer server(echo, options);
  RawClient client(server.port());
  client.send_text("GET / HTTP/1.1\r\nx: " + std::string(40000, 'a') + "\r\n\r\n");
  EXPECT_EQ(client.read_all().substr(0, 12), "HTTP/1.1 431");
  // Far more than the buffers of both ends hold: the client is still sending when it is refused.
  const auto large = http_call(post(server.url(), std::string(20 << 20, 'x')), seconds(5));
  ASSERT_TRUE(large) << large.error().message();
  EXPECT_EQ(large->status, 413);
  const auto fits = http_call(post(server.url(), std::string(1000, 'x')), seconds(5));
  ASSERT_TRUE(fits);
  EXPECT_EQ(fits->status, 200);
}

TEST(HttpServer, invites_the_body_that_waits_for_it) {
  TestServer server(echo);
  RawClient client(server.port());
  client.send_text("POST /x HTTP/1.1\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n");
  EXPECT_NE(client.read_until("\r\n\r\n").find("100 Continue"), std::string::npos);
  client.send_text("hi");
  EXPECT_NE(client.read_until("POST /x hi").find("200 OK"), std::string::npos);
}

TEST(HttpServer, answers_a_long_poll_later_and_from_another_thread) {
  std::thread later;
  TestServer server([&](ServerRequest, Reply reply) {
    later = std::thread([reply] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      reply.send(200, "late");
      reply.send(200, "second answers do not count");
    });
  });
  const auto answer = http_call(get(server.url()), seconds(3));
  later.join();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->body, "late");
}

TEST(HttpServer, sees_that_the_peer_of_a_long_poll_went_away) {
  std::optional<Reply> waiting;
  TestServer server([&](ServerRequest, Reply reply) { waiting = reply; });
  const auto gone = [&] {
    bool is_closed = false;
    server.running().sync([&] { is_closed = waiting && waiting->closed(); });
    return is_closed;
  };
  {
    RawClient client(server.port());
    client.send_text("GET / HTTP/1.1\r\n\r\n");
    EXPECT_TRUE(eventually([&] {
      bool has_come = false;
      server.running().sync([&] { has_come = waiting.has_value(); });
      return has_come;
    }));
    EXPECT_FALSE(gone());
  }
  EXPECT_TRUE(eventually(gone));
  server.running().sync([&] { waiting->send(200, "nobody"); });
}

TEST(HttpServer, a_reply_outlives_its_server) {
  std::optional<Reply> waiting;
  TestServer server([&](ServerRequest, Reply reply) { waiting = reply; });
  RawClient client(server.port());
  client.send_text("GET / HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(eventually([&] {
    bool has_come = false;
    server.running().sync([&] { has_come = waiting.has_value(); });
    return has_come;
  }));
  server.stop();
  EXPECT_EQ(client.read_all(), "");
  EXPECT_TRUE(waiting->closed());
  waiting->send(200, "late");
  waiting->begin_stream("text/plain");
  waiting->write("x");
  waiting->end();
}

TEST(HttpServer, a_throwing_handler_and_a_lost_reply_are_500) {
  TestServer server([](ServerRequest request, Reply) {
    if (request.path == "/throw") throw std::runtime_error("planted");
  });
  for (const char* path : {"/throw", "/lose"}) {
    const auto answer = http_call(get(server.url(path)), seconds(3));
    ASSERT_TRUE(answer) << path;
    EXPECT_EQ(answer->status, 500);
  }
}

TEST(HttpServer, streams_in_chunks_and_stays_usable) {
  TestServer server([](ServerRequest, Reply reply) {
    reply.begin_stream("text/event-stream");
    reply.write("data: 1\n\n");
    reply.write("");
    reply.write("data: 2\n\n");
    reply.end();
    reply.write("after the end");
  });
  HttpSession session;
  for (int i = 0; i < 2; ++i) {
    const auto answer = session.call(get(server.url()), seconds(3));
    ASSERT_TRUE(answer) << answer.error().message();
    EXPECT_EQ(answer->headers.at("content-type"), "text/event-stream");
    EXPECT_EQ(answer->body, "data: 1\n\ndata: 2\n\n");
  }
}

TEST(HttpServer, an_old_client_gets_a_stream_without_chunks) {
  TestServer server([](ServerRequest, Reply reply) {
    reply.begin_stream("text/plain");
    reply.write("abc");
    reply.end();
  });
  RawClient client(server.port());
  client.send_text("GET / HTTP/1.0\r\n\r\n");
  const std::string got = client.read_all();
  EXPECT_TRUE(got.ends_with("\r\n\r\nabc")) << got;
  EXPECT_EQ(got.find("chunked"), std::string::npos);
}

TEST(HttpServer, sends_no_body_to_head_and_with_204) {
  TestServer server([](ServerRequest request, Reply reply) {
    reply.send(request.method == "HEAD" ? 200 : 204, "body");
  });
  RawClient client(server.port());
  client.send_text("HEAD / HTTP/1.1\r\n\r\n");
  EXPECT_NE(client.read_until("\r\n\r\n").find("content-length: 4"), std::string::npos);
  client.send_text("GET / HTTP/1.1\r\nconnection: close\r\n\r\n");
  EXPECT_TRUE(client.read_all().ends_with("\r\n\r\n"));
}

TEST(HttpServer, closes_a_connection_that_says_nothing_but_not_a_long_poll) {
  ListenOptions options;
  options.idle_limit = milliseconds(150);
  TestServer server(
      [&](ServerRequest, Reply reply) {
        std::thread([reply] {
          std::this_thread::sleep_for(std::chrono::milliseconds(500));
          reply.send(200, "patient");
        }).detach();
      },
      options);
  RawClient silent(server.port());
  RawClient slow(server.port());
  slow.send_text("GET / HTTP/1.1\r\nx");
  RawClient waiting(server.port());
  waiting.send_text("GET / HTTP/1.1\r\n\r\n");
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(silent.read_all(), "");
  EXPECT_EQ(slow.read_all(), "");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
  EXPECT_NE(waiting.read_until("patient").find("200 OK"), std::string::npos);
}

TEST(HttpServer, serves_a_socket_file_and_knows_the_user) {
  const TemporaryFolder folder;
  const std::string path = folder / "t.sock";
  std::string peer;
  std::string local;
  ListenOptions options;
  options.url = "unix:" + path;
  {
    TestServer server(
        [&](ServerRequest request, Reply reply) {
          peer = request.peer;
          local = request.local_address;
          echo(request, reply);
        },
        options);
    struct stat info {};
    ASSERT_EQ(stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0660U);
    const auto answer = http_call(get("unix:" + path + ":/v1/x"), seconds(3));
    ASSERT_TRUE(answer) << answer.error().message();
    EXPECT_EQ(answer->body, "GET /v1/x ");
    EXPECT_EQ(peer, "unix:uid=" + std::to_string(getuid()));
    EXPECT_EQ(local, "unix");
    // A socket that is served is not stolen.
    Loop other;
    const auto second = HttpServer::listen(other, options, echo);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Code::conflict);
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(HttpServer, replaces_a_stale_socket_file_but_no_other_file) {
  const TemporaryFolder folder;
  const std::string path = folder / "t.sock";
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  close(fd);  // bound, never served: what a crash leaves
  ListenOptions options;
  options.url = "unix:" + path;
  {
    TestServer server(echo, options);
    EXPECT_TRUE(http_call(get("unix:" + path + ":/"), seconds(3)));
  }
  std::ofstream(path) << "precious";
  Loop loop;
  const auto refused = HttpServer::listen(loop, options, echo);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::conflict);
  EXPECT_TRUE(std::filesystem::exists(path));
}

TEST(HttpServer, a_taken_port_is_a_conflict) {
  TestServer server(echo);
  Loop loop;
  ListenOptions options;
  options.url = server.url("");
  const auto second = HttpServer::listen(loop, options, echo);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::conflict);
}

}  // namespace
}  // namespace tundish::net
