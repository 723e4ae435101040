#include "model/firewall.hpp"

#include <gmock/gmock.h>

namespace tundish {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Firewall, RulesReadBackAsTheyAreWritten) {
  for (const char* text : {"permit tcp/443@203.0.113.0/24", "deny ip@198.51.100.0/24",
                           "permit udp/1000-2000@0.0.0.0/0", "deny icmp@10.0.0.0/8"}) {
    const auto rule = parse_firewall_rule(text, 1);
    ASSERT_TRUE(rule) << text << ": " << rule.error().message();
    EXPECT_EQ(render_firewall_rule(*rule), text);
  }
  const auto one = parse_firewall_rule("permit tcp/22@192.0.2.1/32", 1);
  ASSERT_TRUE(one);
  EXPECT_EQ(one->action, AclAction::permit);
  EXPECT_EQ(one->port_from, 22);
  EXPECT_EQ(one->destination, "192.0.2.1/32");
}

TEST(Firewall, AccessRulesSayWhoComesIn) {
  const auto rule = parse_access_rule("tcp/22@203.0.113.0/24", 1);
  ASSERT_TRUE(rule);
  EXPECT_EQ(rule->source, "203.0.113.0/24");
  EXPECT_EQ(rule->destination, "");
  EXPECT_EQ(render_access_rule(*rule), "tcp/22@203.0.113.0/24");
  for (const char* text : {"ip@203.0.113.0/24", "icmp@0.0.0.0/0", "tcp@0.0.0.0/0", "tcp/22",
                           "permit tcp/22@0.0.0.0/0", "tcp/22@203.0.113.1/24", ""}) {
    const auto refused = parse_access_rule(text, 3);
    ASSERT_FALSE(refused) << text;
    EXPECT_THAT(refused.error().message(), HasSubstr("access rule 3")) << text;
    EXPECT_THAT(refused.error().message(), Not(HasSubstr("permit permit"))) << text;
    EXPECT_THAT(refused.error().remedy, HasSubstr("tcp/22@203.0.113.0/24")) << text;
  }
}

TEST(Firewall, WhatIsNoRuleIsRefusedByNumberWithARemedy) {
  for (const char* text : {"",
                           "permit",
                           "permit tcp/22",
                           "tcp/22@192.0.2.0/24",
                           "allow tcp/22@192.0.2.0/24",
                           "permit tcp/@192.0.2.0/24",
                           "permit tcp/0@192.0.2.0/24",
                           "permit tcp/65536@192.0.2.0/24",
                           "permit tcp/-1@192.0.2.0/24",
                           "permit tcp/22-@192.0.2.0/24",
                           "permit tcp/30-20@192.0.2.0/24",
                           "permit icmp/8@192.0.2.0/24",
                           "permit gre@192.0.2.0/24",
                           "permit tcp/22@192.0.2.1/24",
                           "permit tcp/22@192.0.2.0",
                           "permit tcp/22@",
                           "permit tcp/22@host/24",
                           "permit  tcp@0.0.0.0/0",
                           "permit tcp/22@192.0.2.0/24; drop",
                           "permit tcp/22@192.0.2.0/24\n",
                           "@ ",
                           " @"}) {
    const auto rule = parse_firewall_rule(text, 7);
    ASSERT_FALSE(rule) << text;
    EXPECT_EQ(rule.error().code, Code::invalid) << text;
    EXPECT_THAT(rule.error().message(), HasSubstr("firewall rule 7")) << text;
    EXPECT_FALSE(rule.error().remedy.empty()) << text;
  }
}

}  // namespace
}  // namespace tundish
