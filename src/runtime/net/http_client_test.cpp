#include "runtime/net/http_client.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>
#include <optional>

#include "runtime/net/net_fixture_test.hpp"

namespace tundish::net {
namespace {

/// A listener that plays a script: per connection, the raw answers to give, one per request.
class ScriptedServer {
 public:
  explicit ScriptedServer(std::vector<std::vector<std::string>> script)
      : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(bind(fd_, reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
    EXPECT_EQ(listen(fd_, 8), 0);
    socklen_t size = sizeof at;
    getsockname(fd_, reinterpret_cast<sockaddr*>(&at), &size);
    port_ = ntohs(at.sin_port);
    thread_ = std::thread([this, script = std::move(script)] { play(script); });
  }
  ~ScriptedServer() {
    shutdown(fd_, SHUT_RDWR);
    thread_.join();
    close(fd_);
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/"; }
  int requests() const { return requests_; }

 private:
  void play(const std::vector<std::vector<std::string>>& script) {
    for (const auto& answers : script) {
      const int fd = accept(fd_, nullptr, nullptr);
      if (fd < 0) return;
      for (const auto& answer : answers) {
        std::string got;
        char byte = 0;
        while (got.find("\r\n\r\n") == std::string::npos && recv(fd, &byte, 1, 0) == 1) got += byte;
        if (got.empty()) break;
        ++requests_;
        send(fd, answer.data(), answer.size(), MSG_NOSIGNAL);
      }
      close(fd);
    }
  }
  int fd_;
  int port_ = 0;
  std::atomic<int> requests_{0};
  std::thread thread_;
};

const std::string ok_kept = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

void echo(const ServerRequest& request, const Reply& reply) {
  reply.send(200, request.method + " " + request.path + " " + request.body);
}

Result<HttpResponse> call_async(RunningLoop& running, HttpClient& client, HttpRequest request,
                                Duration limit) {
  std::optional<Result<HttpResponse>> result;
  std::atomic<bool> is_done{false};
  running.sync([&] {
    client.start(std::move(request), limit, [&](Result<HttpResponse> got) {
      result = std::move(got);
      is_done = true;
    });
    EXPECT_FALSE(is_done) << "done ran before start() returned";
  });
  if (!eventually([&] { return is_done.load(); }, seconds(5))) {
    ADD_FAILURE() << "done never ran";
    return make_error(Code::internal, "never");
  }
  return std::move(*result);
}

TEST(HttpClient, calls_many_at_once_and_each_is_answered_once) {
  TestServer server(echo);
  std::atomic<int> answered{0};
  std::unique_ptr<HttpClient> client;
  server.running().sync([&] {
    client = std::make_unique<HttpClient>(server.running().loop, TlsTrust{});
    for (int i = 0; i < 200; ++i) {
      const std::string path = "/" + std::to_string(i);
      client->start(get(server.url(path)), seconds(5), [&, path](Result<HttpResponse> got) {
        ASSERT_TRUE(got) << got.error().message();
        EXPECT_EQ(got->body, "GET " + path + " ");
        ++answered;
      });
    }
  });
  EXPECT_TRUE(eventually([&] { return answered == 200; }));
  server.running().sync([&] { client.reset(); });
  EXPECT_EQ(answered, 200);
}

TEST(HttpClient, tells_refused_timeout_and_bad_url_apart) {
  const auto held = std::make_shared<std::vector<Reply>>();
  TestServer server([held](ServerRequest, Reply reply) { held->push_back(reply); });
  std::unique_ptr<HttpClient> client;
  auto& running = server.running();
  running.sync([&] { client = std::make_unique<HttpClient>(running.loop, TlsTrust{}); });
  const auto late = call_async(running, *client, get(server.url()), milliseconds(80));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, Code::timeout);
  const auto refused = call_async(running, *client, get("http://127.0.0.1:1/"), seconds(3));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::unavailable);
  EXPECT_FALSE(refused.error().remedy.empty());
  const auto absent = call_async(running, *client, get("unix:/nowhere/x.sock:/"), seconds(3));
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, Code::unavailable);
  const auto bad = call_async(running, *client, get("gopher://a"), seconds(3));
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().code, Code::invalid);
  running.sync([&] { client.reset(); });
}

TEST(HttpClient, destroying_it_drops_calls_under_way) {
  TestServer server([](ServerRequest, Reply reply) {
    std::thread([reply] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      reply.send(200, "late");
    }).detach();
  });
  std::atomic<int> calls{0};
  server.running().sync([&] {
    HttpClient client(server.running().loop, TlsTrust{});
    client.start(get(server.url()), seconds(1), [&](Result<HttpResponse>) { ++calls; });
    client.start(get("http://localhost:1/"), seconds(1), [&](Result<HttpResponse>) { ++calls; });
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(120));
  EXPECT_EQ(calls, 0);
}

TEST(HttpCall, resolves_names_and_reports_names_that_do_not_exist) {
  TestServer server(echo);
  const auto named =
      http_call(get("http://localhost:" + std::to_string(server.port()) + "/n"), seconds(3));
  ASSERT_TRUE(named) << named.error().message();
  EXPECT_EQ(named->body, "GET /n ");
  const auto begin = std::chrono::steady_clock::now();
  const auto unknown = http_call(get("http://no-such-name.invalid/"), milliseconds(500));
  ASSERT_FALSE(unknown);
  EXPECT_TRUE(unknown.error().code == Code::unavailable || unknown.error().code == Code::timeout);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
}

TEST(HttpCall, a_peer_that_accepts_and_says_nothing_is_a_timeout) {
  TestServer server([](ServerRequest, Reply reply) {
    std::thread([reply] { std::this_thread::sleep_for(std::chrono::milliseconds(400)); }).detach();
  });
  const auto begin = std::chrono::steady_clock::now();
  const auto late = http_call(get(server.url()), milliseconds(100));
  const auto took = std::chrono::steady_clock::now() - begin;
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, Code::timeout);
  EXPECT_GE(took, std::chrono::milliseconds(100));
  EXPECT_LT(took, std::chrono::seconds(2));
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
}

TEST(HttpCall, skips_interim_answers_and_refuses_what_is_not_http) {
  ScriptedServer interim({{"HTTP/1.1 100 Continue\r\n\r\n" + ok_kept}});
  const auto answer = http_call(post(interim.url(), "x"), seconds(3));
  ASSERT_TRUE(answer) << answer.error().message();
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->body, "ok");
  ScriptedServer garbage({{"SSH-2.0-OpenSSH\r\n\r\n"}});
  const auto bad = http_call(get(garbage.url()), seconds(3));
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().code, Code::corrupt);
  ScriptedServer cut({{"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf"}});
  const auto half = http_call(get(cut.url()), seconds(3));
  ASSERT_FALSE(half);
  EXPECT_EQ(half.error().code, Code::unavailable);
  ScriptedServer old({{"HTTP/1.0 200 OK\r\n\r\nuntil the end"}});
  const auto whole = http_call(get(old.url()), seconds(3));
  ASSERT_TRUE(whole) << whole.error().message();
  EXPECT_EQ(whole->body, "until the end");
}

TEST(HttpSession, keeps_its_connection) {
  // A second connection would find nobody: the script knows only one.
  ScriptedServer server({{ok_kept, ok_kept, ok_kept}});
  HttpSession session;
  for (int i = 0; i < 3; ++i) {
    const auto answer = session.call(post(server.url(), ""), seconds(3));
    ASSERT_TRUE(answer) << answer.error().message();
  }
  EXPECT_EQ(server.requests(), 3);
}

TEST(HttpSession, reconnects_when_the_peer_has_closed_an_idle_connection) {
  ScriptedServer server({{ok_kept}, {ok_kept}});
  HttpSession session;
  ASSERT_TRUE(session.call(post(server.url(), ""), seconds(3)));
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  // Nothing was sent on the dead connection, so even a POST may go out again.
  const auto second = session.call(post(server.url(), ""), seconds(3));
  ASSERT_TRUE(second) << second.error().message();
  EXPECT_EQ(server.requests(), 2);
}

TEST(HttpSession, repeats_only_what_may_be_repeated) {
  // The second request is read and then answered by closing: it may have happened.
  ScriptedServer reading({{ok_kept, ""}, {ok_kept}});
  HttpSession session;
  ASSERT_TRUE(session.call(get(reading.url()), seconds(3)));
  const auto repeated = session.call(get(reading.url()), seconds(3));
  ASSERT_TRUE(repeated) << repeated.error().message();
  EXPECT_EQ(reading.requests(), 3);

  ScriptedServer writing({{ok_kept, ""}, {ok_kept}});
  HttpSession other;
  ASSERT_TRUE(other.call(post(writing.url(), ""), seconds(3)));
  const auto once = other.call(post(writing.url(), ""), seconds(3));
  ASSERT_FALSE(once);
  EXPECT_EQ(once.error().code, Code::unavailable);
  EXPECT_EQ(writing.requests(), 2);
}

TEST(HttpStream, gives_pieces_as_they_come_and_stops_on_request) {
  std::optional<Reply> open;
  TestServer server([&](ServerRequest, Reply reply) {
    reply.begin_stream("text/event-stream");
    reply.write("one");
    open = reply;
  });
  std::vector<std::string> got;
  const auto result = http_stream(get(server.url()), {}, [&](std::string_view chunk) {
    got.emplace_back(chunk);
    // The next piece is written only after this one was seen, so nothing waits for the end; then
    // a second of silence brings the empty piece.
    if (chunk == "one") server.running().sync([&] { open->write("two"); });
    return !chunk.empty();
  });
  EXPECT_TRUE(result);
  EXPECT_EQ(got, (std::vector<std::string>{"one", "two", ""}));
  EXPECT_TRUE(eventually([&] {
    bool is_closed = false;
    server.running().sync([&] { is_closed = open->closed(); });
    return is_closed;
  }));
}

TEST(HttpStream, a_stream_that_breaks_off_is_an_error) {
  ScriptedServer server({{"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\none\r\n"}});
  std::string got;
  const auto result = http_stream(get(server.url()), {}, [&](std::string_view chunk) {
    got += chunk;
    return true;
  });
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::unavailable);
  EXPECT_EQ(got, "one");
}

TEST(HttpStream, ends_with_the_stream_and_reports_a_bad_status) {
  TestServer server([](ServerRequest request, Reply reply) {
    if (request.path != "/s") return reply.send(404, "no such stream");
    reply.begin_stream("text/event-stream");
    reply.write("one");
    reply.write("two");
    reply.end();
  });
  std::string got;
  const auto keep = [&](std::string_view chunk) {
    got += chunk;
    return true;
  };
  const auto whole = http_stream(get(server.url("/s")), {}, keep);
  ASSERT_TRUE(whole) << whole.error().message();
  EXPECT_EQ(got, "onetwo");
  const auto absent = http_stream(get(server.url("/other")), {}, keep);
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, Code::not_found);
  EXPECT_EQ(got, "onetwo");
}

}  // namespace
}  // namespace tundish::net
