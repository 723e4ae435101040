// What must be measured before a node counts as mended.
#include "model/ops/incident_proof.hpp"

#include <gtest/gtest.h>

namespace tundish {
namespace {

using V = VerdictState;

Verdict says(const std::string& check, V state) {
  Verdict out;
  out.check = check;
  out.state = state;
  out.reason = "because";
  return out;
}

Incident seen_by_kernel(int xid, Provenance provenance = Provenance::kernel) {
  Incident out;
  out.fault = "xid " + std::to_string(xid);
  Witness witness;
  witness.provenance = provenance;
  witness.event.kind = KernelEventKind::xid;
  witness.event.code = xid;
  out.witnesses.push_back(witness);
  return out;
}

Incident blamed_for(Resource part, const std::vector<std::pair<Resource, std::string>>& seen) {
  Incident out;
  out.fault = "something";
  out.blamed.emplace();
  out.blamed->part = part;
  for (const auto& [on, what] : seen) {
    BlameEvidence line;
    line.part = on;
    line.what = what;
    out.blamed->evidence.push_back(line);
  }
  return out;
}

std::set<std::string> passive(const Incident& incident) {
  std::set<std::string> out;
  for (const auto& [check, worst] : proof_of(incident).passive) out.insert(check);
  return out;
}

using Names = std::set<std::string>;

TEST(IncidentProof, a_check_that_showed_the_fault_is_asked_again) {
  const Incident memory = blamed_for(Resource::memory, {{Resource::memory, "dram_ecc"},
                                                        {Resource::memory, "memory_error"},
                                                        {Resource::service, "services"}});
  EXPECT_EQ(passive(memory), Names{"dram_ecc"}) << "no line of the log, nothing that followed";
  const Proof proof = proof_of(memory);
  EXPECT_NE(unproved(proof, {says("ecc", V::ok)}), "") << "others say nothing of it";
  EXPECT_NE(unproved(proof, {says("dram_ecc", V::unknown)}), "");
  EXPECT_NE(unproved(proof, {says("dram_ecc", V::fail)}), "");
  EXPECT_EQ(unproved(proof, {says("dram_ecc", V::ok)}), "");
  EXPECT_NE(unproved(proof, {says("dram_ecc", V::ok), says("dram_ecc", V::unknown)}), "")
      << "one module of two";
}

TEST(IncidentProof, a_part_that_the_kernel_accused_is_looked_at) {
  EXPECT_EQ(passive(seen_by_kernel(74)), (Names{"nvlink_errors", "nvlink_state"}));
  EXPECT_EQ(passive(seen_by_kernel(95)), (Names{"ecc", "row_remap"}));
  EXPECT_EQ(passive(seen_by_kernel(79)), Names{"recovery_action"});
  EXPECT_EQ(passive(seen_by_kernel(79, Provenance::userspace)), Names{})
      << "a line that a tenant could have written names no part";
}

TEST(IncidentProof, what_only_a_cluster_gives_is_not_waited_for) {
  EXPECT_EQ(passive(blamed_for(Resource::storage_client,
                               {{Resource::storage_client, "storage_mount"}})),
            Names{});
  EXPECT_EQ(passive(blamed_for(Resource::link, {{Resource::link, "ethernet_link"}})), Names{});
}

TEST(IncidentProof, checks_that_opened_it_are_known_when_others_ran_since) {
  Incident incident;
  incident.fault = "checks failed: dram_ecc, job_peers";
  incident.verdicts = {says("ecc", V::ok), says("row_remap", V::unknown)};
  EXPECT_EQ(failed_checks(incident), (Names{"dram_ecc", "job_peers", "row_remap"}));
  EXPECT_EQ(passive(incident), (Names{"dram_ecc", "gpu_clocks", "gpu_throttle", "row_remap"}));
  EXPECT_EQ(proof_of(incident).active, Names{"gpu_work"});
  std::vector<Verdict> run = {says("dram_ecc", V::warn), says("gpu_clocks", V::ok),
                              says("gpu_throttle", V::warn), says("row_remap", V::ok)};
  EXPECT_NE(unproved(proof_of(incident), run), "")
      << "a GPU that is slowed down is what was reported";
  run[2].state = V::ok;
  EXPECT_EQ(unproved(proof_of(incident), run), "") << "any other warning is told, and no fault";
}

TEST(IncidentProof, heavy_checks_have_a_light_one_that_stands_for_them) {
  Incident incident;
  incident.fault = "checks failed: gpu_burn, nccl_local";
  EXPECT_EQ(proof_of(incident).active, Names{"gpu_work"});
  EXPECT_EQ(passive(incident), (Names{"gpu_temperature", "nvlink_errors", "nvlink_state"}));
}

}  // namespace
}  // namespace tundish
