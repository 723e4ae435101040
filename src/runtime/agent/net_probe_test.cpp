#include "runtime/agent/net_probe.hpp"

#include <gmock/gmock.h>

namespace tundish::agent {
namespace {

NetProbe probe() {
  NetProbe out;
  out.self = "node-17";
  out.token = "00ff10203040a0b0";
  out.interface = "lo";
  out.tcp_port = 18515;
  return out;
}

TEST(ProbeMark, IsFoundBehindAnythingAndNamesSenderAndWay) {
  const std::string mark = probe_mark(probe(), ProbeWay::arp, "node-17");
  EXPECT_LE(mark.size(), 18U) << "an ARP request in the shortest frame leaves 18 bytes";
  const auto found = find_mark(std::string(42, '\x55') + mark, probe().token);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->way, ProbeWay::arp);
  EXPECT_EQ(found->sender, hash_of_node("node-17"));
}

TEST(ProbeMark, OfAnotherRunOrCutOffIsNotOurs) {
  const std::string mark = probe_mark(probe(), ProbeWay::ping, "node-17");
  EXPECT_FALSE(find_mark(mark, "00ff10203040a0b1"));
  for (std::size_t size = 0; size < mark.size(); ++size) {
    EXPECT_FALSE(find_mark(mark.substr(0, size), probe().token)) << size;
  }
  std::string wrong_way = mark;
  wrong_way[12] = '\x7f';
  EXPECT_FALSE(find_mark(wrong_way, probe().token));
}

TEST(RunProbe, RefusesWhatIsOutOfRange) {
  NetProbe bad = probe();
  bad.token = "xyz";
  EXPECT_FALSE(run_probe(bad));
  bad = probe();
  bad.listen_ms = 600000;
  EXPECT_FALSE(run_probe(bad));
  bad = probe();
  bad.tcp_port = 22;
  EXPECT_FALSE(run_probe(bad));
}

TEST(ParseMac, TakesSixBytesOnly) {
  ASSERT_TRUE(parse_mac("02:54:4e:00:0A:ff"));
  EXPECT_EQ((*parse_mac("02:54:4e:00:0A:ff"))[4], 0x0a);
  for (const char* bad : {"", "02:54:4e:00:0a", "02:54:4e:00:0a:fg", "02:54:4e:00:0a:ff:01",
                          "2:54:4e:0:a:f"}) {
    EXPECT_FALSE(parse_mac(bad)) << bad;
  }
}

}  // namespace
}  // namespace tundish::agent
