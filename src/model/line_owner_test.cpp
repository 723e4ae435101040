#include "model/line_owner.hpp"

#include <gtest/gtest.h>

namespace tundish {
namespace {

LineMarks network(int number) {
  VrfState vrf;
  vrf.vrf_id = number;
  vrf.name = "Vrf0" + std::to_string(number);
  vrf.l3vni = 50000 + number;
  SegmentState segment;
  segment.vlan = number - 3996;
  segment.l2vni = 10000 + number;
  LineMarks out;
  add_marks(vrf, out);
  add_marks(segment, out);
  return out;
}

TEST(LineOwner, is_told_by_a_name_or_by_a_number_behind_its_word) {
  const std::vector<LineMarks> owners = {network(4096), network(4097)};  // VLANs 100 and 101
  for (const char* line :
       {"vrf Vrf04097: ip route 0.0.0.0/0 blackhole", "nft: chain T-4097-IN differs",
        "link br101 type bridge up", "interface Vlan101: ip helper 10.0.0.1",
        "vlan 101 dev swp7 pvid", "vni 14097 strange", "seg14097: odd"}) {
    EXPECT_EQ(owner_of_line(owners, line), 1) << line;
  }
  for (const char* line :
       {"ip route 10.0.0.0/8 101", "vrf Vrf04097 and Vrf04096", "vlan 101 to vni 14096",
        "vrf Vrf04097 import vrf x", "nobody knows"}) {
    EXPECT_EQ(owner_of_line(owners, line), no_owner) << line;
  }
}

TEST(LineOwner, a_port_is_a_word_of_its_own) {
  EXPECT_TRUE(names_port("link swp1 type port up", "swp1"));
  EXPECT_TRUE(names_port("interface Ethernet1/1: x", "Ethernet1/1"));
  EXPECT_FALSE(names_port("link swp11 up", "swp1"));
  EXPECT_FALSE(names_port("interface Ethernet1/1/2", "Ethernet1/1"));
}

}  // namespace
}  // namespace tundish
