// The same Api behind a real socket: what the fake outlet of the other tests leaves out.
#include <unistd.h>

#include <thread>

#include "edge/api/api_fixture_test.hpp"
#include "runtime/net/http_client.hpp"

namespace tundish::edge {
namespace {

TEST_F(ApiTest, answers_over_a_socket) {
  net::Loop loop;
  const std::string path = "/tmp/tundish-api-test-" + std::to_string(getpid());
  auto listening = net::HttpServer::listen(loop, {.url = "unix:" + path},
                                           [this](net::ServerRequest request, net::Reply reply) {
                                             api_->handle(std::move(request), std::move(reply));
                                             settle();
                                           });
  ASSERT_TRUE(listening) << listening.error().message();
  Result<HttpResponse> made, refused;
  std::thread client([&] {
    const std::string url = "unix:" + path + ":/v1/tenants";
    made = net::http_call({"POST", url, {{"Authorization", "Bearer root"}}, R"({"name":"c"})"},
                          seconds(5));
    refused = net::http_call({"GET", url, {}, ""}, seconds(5));
    loop.stop();
  });
  loop.run();
  client.join();
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_EQ(made->status, 201);
  EXPECT_EQ(field(made->body, "meta.name"), "c");
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->status, 401);
  EXPECT_TRUE(refused->headers.contains("date"));
  unlink(path.c_str());
}

}  // namespace
}  // namespace tundish::edge
