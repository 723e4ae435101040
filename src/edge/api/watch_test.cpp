// The event stream tells every durable change once, to whom it concerns.
#include "edge/api/watch.hpp"

#include "edge/api/api_fixture_test.hpp"

namespace tundish::edge {
namespace {

int count(const std::string& text, const std::string& word) {
  int n = 0;
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++n;
  return n;
}

Ask watch_since(const std::string& since, const std::string& token = "root") {
  Ask ask{"GET", "/v1/watch", "", token};
  ask.query["since"] = since;
  return ask;
}

TEST_F(ApiTest, watch_tells_what_became_durable) {
  const auto stream = send({"GET", "/v1/watch"});
  EXPECT_EQ(stream->stream_type, "text/event-stream");
  (void)send({"POST", "/v1/tenants", R"({"name":"c"})"});
  EXPECT_EQ(count(stream->text, "event: change"), 0);
  settle();
  EXPECT_EQ(count(stream->text, "event: change"), 1);
  EXPECT_EQ(count(stream->text, "\"name\":\"c\""), 1);
  store_.full = true;
  EXPECT_EQ(status({"POST", "/v1/tenants", R"({"name":"d"})"}), 409);
  EXPECT_EQ(count(stream->text, "\"name\":\"d\""), 0);
}

TEST_F(ApiTest, watch_goes_on_after_a_revision) {
  const auto listed = call({"GET", "/v1/tenants"});
  const std::string since = listed.headers.at("x-revision");
  ASSERT_EQ(status({"POST", "/v1/tenants", R"({"name":"c"})"}), 201);
  const auto made = call({"GET", "/v1/tenants/c"}).body;
  ASSERT_EQ(status({"DELETE", "/v1/tenants/c"}), 200);
  const auto all = send(watch_since(since));
  EXPECT_EQ(count(all->text, "event: change"), 2);
  EXPECT_EQ(count(all->text, "\"object\":null"), 1);
  const auto rest = send(watch_since(field(made, "meta.revision")));
  EXPECT_EQ(count(rest->text, "event: change"), 1);
  EXPECT_EQ(status(watch_since("soon")), 422);
}

TEST_F(ApiTest, watch_refuses_what_it_does_not_keep) {
  const auto gone = call(watch_since("0"));
  EXPECT_EQ(gone.status, 410);
  const std::string first = gone.headers.at("x-first-revision");
  EXPECT_NE(gone.body.find(first), std::string::npos);
  EXPECT_EQ(send(watch_since(first))->stream_type, "text/event-stream");
  EXPECT_EQ(status(watch_since("999999999")), 410) << "a revision of another epoch";
  for (std::size_t i = 0; i <= api::Watch::ring_size; ++i) {
    const std::string gpus = std::to_string(100 + i % 2);
    (void)send({"PUT", "/v1/tenants/a/quota", "{\"gpus\":" + gpus + "}"});
  }
  settle();
  EXPECT_EQ(status(watch_since(first)), 410);
}

TEST_F(ApiTest, watch_shows_tenants_their_own) {
  const auto of_a = send({"GET", "/v1/watch", "", "a-viewer"});
  const auto of_b = send({"GET", "/v1/watch", "", "b-admin"});
  ASSERT_EQ(order("train", 1).status, 201);
  EXPECT_GE(count(of_a->text, "\"kind\":\"cluster\""), 1);
  EXPECT_GE(count(of_a->text, "\"kind\":\"node\""), 1);
  EXPECT_EQ(count(of_a->text, "SERIAL"), 0);
  EXPECT_EQ(count(of_a->text, "pool_entry"), 0);
  EXPECT_EQ(count(of_b->text, "event: change"), 0) << of_b->text;
}

TEST_F(ApiTest, watch_beats_and_ends_with_its_token) {
  const auto stream = send({"GET", "/v1/watch", "", "looker"});
  scheduler_.advance(seconds(31));
  EXPECT_EQ(count(stream->text, ": heartbeat"), 3);
  ASSERT_EQ(status({"DELETE", "/v1/tokens/looker"}), 200);
  EXPECT_TRUE(stream->ended);
  EXPECT_EQ(count(stream->text, "event: change"), 0);
}

}  // namespace
}  // namespace tundish::edge
