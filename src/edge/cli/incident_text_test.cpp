#include "edge/cli/incident_text.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

#include "edge/cli/cli_fixture_test.hpp"

namespace tundish::edge::cli {
namespace {

constexpr Instant detected{1769900400000000};  // 2026-01-31T23:00:00Z

Instant after(std::int64_t ms) { return detected + milliseconds(ms); }

Witness sample_witness() {
  Witness witness;
  witness.source = "kmsg";
  witness.boot_id = "4f1c2d3e-0000";
  witness.seq = 812;
  witness.observed_at = detected;
  witness.event.text = "NVRM: Xid (PCI:0000:5d:00): 79, GPU lost";
  return witness;
}

std::vector<TimelineEntry> sample_timeline() {
  return {{detected, {}, "detected", "Xid 79", "", StepOutcome::done, TimeOwner::provider, {}},
          {after(40), {}, "claimed", "no new work", "", StepOutcome::done, TimeOwner::provider, {}},
          {after(60), after(6060), "evacuate", "1 job requeued", "i/evacuate/1", StepOutcome::done,
           TimeOwner::provider, milliseconds(120)},
          {after(9000), {}, "whole", "it serves", "", StepOutcome::done, TimeOwner::provider, {}},
          {after(9500),
           {},
           "reboot",
           "",
           "i/reboot/1",
           StepOutcome::running,
           TimeOwner::provider,
           milliseconds(30)}};
}

Incident sample_incident() {
  Incident incident;
  incident.id = IncidentId("incident-7");
  incident.node = NodeId("node-3");
  incident.allocation = AllocationId("allocation-3");
  incident.fault = "xid 79";
  incident.device = "0000:5d:00";
  incident.action = "reboot";
  incident.device_lost = true;
  incident.hardware_witness = true;
  incident.drill = true;
  incident.blame = "GPU 0000:5d:00 of node gpu03: kernel reports xid 79";
  incident.policy_state = "reboot";
  incident.detected_at = detected;
  incident.opened_at = after(40);
  incident.member_short_since = after(40);
  incident.member_restored_at = after(9000);
  incident.replacement = NodeId("node-5");
  incident.witnesses = {sample_witness()};
  incident.witnesses_dropped = 2;
  incident.timeline = sample_timeline();
  incident.jobs = {{"17", "gpu01,gpu03", "gpu01,gpu05", 1, after(8500)}};
  incident.verdicts = {{"gpu_count", VerdictState::ok, "", "8 of 8", after(9000)},
                       {"ecc", VerdictState::fail, "uncorrected errors", "gpu 3: 4", after(9000)}};
  return incident;
}

const IncidentNames names{{{"node-3", "gpu03"}, {"node-5", "gpu05"}}, {{"allocation-3", "train"}}};

const char* const golden =
    R"(incident incident-7   xid 79   open
  node          gpu03
  device        GPU 0000:5d:00
  cluster       train
  catalogue     device lost, first repair reboot
  drill         yes: injected on purpose
  detected      2026-02-01 01:00:00
  opened        2026-02-01 01:00:00 (+40 ms)
  witness       kernel (kmsg, boot 4f1c2d3e, record 812)
  raw line      NVRM: Xid (PCI:0000:5d:00): 79, GPU lost
                and 2 more
  blame         GPU 0000:5d:00 of node gpu03: kernel reports xid 79
  waits for     reboot to end

timeline
  AT             SINCE     WHAT       OUTCOME   ACTING   WALL     OWNER      DETAIL
  01:00:00.000   +0.0 ms   detected   -         -        -        provider   Xid 79
  01:00:00.040   +40 ms    claimed    -         -        -        provider   no new work
  01:00:00.060   +60 ms    evacuate   done      120 ms   6.00 s   provider   1 job requeued
  01:00:09.000   +9.00 s   whole      -         -        -        provider   it serves
  01:00:09.500   +9.50 s   reboot     running   30 ms    runs     provider

jobs hit
  JOB   NODES BEFORE   NODES AFTER   RESTARTS   RUNNING AGAIN
  17    gpu01,gpu03    gpu01,gpu05   1          +8.50 s

tenant and time
  member short  8.96 s (01:00:00.040 to 01:00:09.000)
  replaced by   gpu05
  time          150 ms in the control plane, 5.88 s waited for nodes and jobs

revalidation
  CHECK       VERDICT   REASON               EVIDENCE
  gpu_count   ok        -                    8 of 8
  ecc         fail      uncorrected errors   gpu 3: 4
)";

class IncidentText : public CliTest {};

TEST_F(IncidentText, ShowsEveryStepWithItsTime) {
  EXPECT_EQ(render_incident(sample_incident(), names), golden);
}

TEST_F(IncidentText, IsWhatTheCommandPrints) {
  api.on("GET /v1/incidents/incident-7", render_json(sample_incident()));
  api.on("GET /v1/nodes", R"([{"id":"node-3","meta":{"name":"gpu03"}},)"
                          R"({"id":"node-5","meta":{"name":"gpu05"}}])");
  api.on("GET /v1/clusters", R"([{"id":"cluster-9","meta":{"name":"train"}}])");
  api.on("GET /v1/allocations", R"([{"id":"allocation-3","cluster":"cluster-9"}])");
  EXPECT_EQ(run({"incident", "show", "incident-7"}).out, golden);
  const std::string json = run({"incident", "show", "incident-7", "-o", "json"}).out;
  EXPECT_TRUE(has(json, "\"detected_at\": \"2026-01-31T23:00:00.000000Z\"")) << json;
}

TEST_F(IncidentText, SaysWhatItWaitsFor) {
  Incident incident = sample_incident();
  incident.timeline.back().outcome = StepOutcome::proposed;
  EXPECT_EQ(render_waiting(incident), "approval of reboot: see `tundish proposal list`");
  incident.timeline.back().outcome = StepOutcome::refused;
  incident.timeline.back().detail = "a hold is in force";
  EXPECT_EQ(render_waiting(incident), "leave for reboot: a hold is in force");
  incident.held = true;
  EXPECT_EQ(render_waiting(incident), "a person: `tundish incident resume incident-7` goes on");
  incident.state = IncidentState::rma;
  EXPECT_TRUE(has(render_waiting(incident), "the vendor"));
  EXPECT_TRUE(has(render_waiting(incident), "`tundish incident close incident-7`"));
  EXPECT_TRUE(has(render_waiting(incident), "`tundish node confirm`"));
  incident.resolved_at = incident.detected_at + seconds(60);
  EXPECT_TRUE(has(render_incident(incident, {}), "  RMA since "));
  EXPECT_FALSE(has(render_incident(incident, {}), "  ended "));
  incident.state = IncidentState::resolved;
  EXPECT_EQ(render_waiting(incident), "");
}

TEST_F(IncidentText, UserSpaceIsSaidToBeNoProof) {
  Incident incident = sample_incident();
  incident.hardware_witness = false;
  incident.witnesses.front().provenance = Provenance::userspace;
  const std::string text = render_incident(incident, names);
  EXPECT_TRUE(has(text, "witness       userspace (kmsg")) << text;
  EXPECT_TRUE(has(text, "no reset and no RMA follows")) << text;
}

TEST_F(IncidentText, WithoutRecordedTimesTheTimelineSaysHowLongItWasShort) {
  Incident incident = sample_incident();
  incident.member_short_since = incident.member_restored_at = {};
  incident.timeline[3].what = "allocation whole again";
  EXPECT_TRUE(has(render_incident(incident, names), "member short  8.96 s (01:00:00.040 to "));
}

TEST_F(IncidentText, ATenantStillShortIsSaid) {
  Incident incident = sample_incident();
  incident.member_restored_at = {};
  incident.timeline.resize(3);
  EXPECT_TRUE(
      has(render_incident(incident, names), "member short  since 2026-02-01 01:00:00, still"));
}

}  // namespace
}  // namespace tundish::edge::cli
