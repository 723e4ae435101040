#include "codec/kernel_log/catalogue.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "codec/kernel_log/event.hpp"

namespace tundish {
namespace {

std::string read_catalog(const std::string& name) {
  std::ifstream in(std::string(TUNDISH_SOURCE_DIR) + "/catalog/" + name);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

const XidCatalogue& shipped() {
  static const XidCatalogue catalogue = [] {
    const std::string xid = read_catalog("xid.yaml");
    const std::string sxid = read_catalog("sxid.yaml");
    auto loaded = load_xid_catalogue({xid, "xid.yaml"}, {sxid, "sxid.yaml"});
    EXPECT_TRUE(loaded) << loaded.error().message();
    return loaded ? *loaded : XidCatalogue{};
  }();
  return catalogue;
}

std::set<int> codes_of(const XidTable& table) {
  std::set<int> out;
  for (const XidEntry& entry : table.entries) out.insert(entry.code);
  return out;
}

/// "8 11 126-135" -> the set of codes.
std::set<int> expand(const std::string& text) {
  std::set<int> out;
  std::istringstream in(text);
  for (std::string word; in >> word;) {
    const std::size_t dash = word.find('-');
    const int first = std::stoi(word);
    const int last = dash == std::string::npos ? first : std::stoi(word.substr(dash + 1));
    for (int code = first; code <= last; ++code) out.insert(code);
  }
  return out;
}

// Source: facts/health.md section 1, in the order of its table; checked 2026-08.
TEST(XidCatalogue, holds_every_code_of_the_facts_and_no_other) {
  EXPECT_EQ(
      codes_of(shipped().xid),
      expand("8 11 25 32 13 31 37 38 39-41 70-72 75-77 85 126-135 43 44 45 46 48 54 56-58 61 65 "
             "73 60 62 63 64 66 67 68 82-84 86 88 89 96-105 139 69 74 78 79 80 81 92 93 94 95 "
             "106-108 162 109 110 119 120 121 123 136 137 140 141 152 153 160 161 142 143 "
             "144-150 151 154 155 156 158 157 159 163 164 165 166 170 167 168 169 171 172 173 "
             "174-176"));
}

// Source: facts/health.md section 1b; checked 2026-08.
TEST(XidCatalogue, holds_every_sxid_of_the_facts_and_no_other) {
  EXPECT_EQ(
      codes_of(shipped().sxid),
      expand("11012 11021-11023 12021 12023 15008 15011 19049 19055 19057 19059 19062 19065 19068 "
             "19071 24001-24003 20001 20009 20012 22013 12030 11004 12028 11001 11009 11013 "
             "11018-11020 12001 12002 12020 12022 12024-12027 12031 12032 14017 15001 15006 15009 "
             "15010 15012 15013 19047 19048 19054 19056 19058 19060 19061 19063 19064 19066 19067 "
             "19069 19070 22003 22011 24004-24007 20034 10003 23001-23017 19084 10001 10002 10004 "
             "10005"));
}

TEST(XidCatalogue, the_codes_that_take_a_job_are_these) {
  std::set<int> lost;
  for (const XidEntry& entry : shipped().xid.entries) {
    if (entry.device_lost) lost.insert(entry.code);
  }
  EXPECT_EQ(lost, expand("46 62 79 95 110 119 120 140 143 158 167 173"));
}

TEST(XidCatalogue, decoys_never_touch_a_node) {
  for (const int code : {8, 13, 31, 43, 45, 63, 94}) {
    const XidEntry* entry = shipped().find(code);
    ASSERT_NE(entry, nullptr) << code;
    EXPECT_TRUE(entry->decoy) << code;
  }
  for (const int code : {48, 64, 74, 79, 95, 119})
    EXPECT_FALSE(shipped().find(code)->decoy) << code;
}

TEST(XidCatalogue, actions_that_scripts_rely_on) {
  EXPECT_EQ(shipped().find(79)->action, FaultAction::reboot);
  EXPECT_EQ(shipped().find(79)->on_repeat, FaultAction::rma);
  EXPECT_EQ(shipped().find(95)->action, FaultAction::reset);
  EXPECT_EQ(shipped().find(64)->action, FaultAction::rma);
  EXPECT_EQ(shipped().find(63)->when_idle, FaultAction::reset);
  EXPECT_EQ(shipped().find(119)->on_repeat, FaultAction::reboot);
  EXPECT_EQ(shipped().find(162)->cancels, std::vector<int>{163});
  EXPECT_EQ(shipped().find(171)->joins, std::vector<int>{48});
  EXPECT_EQ(shipped().find(172)->joins, std::vector<int>{48});
  EXPECT_EQ(shipped().find_sxid(10005)->cancels, std::vector<int>{10004});
}

XidEntry judge(const std::string& text) {
  const auto event = parse_kernel_text(text);
  EXPECT_TRUE(event) << text;
  return shipped().classify(event.value_or(KernelEvent{}));
}

const std::string xid = "NVRM: Xid (PCI:0000:3b:00): ";

TEST(Classify, an_unknown_code_is_shown_and_costs_nobody_a_job) {
  const XidEntry entry = judge(xid + "14, Channel 00000001");
  EXPECT_EQ(entry.code, 14);
  EXPECT_EQ(entry.fault_class, FaultClass::ambiguous);
  EXPECT_EQ(entry.action, FaultAction::none);
  EXPECT_FALSE(entry.device_lost);
  EXPECT_FALSE(entry.decoy);
}

TEST(Classify, the_reset_words_beat_the_table) {
  const XidEntry worse = judge(xid + "94, pid=1, name=x, Contained: SM (0x1). RST: Yes, D-RST: No");
  EXPECT_EQ(worse.action, FaultAction::reset);
  EXPECT_TRUE(worse.device_lost);
  EXPECT_FALSE(worse.decoy);
  const XidEntry better = judge(xid + "95, pid=1, name=x, Uncontained: FBHUB. RST: No, D-RST: Yes");
  EXPECT_EQ(better.action, FaultAction::app);
  EXPECT_EQ(better.when_idle, FaultAction::reset);
  EXPECT_FALSE(better.device_lost);
  const XidEntry quiet = judge(xid + "94, pid=1, name=x, Contained: SM (0x1). RST: No, D-RST: No");
  EXPECT_EQ(quiet.action, FaultAction::app);
  EXPECT_EQ(quiet.when_idle, FaultAction::none);
  const XidEntry silent = judge(xid + "94, pid=1, name=RST: Yes, Contained: SM (0x1)");
  EXPECT_EQ(silent.when_idle, FaultAction::reset);
  EXPECT_FALSE(silent.device_lost);
}

TEST(Classify, the_recovery_action_is_followed_and_takes_no_job) {
  const std::string head = xid + "154, GPU recovery action changed from 0x0 (None) to ";
  const std::vector<std::pair<std::string, FaultAction>> expected = {
      {"0x0 (None)", FaultAction::none},
      {"0x1 (GPU Reset Required)", FaultAction::reset},
      {"0x1 (PF FLR)", FaultAction::reset},
      {"0x2 (Node Reboot Required)", FaultAction::reboot},
      {"0x2 (OS Reboot)", FaultAction::reboot},
      {"0x3 (Drain P2P)", FaultAction::fabric},
      {"0x4 (Drain and Reset)", FaultAction::app},
      {"0x5 (Recover IMEX)", FaultAction::fabric},
      {"0x9 (New)", FaultAction::none},
      {"Node Reboot Required", FaultAction::reboot}};
  for (const auto& [text, action] : expected) {
    EXPECT_EQ(judge(head + text).action, action) << text;
    EXPECT_FALSE(judge(head + text).device_lost) << text;
  }
  EXPECT_EQ(judge(head + "0x4 (Drain and Reset)").when_idle, FaultAction::reset);
  EXPECT_EQ(judge(xid + "154, x").action, FaultAction::none);
}

TEST(Classify, an_nvlink_error_takes_the_job_only_when_it_says_fatal) {
  EXPECT_TRUE(judge(xid + "74, NVLink: fatal error detected on link 14(0x1, 0x0)").device_lost);
  EXPECT_FALSE(judge(xid + "74, NVLink: error detected on link 14(0x1, 0x0)").device_lost);
}

TEST(Classify, off_the_bus_in_words_is_79) {
  const XidEntry entry = judge("NVRM: GPU 0000:18:00.0: GPU has fallen off the bus.");
  EXPECT_EQ(entry.code, 79);
  EXPECT_EQ(entry.action, FaultAction::reboot);
  EXPECT_TRUE(entry.device_lost);
}

TEST(Classify, the_word_of_an_sxid_beats_the_table) {
  const std::string head = "nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): ";
  EXPECT_TRUE(judge(head + "24007, Fatal, Link 44 sourcetrack timeout").device_lost);
  const XidEntry mild = judge(head + "24007, Non-fatal, Link 44 sourcetrack timeout");
  EXPECT_FALSE(mild.device_lost);
  EXPECT_EQ(mild.action, FaultAction::trend);
  EXPECT_EQ(judge(head + "24007, Severity 1 Engine instance 32").action, FaultAction::none);
  EXPECT_FALSE(judge(head + "19084, Fatal, AN1 Heartbeat Timeout Error").device_lost);
  const XidEntry unknown = judge(head + "29999, Fatal, new");
  EXPECT_EQ(unknown.action, FaultAction::fabric);
  EXPECT_FALSE(unknown.device_lost);
}

TEST(Classify, what_is_not_the_gpus_fault_asks_for_nothing) {
  EXPECT_EQ(judge("I/O error, dev sda, sector 0").action, FaultAction::none);
  EXPECT_EQ(judge("NVRM: GPU at PCI:0000:3b:00: GPU-1").fault_class, FaultClass::informational);
  EXPECT_TRUE(judge("amdgpu 0000:68:00.0: amdgpu: {1}uncorrectable hardware error(X)").device_lost);
  EXPECT_FALSE(judge("amdgpu 0000:68:00.0: amdgpu: GPU reset begin!").device_lost);
}

std::string refusal(const std::string& rows) {
  const std::string text = "edition: \"2026-08\"\nentries:\n" + rows;
  const auto table = load_xid_table({text, "test.yaml"});
  return table ? "" : table.error().message();
}

TEST(LoadXidTable, refuses_what_contradicts_itself) {
  const std::string good = "  - {code: 7, name: a, action: app, source: N}\n";
  EXPECT_EQ(refusal(good), "");
  EXPECT_NE(refusal(good + good).find("code 7 has two rows"), std::string::npos);
  EXPECT_NE(refusal("  - {code: 7, also: [9, 7], name: a, source: N}\n").find("two rows"),
            std::string::npos);
  EXPECT_NE(refusal("  - {code: 7, name: a, action: pray, source: N}\n"), "");
  EXPECT_NE(refusal("  - {code: 7, name: a, acton: app, source: N}\n"), "");
  EXPECT_NE(refusal("  - {code: 0, name: a, source: N}\n"), "");
  EXPECT_NE(refusal("  - {code: 7, name: a}\n").find("no source"), std::string::npos);
  EXPECT_NE(refusal("  - {code: 7, name: a, action: reset, decoy: true, source: N}\n"), "");
  EXPECT_NE(refusal("  - {code: 7, name: a, action: app, device_lost: true, source: N, why: x}\n"),
            "");
  EXPECT_NE(refusal("  - {code: 7, name: a, action: reset, device_lost: true, source: N}\n"), "");
}

TEST(LoadXidTable, refuses_references_to_nothing) {
  const std::string text = "entries:\n  - {code: 7, name: a, source: N, joins: [8]}\n";
  const auto loaded = load_xid_catalogue({text, "a.yaml"}, {"entries: []\n", "b.yaml"});
  ASSERT_FALSE(loaded);
  EXPECT_NE(loaded.error().message().find("joins XID 8"), std::string::npos);
}

}  // namespace
}  // namespace tundish
