#include "runtime/agent/net_reach.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/process/fd.hpp"

namespace tundish::agent {
namespace {

/// A listener on the loopback; its port.
class Listener {
 public:
  Listener() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in here{};
    here.sin_family = AF_INET;
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof here;
    EXPECT_EQ(::bind(fd_.get(), reinterpret_cast<sockaddr*>(&here), sizeof here), 0);
    EXPECT_EQ(::listen(fd_.get(), 4), 0);
    EXPECT_EQ(::getsockname(fd_.get(), reinterpret_cast<sockaddr*>(&here), &size), 0);
    port_ = ntohs(here.sin_port);
  }
  int port() const { return port_; }
  void close() { fd_.reset(); }

 private:
  process::Fd fd_;
  int port_ = 0;
};

TEST(NetReach, TellsAnAnswerFromARefusalAndFromSilence) {
  Listener there, gone;
  gone.close();
  const auto seen = reach_services({{"there", "127.0.0.1", there.port()},
                                    {"gone", "127.0.0.1", gone.port()},
                                    // Not a way out of the loopback. Source: RFC 5737, section 3.
                                    {"nowhere", "192.0.2.1", 9},
                                    {"named", "example", 9}},
                                   {"lo", milliseconds(300)});
  ASSERT_EQ(seen.size(), 4U);
  EXPECT_EQ(seen[0].name, "there");
  EXPECT_EQ(seen[0].reach, ProbeReach::reached);
  EXPECT_EQ(seen[1].reach, ProbeReach::refused);
  EXPECT_EQ(seen[2].reach, ProbeReach::silent);
  EXPECT_EQ(seen[3].reach, ProbeReach::failed) << "was not tried";
}

TEST(NetReach, PortZeroIsAskedByIcmp) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to send ICMP";
  const auto seen = reach_services({{"there", "127.0.0.1", 0}, {"nowhere", "192.0.2.1", 0}},
                                   {"lo", milliseconds(300)});
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0].reach, ProbeReach::reached);
  EXPECT_EQ(seen[1].reach, ProbeReach::silent);
}

TEST(NetReach, WithoutThePortNothingIsTried) {
  const auto seen = reach_services({{"x", "127.0.0.1", 9}}, {"no-such-port", milliseconds(50)});
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0].reach, ProbeReach::failed);
}

TEST(NetReach, KnowsTundishdFromTheAgentsUrl) {
  const auto usual = controller_services("https://10.88.0.1:7443");
  ASSERT_EQ(usual.size(), 2U);
  EXPECT_EQ(usual[0].name, probe_controller);
  EXPECT_EQ(usual[0].address, "10.88.0.1");
  EXPECT_EQ(usual[0].port, 7443);
  EXPECT_EQ(usual[1].port, 22);
  EXPECT_EQ(controller_services("http://10.0.0.1/x")[0].port, 80);
  EXPECT_TRUE(controller_services("nonsense").empty());
}

}  // namespace
}  // namespace tundish::agent
