#include "families/fabrics/opensm_parts/sweep.hpp"

#include <gmock/gmock.h>

#include "families/fabrics/fabric_samples_test.hpp"
#include "families/fabrics/opensm_parts/canary.hpp"
#include "families/fabrics/opensm_parts/remote.hpp"

namespace tundish::fabrics {
namespace {

using ::testing::HasSubstr;

/// As infiniband-diags 44.0 prints it over ibsim 0.10, shortened.
const std::string recorded =
    "sminfo: sm lid 1 sm guid 0x20001, activity count 71 priority 0 state 3 SMINFO_MASTER\n"
    "CA     4  1 0x0000000000020021 4x SDR - SW     2  3 0x0000000000001001 ( 'node03 mlx5_0' - "
    "'leaf1' )\n"
    "SW     2 12 0x0000000000001001 4x SDR                                    'leaf1'\n"
    "SW     2  3 0x0000000000001001 4x SDR - CA     4  1 0x0000000000020021 ( 'leaf1' - 'node03 "
    "mlx5_0' )\n"
    "CA     1  1 0x0000000000020001 4x SDR - SW     2  1 0x0000000000001001 ( 'node01 mlx5_0' - "
    "'leaf1' )\n"
    "CA     7  1 0x0000000000020031 4x SDR - SW     2  4 0x0000000000001001 ( 'a' - 'leaf1' )\n"
    "pkeys 0x0000000000020001\n"
    "   0: 0xffff 0x0000 0x0000 0x0000 0x0000 0x0000 0x0000 0x0000\n"
    "64 pkeys capacity for this port\n"
    "pkeys 0x0000000000020021\n"
    "   0: 0x7fff 0x0000 0x8102 0x0000 0x0000 0x0000 0x0000 0x0000\n"
    "   8: 0x0110 0x0000 0x0000 0x0000 0x0000 0x0000 0x0000 0x0000\n"
    "64 pkeys capacity for this port\n";

TEST(Sweep, reads_what_the_tools_print) {
  const Sweep sweep = parse_sweep(recorded);
  EXPECT_TRUE(sweep.has_manager);
  ASSERT_EQ(sweep.ports.size(), 3U);
  EXPECT_TRUE(sweep.ports[0].is_manager);
  EXPECT_EQ(sweep.ports[1].pkeys, (std::vector<PkeyObserved>{{0x7fff, IbMembership::limited},
                                                             {0x102, IbMembership::full},
                                                             {0x110, IbMembership::limited}}));
  EXPECT_FALSE(sweep.ports[2].has_table);  // it did not answer
  ASSERT_EQ(sweep.cables.size(), 3U);
  EXPECT_EQ(sweep.cables[1], (FabricCable{"0x0000000000001001/3", "0x0000000000020021/1"}));
}

TEST(Sweep, names_every_port_that_contradicts) {
  const FabricOwnership ours;
  FabricState desired;
  desired.partitions = {sample_partition(16, {2, 3})};  // 0x...20021 and 0x...20031
  auto faults = find_faults(parse_sweep(recorded), desired, ours, {});
  ASSERT_EQ(faults.size(),
            3U);  // 0x0102 is not ours to have, 0x0110 is limited; the rest is silent
  EXPECT_THAT(faults[0].what, HasSubstr("still carries PKey 0x0102"));
  EXPECT_TRUE(faults[0].is_extra);
  EXPECT_THAT(faults[2].what, HasSubstr("does not carry PKey 0x0110 of t00016 as full"));
  std::string open = recorded;
  open.replace(open.find("0x7fff"), 6, "0xffff");
  desired = {};
  faults = find_faults(parse_sweep(open), desired, ours, {});
  EXPECT_TRUE(faults.at(0).is_open);
  faults = find_faults(parse_sweep(open), desired, ours, {sample_guid(2)});
  EXPECT_FALSE(faults.at(0).is_open);
}

TEST(Canary, is_judged_by_what_opensm_says_and_does) {
  const FabricOwnership ours;
  FabricState desired;
  desired.partitions = {sample_partition(16, {1, 2}), sample_partition(17, {3})};
  const std::string text = *find_fabric_item("opensm")->render(desired, "", ours);
  const Canary canary = make_canary(desired, text, 2);
  EXPECT_EQ(canary.guids, (std::vector<std::string>{sample_guid(1), sample_guid(3)}));
  EXPECT_THAT(canary.net, HasSubstr("caguid=0x0000000000020010\n"));
  const auto table = [](const std::string& guid, const std::string& keys) {
    return "CA 4 1 " + guid + " 4x SDR - SW 2 3 0x0000000000001001 ( 'a' - 'b' )\npkeys " + guid +
           "\n   0: " + keys + "\n64 pkeys capacity for this port\n";
  };
  const std::string members = table(sample_guid(1), "0x7fff 0x8110") +
                              table(sample_guid(3), "0x7fff 0x8111") +
                              table(canary.manager_guid, "0xffff");
  const std::string up = "opensm SUBNET UP\n";
  const std::string outsider = "0x00ca0a0100000021";
  const auto judge = [&](const std::string& output) {
    return judge_canary(output, desired, canary, ours, text);
  };
  EXPECT_TRUE(judge(up + members + table(outsider, "0x7fff")));
  EXPECT_FALSE(judge(up + members + table(outsider, "0xffff")));
  EXPECT_FALSE(judge(up + members + table(outsider, "0x7fff 0x8110")));
  EXPECT_FALSE(judge(members + table(outsider, "0x7fff")));
  EXPECT_FALSE(judge(up + members));
  EXPECT_FALSE(judge("opensm parse_part_conf: PARSE ERROR: line 2: bad PortGUID\n" + up + members +
                     table(outsider, "0x7fff")));
}

TEST(RemoteFile, has_a_sum_or_is_absent) {
  EXPECT_EQ(parse_remote_file("absent\n")->sum, "absent");
  const std::string sum(64, 'a');
  EXPECT_EQ(parse_remote_file("sha256 " + sum + "\nx\n")->text, "x\n");
  EXPECT_FALSE(parse_remote_file(""));
  EXPECT_FALSE(parse_remote_file("sha256 abc\nx\n"));
}

}  // namespace
}  // namespace tundish::fabrics
