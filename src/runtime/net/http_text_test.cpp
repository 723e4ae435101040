#include "runtime/net/http_text.hpp"

#include <gtest/gtest.h>

namespace tundish::net {
namespace {

TEST(HttpText, reads_urls_of_every_kind) {
  const auto plain = parse_url("http://10.0.0.1:8080/a?b=c#d");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->address, "10.0.0.1");
  EXPECT_EQ(plain->port, 8080);
  EXPECT_EQ(plain->target, "/a?b=c");
  const auto tls = parse_url("https://[::1]?x");
  ASSERT_TRUE(tls);
  EXPECT_EQ(tls->address, "::1");
  EXPECT_EQ(tls->port, 443);
  EXPECT_EQ(tls->target, "/?x");
  const auto file = parse_url("unix:/run/t.sock:/v1/nodes");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->socket_path, "/run/t.sock");
  EXPECT_EQ(file->target, "/v1/nodes");
}

TEST(HttpText, refuses_urls_that_are_none) {
  for (const char* text : {"", "ftp://a/", "http://", "http://a:x/", "http://a:70000/", "unix:rel",
                           "http://u@a/", "http://a/b c", "http://a/\r\nx: y", "http://[::1/"}) {
    const auto url = parse_url(text);
    ASSERT_FALSE(url) << text;
    EXPECT_EQ(url.error().code, Code::invalid);
  }
}

TEST(HttpText, decodes_escapes_and_refuses_broken_ones) {
  EXPECT_EQ(decode_percent("a%20b%2F"), "a b/");
  EXPECT_EQ(decode_percent("%"), std::nullopt);
  EXPECT_EQ(decode_percent("%4"), std::nullopt);
  EXPECT_EQ(decode_percent("%zz"), std::nullopt);
  EXPECT_EQ(decode_percent("%00"), std::nullopt);
}

TEST(HttpText, splits_a_target_into_path_and_query) {
  const auto target = parse_target("/n/a%20b?x=1+2&flag&y=%26&x=3");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->path, "/n/a b");
  EXPECT_EQ(target->query,
            (std::map<std::string, std::string>{{"x", "3"}, {"flag", ""}, {"y", "&"}}));
  EXPECT_FALSE(parse_target("http://a/b"));
  EXPECT_FALSE(parse_target("/a?%"));
}

TEST(HttpText, lets_no_header_break_the_framing) {
  const Url url = *parse_url("http://a/");
  EXPECT_FALSE(render_request({"GET", "http://a/", {{"x", "1\r\ny: 2"}}, ""}, url));
  EXPECT_FALSE(render_request({"GET", "http://a/", {{"x y", "1"}}, ""}, url));
  EXPECT_FALSE(render_request({"GET /", "http://a/", {}, ""}, url));
  const auto sent = render_request({"POST", "http://a/", {{"Content-Length", "99"}}, "abc"}, url);
  ASSERT_TRUE(sent);
  EXPECT_EQ(*sent, "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\n\r\nabc");
}

}  // namespace
}  // namespace tundish::net
