// What a policy escalates is told as loudly as it says.
#include <gtest/gtest.h>

#include "control/notice/classify.hpp"

namespace tundish::control {
namespace {

NoticeChannel channel_after(const std::vector<std::string>& told,
                            Resource part = Resource::gpu, bool drill = false) {
  NoticeRules rules;
  rules.classes["hardware"].channel = NoticeChannel::ticket;
  rules.classes["hardware"].runbook = "hardware.md";
  rules.classes["job"].channel = NoticeChannel::log;
  rules.classes["drill"].channel = NoticeChannel::ticket;
  Incident incident;
  incident.blamed = Blame{};
  incident.blamed->part = part;
  incident.drill = drill;
  incident.id = IncidentId("incident-1");
  incident.fault = "xid 95";
  for (const auto& what : told) {
    TimelineEntry entry;
    entry.what = what;
    entry.detail = "from evacuate to evacuate";
    incident.timeline.push_back(entry);
  }
  const auto draft = draft_of(Registry{}, rules, incident);
  EXPECT_TRUE(draft);
  const bool loud = draft && draft->rule.channel == NoticeChannel::page;
  EXPECT_EQ(loud, draft && draft->rule.repeat_s > 0) << "a page is repeated, a ticket is not";
  return draft ? draft->rule.channel : NoticeChannel::log;
}

TEST(escalation, a_page_of_the_policy_is_a_page) {
  EXPECT_EQ(channel_after({}), NoticeChannel::ticket);
  EXPECT_EQ(channel_after({"claimed", "escalated: ticket"}), NoticeChannel::ticket);
  EXPECT_EQ(channel_after({"escalated: page", "note"}), NoticeChannel::page);
  EXPECT_EQ(channel_after({"escalated: page", "escalated: ticket"}), NoticeChannel::page);
}

TEST(escalation, whatever_part_is_blamed) {
  EXPECT_EQ(channel_after({}, Resource::process), NoticeChannel::log);
  EXPECT_EQ(channel_after({"escalated: ticket"}, Resource::process), NoticeChannel::ticket);
  EXPECT_EQ(channel_after({"escalated: page"}, Resource::process), NoticeChannel::page);
  EXPECT_EQ(channel_after({"escalated: page"}, Resource::gpu, true), NoticeChannel::ticket)
      << "a drill is told once";
}

}  // namespace
}  // namespace tundish::control
