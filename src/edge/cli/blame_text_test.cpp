#include "edge/cli/blame_text.hpp"

#include <gtest/gtest.h>

#include "edge/cli/incident_text.hpp"

namespace tundish::edge::cli {
namespace {

Incident storage_incident() {
  Incident incident;
  incident.id = IncidentId("incident-9");
  incident.fault = "storage does not answer";
  incident.subject_kind = SubjectKind::storage;
  incident.subject = "nas1";
  incident.affected = {NodeId("node-1"), NodeId("node-2")};
  incident.opened_at = incident.detected_at = Instant{1769900400000000};
  Blame blame;
  blame.part = Resource::storage_server;
  blame.subject_kind = SubjectKind::storage;
  blame.object = "nas1";
  blame.confidence = 90;
  blame.rule = "shared_fate";
  BlameEvidence line;
  line.at = incident.detected_at;
  line.node = "n1";
  line.part = Resource::storage_client;
  line.what = "storage_mount";
  line.says = "no answer to stat";
  line.weight = 70;
  blame.evidence = {line};
  blame.cleared = {{Resource::leaf, "switch leaf1", "3 other nodes on it show nothing"}};
  blame.would_change = {"users of storage server nas1 that are fine"};
  incident.blamed = blame;
  incident.blame = blame_sentence(blame);
  return incident;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(BlameText, the_operator_reads_part_evidence_cleared_and_doubts) {
  const std::string text = render_incident(storage_incident(), {});
  for (const char* part : {"storage server nas1, 90 % sure (shared fate)", "70", "storage client",
                           "no answer to stat", "switch leaf1", "3 other nodes on it show nothing",
                           "users of storage server nas1 that are fine", "2, none is out for it",
                           "no node is out of service for it"}) {
    EXPECT_TRUE(has(text, part)) << part << " is not in\n" << text;
  }
  EXPECT_FALSE(has(text, "GPU"));
}

TEST(BlameText, a_copy_without_names_says_what_kind_it_is) {
  Incident incident = storage_incident();
  incident.subject.clear();
  incident.blame.clear();
  incident.blamed->object.clear();
  incident.blamed->evidence[0].says.clear();
  incident.blamed->cleared = {{Resource::leaf, "", ""}};
  incident.blamed->would_change.clear();
  const std::string text = render_incident(incident, {});
  EXPECT_TRUE(has(text, "a shared storage server")) << text;
  EXPECT_FALSE(has(text, "nas1")) << text;
  EXPECT_FALSE(has(text, "would change")) << text;
}

TEST(BlameText, a_copy_without_names_calls_nothing_shared_that_is_not) {
  Incident incident = storage_incident();
  incident.subject.clear();
  incident.blamed->object.clear();
  incident.blamed->part = Resource::identity;
  incident.blamed->subject_kind = SubjectKind::network_switch;
  EXPECT_TRUE(has(render_blamed(incident), "a part of the network, 90 % sure"));
  incident.blamed->part = Resource::gpu;
  incident.blamed->subject_kind = SubjectKind::node;
  incident.device = "0000:1b:00";
  EXPECT_TRUE(has(render_blamed(incident), "gpu 0000:1b:00 of a node, 90 % sure"));
}

TEST(BlameText, an_incident_without_blame_reads_as_before) {
  EXPECT_EQ(render_blamed({}), "");
  EXPECT_TRUE(is_about_gpu({}));
}

}  // namespace
}  // namespace tundish::edge::cli
