// TLS between our own client and server, with certificates made by the openssl program.
#include "runtime/net/net_fixture_test.hpp"
#include "runtime/process/process.hpp"

namespace tundish::net {
namespace {

/// Two authorities, and a server certificate of the first for the given names.
class TlsTest : public testing::Test {
 protected:
  void openssl(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "openssl");
    const auto done = process::run({.argv = arguments, .directory = folder_.path()});
    ASSERT_TRUE(done) << done.error().message();
    ASSERT_TRUE(done->ok()) << done->summary();
  }
  void make_authority(const std::string& name) {
    openssl({"req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
             "-keyout", name + ".key", "-out", name + ".pem", "-subj", "/CN=" + name, "-days",
             "2"});
  }
  void make_certificate(const std::string& names) {
    openssl({"req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
             "-keyout", "s.key", "-out", "s.csr", "-subj", "/CN=server"});
    ASSERT_TRUE(process::write_file_atomic(folder_ / "s.ext", "subjectAltName=" + names + "\n"));
    openssl({"x509", "-req", "-in", "s.csr", "-CA", "good.pem", "-CAkey", "good.key",
             "-CAcreateserial", "-out", "s.pem", "-days", "2", "-extfile", "s.ext"});
  }
  void start(const std::string& names) {
    make_authority("good");
    make_authority("other");
    make_certificate(names);
    ListenOptions options;
    options.url = "https://127.0.0.1:0";
    options.tls_cert = folder_ / "s.pem";
    options.tls_key = folder_ / "s.key";
    server_.emplace([](ServerRequest, Reply reply) { reply.send(200, "secret"); }, options);
  }
  Result<HttpResponse> call(const std::string& ca) {
    return http_call(get(server_->url()), seconds(3), TlsTrust{ca.empty() ? "" : folder_ / ca});
  }
  TemporaryFolder folder_;
  std::optional<TestServer> server_;
};

TEST_F(TlsTest, trusts_the_right_authority_and_no_other) {
  start("IP:127.0.0.1,DNS:localhost");
  const auto good = call("good.pem");
  ASSERT_TRUE(good) << good.error().message();
  EXPECT_EQ(good->body, "secret");
  const auto other = call("other.pem");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, Code::denied);
  EXPECT_FALSE(call(""));  // the system's store does not know it either
  const auto named = http_call(get("https://localhost:" + std::to_string(server_->port()) + "/"),
                               seconds(3), TlsTrust{folder_ / "good.pem"});
  EXPECT_TRUE(named) << named.error().message();
}

TEST_F(TlsTest, a_certificate_for_another_name_is_refused) {
  start("IP:127.0.0.2,DNS:elsewhere");
  const auto refused = call("good.pem");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::denied);
}

TEST_F(TlsTest, a_session_keeps_its_connection_and_survives_a_plain_peer) {
  start("IP:127.0.0.1");
  HttpSession session(TlsTrust{folder_ / "good.pem"});
  for (int i = 0; i < 3; ++i) {
    const auto answer = session.call(post(server_->url(), std::string(100000, 'x')), seconds(3));
    ASSERT_TRUE(answer) << answer.error().message();
    EXPECT_EQ(answer->status, 200);
  }
  TestServer plain([](ServerRequest, Reply reply) { reply.send(200, "plain"); });
  const auto mixed = http_call(get("https://127.0.0.1:" + std::to_string(plain.port()) + "/"),
                               seconds(3), TlsTrust{folder_ / "good.pem"});
  ASSERT_FALSE(mixed);
  EXPECT_EQ(mixed.error().code, Code::unavailable);
}

TEST_F(TlsTest, unreadable_files_are_invalid_and_named) {
  Loop loop;
  ListenOptions options;
  options.url = "https://127.0.0.1:0";
  options.tls_cert = folder_ / "absent.pem";
  const auto made = HttpServer::listen(loop, options, [](ServerRequest, Reply) {});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, Code::invalid);
  EXPECT_NE(made.error().what.find("absent.pem"), std::string::npos);
  const auto call =
      http_call(get("https://127.0.0.1:1/"), seconds(1), TlsTrust{folder_ / "no-ca.pem"});
  ASSERT_FALSE(call);
  EXPECT_EQ(call.error().code, Code::invalid);
}

}  // namespace
}  // namespace tundish::net
