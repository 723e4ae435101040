// The Slurm item against recorded transcripts of 22.05.8 and hand-made later shapes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "families/engines/driver.hpp"
#include "families/engines/slurm_parts/names.hpp"
#include "families/engines/slurm_parts/parts.hpp"

namespace tundish::slurm_parts {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string data(const std::string& name) {
  std::ifstream file(std::string(TUNDISH_SOURCE_DIR) + "/tests/data/slurm/" + name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

EngineObserved observed_in(const std::string& name) {
  auto seen = parse_observation(data(name));
  EXPECT_TRUE(seen.has_value()) << name;
  return seen ? *seen : EngineObserved{};
}

const EngineNode& node_in(const EngineObserved& seen, const std::string& name) {
  static const EngineNode none;
  for (const auto& node : seen.nodes) {
    if (node.name == name) return node;
  }
  ADD_FAILURE() << "no node " << name;
  return none;
}

DesiredEngineNode member(const std::string& name) {
  DesiredEngineNode node;
  node.name = name;
  node.address = "10.0.0." + name.substr(1);
  node.leaf = "leaf1";
  node.role = EngineRole::member;
  return node;
}

/// n01 and n02 members, n03 a spare on another leaf.
DesiredEngine three_nodes() {
  DesiredEngine desired;
  desired.cluster = "acme-train";
  desired.index = 3;
  desired.controller_address = "10.0.0.1";
  desired.cpus = 8;
  desired.sockets = 2;
  desired.gpus = 8;
  desired.gres_type = "h100";
  desired.nodes = {member("n01"), member("n02"), member("n03")};
  desired.nodes[2].role = EngineRole::spare;
  desired.nodes[2].leaf = "leaf2";
  return desired;
}

/// What the engine shows when three_nodes() is in step.
EngineObserved in_step() {
  EngineObserved seen;
  seen.reachable = true;
  seen.at = {1000000000};
  seen.partition_nodes = {"n01", "n02"};
  seen.nodes = {{"n01", {"IDLE"}, "", 0, true},
                {"n02", {"IDLE"}, "", 0, true},
                {"n03", {"IDLE", "DRAIN"}, "tundish: spare", 0, true}};
  return seen;
}

std::string text_of(const std::vector<EngineCommand>& commands) {
  std::string out;
  for (const auto& command : commands) {
    out += enum_names(command.verb)[static_cast<std::size_t>(command.verb)];
    for (const auto& part : {command.state, command.job, fold_hostlist(command.nodes)}) {
      if (!part.empty()) out += " " + part;
    }
    out += command.reason.empty() ? "\n" : " (" + command.reason + ")\n";
  }
  return out;
}

std::string planned(const DesiredEngine& desired, const EngineObserved& seen) {
  return text_of(plan_commands(desired, seen));
}

std::string file_of(const DesiredEngine& desired, const std::string& name) {
  for (const auto& file : render_files(desired)) {
    if (file.name == name) return file.content;
  }
  return "no file";
}

TEST(Hostlist, ExpandsRangesListsAndProducts) {
  EXPECT_THAT(*expand_hostlist("n[01-03,07],login"),
              ElementsAre("n01", "n02", "n03", "n07", "login"));
  EXPECT_THAT(*expand_hostlist("r[1-2]n[09-10]x"),
              ElementsAre("r1n09x", "r1n10x", "r2n09x", "r2n10x"));
  EXPECT_THAT(*expand_hostlist("(null)"), IsEmpty());
  EXPECT_THAT(*expand_hostlist(""), IsEmpty());
}

TEST(Hostlist, RefusesWhatHasNoMeaningOrNoEnd) {
  for (const char* const bad : {"n[", "n[1-", "n]1[", "n[a-b]", "n[5-1]", "n[]", "n[1-999999999]",
                                "a[0-9999]b[0-9999]", "n[99999999999999999999]"}) {
    EXPECT_FALSE(expand_hostlist(bad)) << bad;
  }
}

TEST(Hostlist, FoldsAndExpandsToTheSameNames) {
  EXPECT_EQ(fold_hostlist({"n07", "n02", "n01", "n03", "login", "n02"}), "login,n[01-03,07]");
  EXPECT_EQ(fold_hostlist({"n1", "n10", "n2"}), "n10,n[1-2]");
  EXPECT_EQ(fold_hostlist({"n5"}), "n5");
  EXPECT_THAT(*expand_hostlist(fold_hostlist({"a1", "a2", "b01", "7"})),
              testing::UnorderedElementsAre("a1", "a2", "b01", "7"));
}

TEST(Reason, IsOneLineOfPlainCharactersAndOurs) {
  EXPECT_EQ(clean_reason("tundish: incident-7 gpu lost"), "tundish: incident-7 gpu lost");
  EXPECT_EQ(clean_reason("x\" state=resume\nupdate"), "tundish: x_ state_resume_update");
  EXPECT_EQ(clean_reason(std::string(500, 'a')).size(), 200u);
}

TEST(Status, ReadsARequeueOf22_05) {
  const auto seen = observed_in("observe_22_05_requeued.txt");
  EXPECT_TRUE(seen.reachable);
  EXPECT_EQ(seen.at.us, 1796027889000000);
  EXPECT_GT(seen.started_at.us, seen.at.us - 60000000);
  EXPECT_THAT(seen.partition_nodes, ElementsAre("n02", "n03"));
  EXPECT_THAT(node_in(seen, "n01").states, ElementsAre("IDLE", "COMPLETING", "DRAIN"));
  EXPECT_EQ(node_in(seen, "n01").reason, "tundish: incident-7 gpu off the bus");
  EXPECT_TRUE(node_in(seen, "n01").registered);
  EXPECT_FALSE(node_in(seen, "n03").registered);
  EXPECT_FALSE(node_in(seen, "n04").registered);
  ASSERT_EQ(seen.jobs.size(), 1u) << "the name of the job holds a line that looks like a job";
  EXPECT_EQ(seen.jobs[0].state, "COMPLETING");
  EXPECT_EQ(seen.jobs[0].user, "alice");
  EXPECT_EQ(seen.jobs[0].restarts, 1);
  EXPECT_TRUE(seen.jobs[0].requeueable);
  EXPECT_EQ(seen.jobs[0].begin_time_s, 1796027887);
}

TEST(Status, ReadsAPersonsDrainAndANodeThatIsGone) {
  const auto held = observed_in("observe_22_05_held.txt");
  EXPECT_EQ(node_in(held, "n03").reason, "disk is loud");
  EXPECT_EQ(node_in(held, "n03").allocated_cpus, 1);
  ASSERT_EQ(held.jobs.size(), 1u);
  EXPECT_THAT(held.jobs[0].nodes, ElementsAre("n03"));
  const auto gone = observed_in("observe_22_05_gone.txt");
  EXPECT_THAT(node_in(gone, "n01").states, ElementsAre("DOWN", "DRAIN"));
}

TEST(Status, KeepsUnknownWordsAndSkipsUnknownSections) {
  const auto seen = observed_in("observe_24_05.txt");
  EXPECT_THAT(seen.partition_nodes, ElementsAre("r1n01", "r1n02", "r2n01", "r2n02", "gpu7"));
  EXPECT_THAT(node_in(seen, "r1n01").states,
              ElementsAre("ALLOCATED", "DRAIN", "PLANNED", "SPARKLING"));
  EXPECT_EQ(node_in(seen, "gpu7").states.size(), 0u);
  EXPECT_EQ(seen.started_at.us, 1796025600000000);
}

TEST(Status, NobodySpeaksForAnother) {
  const auto seen = observed_in("observe_24_05.txt");
  EXPECT_THAT(node_in(seen, "r1n02").states, ElementsAre("AMBIGUOUS"));
  EXPECT_EQ(node_in(seen, "r1n02").reason, "");
  ASSERT_EQ(seen.jobs.size(), 2u);
  EXPECT_EQ(seen.jobs[0].id, "12");
  EXPECT_EQ(seen.jobs[0].name, "a|b");
  EXPECT_EQ(seen.jobs[1].begin_time_s, 0);
}

TEST(Status, RefusesWhatIsCutOrForeign) {
  EXPECT_FALSE(parse_observation(""));
  EXPECT_FALSE(parse_observation("slurm_load_node error: Unable to contact slurm controller"));
  EXPECT_FALSE(parse_observation("tundish-slurm 2 5\n"));
  EXPECT_FALSE(parse_observation("tundish-slurm 1 5\n== control 0\n"));
  const std::string whole = data("observe_22_05_held.txt");
  EXPECT_FALSE(parse_observation(std::string_view(whole).substr(0, whole.size() - 3)));
}

TEST(Status, TellsWhenAJobThatRunsWasStarted) {
  const std::string control = "NodeName=n01 State=IDLE\n";
  const std::string jobs =
      "5m|alice|RUNNING|0|1|1970-01-01T00:00:07|1970-01-01T00:00:09|n01|a|b\n"
      "6m|alice|PENDING|0|1|N/A|1970-01-01T00:00:09||a\n"
      "7m|alice|RUNNING|0|1|N/A|N/A|n01|a\n";
  const auto seen = parse_observation(
      "tundish-slurm 1 5\n== control " + std::to_string(control.size()) + "\n" + control +
      "== jobs " + std::to_string(jobs.size()) + " m\n" + jobs);
  ASSERT_TRUE(seen);
  ASSERT_EQ(seen->jobs.size(), 3u);
  EXPECT_EQ(seen->jobs[0].started_at.us, 9000000);
  EXPECT_EQ(seen->jobs[0].begin_time_s, 7);
  EXPECT_EQ(seen->jobs[0].name, "a|b");
  EXPECT_THAT(seen->jobs[0].nodes, ElementsAre("n01"));
  EXPECT_FALSE(seen->jobs[1].started_at.is_set()) << "it is only expected to";
  EXPECT_FALSE(seen->jobs[2].started_at.is_set());
  EXPECT_FALSE(observed_in("observe_22_05_held.txt").jobs[0].started_at.is_set())
      << "an agent of before does not tell";
}

TEST(Status, MarksBehindAStateAreFlags) {
  EXPECT_THAT(split_states("IDLE+DRAIN*"), ElementsAre("IDLE", "DRAIN", "NOT_RESPONDING"));
  EXPECT_THAT(split_states("mixed$@"), ElementsAre("MIXED", "REBOOT_REQUESTED", "MAINTENANCE"));
  EXPECT_THAT(split_states("+*++"), ElementsAre("NOT_RESPONDING"));
  EXPECT_EQ(parse_time("1970-01-02T00:00:01"), 86401);
  EXPECT_EQ(parse_time("2024-02-29T12:00:00"), 1709208000);
  EXPECT_EQ(parse_time("2023-02-29T12:00:00"), 0);
  EXPECT_EQ(parse_time("None"), 0);
}

TEST(StatusJson, ReadsBothGenerations) {
  const auto old_nodes = parse_sinfo_json(data("sinfo_22_05_held.json"));
  ASSERT_TRUE(old_nodes);
  EngineObserved seen;
  seen.nodes = *old_nodes;
  const auto text = observed_in("observe_22_05_held.txt");
  for (const auto& node : text.nodes) {
    EXPECT_EQ(node_in(seen, node.name).reason, node.reason);
    EXPECT_EQ(is_drained(node_in(seen, node.name)), is_drained(node)) << node.name;
  }
  seen.nodes = parse_sinfo_json(data("sinfo_23_11.json")).value();
  EXPECT_THAT(node_in(seen, "n01").states, ElementsAre("MIXED", "DRAIN"));
  EXPECT_TRUE(node_in(seen, "n01").registered);
  EXPECT_FALSE(node_in(seen, "n02").registered);
  EXPECT_EQ(node_in(seen, "n03").reason, "slurm: Low RealMemory");
}

TEST(StatusJson, ReadsJobsOfBothGenerations) {
  const auto old_jobs = parse_squeue_json(data("squeue_22_05_held.json")).value();
  ASSERT_EQ(old_jobs.size(), 1u);
  EXPECT_EQ(old_jobs[0].name, "a\n1|x");
  EXPECT_EQ(old_jobs[0].state, "RUNNING");
  EXPECT_THAT(old_jobs[0].nodes, ElementsAre("n03"));
  const auto jobs = parse_squeue_json(data("squeue_24_05.json")).value();
  ASSERT_EQ(jobs.size(), 4u);
  EXPECT_THAT(jobs[0].nodes, ElementsAre("n01", "n02"));
  EXPECT_EQ(jobs[1].begin_time_s, 0);
  EXPECT_EQ(jobs[2].state, "COMPLETING");
  EXPECT_EQ(jobs[3].state, "QUANTUM_LEAP");
  EXPECT_FALSE(parse_squeue_json("[]"));
  EXPECT_FALSE(parse_sinfo_json("{\"nodes\": 3}"));
}

TEST(Plan, IsEmptyInStepAndWhenNothingIsKnown) {
  EXPECT_EQ(planned(three_nodes(), in_step()), "");
  EXPECT_EQ(planned(three_nodes(), EngineObserved{}), "");
}

TEST(Plan, SwapsASpareInAndRequeuesTheJob) {
  auto desired = three_nodes();
  desired.nodes[0].role = EngineRole::headroom;
  desired.nodes[0].device_lost = true;
  desired.nodes[0].reason = "tundish: incident-7";
  desired.nodes[2].role = EngineRole::member;
  auto seen = in_step();
  seen.jobs = {{"5", "alice", "a", "RUNNING", {"n01", "n02"}, 0, true, 0},
               {"6", "alice", "b", "RUNNING", {"n02"}, 0, true, 0},
               {"7", "alice", "c", "RUNNING", {"n01"}, 0, false, 0},
               {"8", "alice", "d", "COMPLETING", {"n01"}, 0, true, 0}};
  EXPECT_EQ(planned(desired, seen),
            "update_nodes drain n01 (tundish: incident-7)\n"
            "write_files\nset_partition n[02-03]\n"
            "update_nodes undrain n03\nrequeue_job 5\n");
  desired.nodes[0].may_requeue = false;
  EXPECT_THAT(planned(desired, seen), Not(HasSubstr("requeue_job")));
}

TEST(Plan, SparesAJobThatBeganAfterItsDeviceWasSaidToBeGone) {
  auto desired = three_nodes();
  desired.nodes[0].drained = desired.nodes[0].device_lost = true;
  desired.nodes[0].spares_after = {5000000};
  desired.nodes[1].drained = desired.nodes[1].device_lost = true;
  auto seen = in_step();
  const auto job = [](std::string id, std::string node, Instant started) {
    EngineJob out{std::move(id), "alice", "a", "RUNNING", {std::move(node)}, 0, true, 0};
    out.started_at = started;
    return out;
  };
  seen.jobs = {job("5", "n01", {6000000}), job("6", "n01", {5000000}), job("7", "n01", {}),
               job("8", "n02", {6000000})};
  const auto text = planned(desired, seen);
  EXPECT_THAT(text, Not(HasSubstr("requeue_job 5")));
  for (const char* id : {"6", "7", "8"}) {
    EXPECT_THAT(text, HasSubstr("requeue_job " + std::string(id)));
  }
}

TEST(Plan, StartsOnlyWhatARequeueDelayed) {
  auto seen = in_step();
  seen.jobs = {{"5", "alice", "a", "PENDING", {}, 1, true, 1100},
               {"6", "alice", "b", "PENDING", {}, 0, true, 1100},
               {"7", "alice", "c", "PENDING", {}, 1, true, 9000},
               {"8", "alice", "d", "PENDING", {}, 1, true, 990}};
  EXPECT_EQ(planned(three_nodes(), seen), "start_job_now 5\n");
  auto desired = three_nodes();
  desired.nodes[0].drained = desired.nodes[1].drained = true;
  EXPECT_THAT(planned(desired, seen), Not(HasSubstr("start_job_now"))) << "nowhere to run";
}

TEST(Plan, OneCommandForNodesOfOneReason) {
  auto desired = three_nodes();
  auto seen = in_step();
  for (auto& node : desired.nodes) {
    node.drained = true;
    node.reason = "tundish: rack power";
  }
  EXPECT_EQ(planned(desired, seen), "update_nodes drain n[01-03] (tundish: rack power)\n");
}

TEST(Plan, NeverTouchesAPersonsDrain) {
  auto desired = three_nodes();
  auto seen = in_step();
  seen.nodes[0].states = {"IDLE", "DRAIN"};
  seen.nodes[0].reason = "disk is loud";
  seen.nodes[1].states = {"DOWN"};
  seen.nodes[1].reason = "broken fan";
  seen.nodes[2].reason = "";
  EXPECT_EQ(planned(desired, seen), "");
  for (auto& node : desired.nodes) node.drained = node.gone = node.device_lost = true;
  EXPECT_EQ(planned(desired, seen), "");
}

TEST(Plan, ReturnsWhatWeOrAReleasedClaimTookOut) {
  auto seen = in_step();
  seen.nodes[0] = {"n01", {"IDLE", "DRAIN"}, "tundish: incident-7", 0, true};
  seen.nodes[1] = {"n02", {"DOWN", "DRAIN"}, "tundish: gone", 0, false};
  EXPECT_EQ(planned(three_nodes(), seen),
            "update_nodes resume n02\nupdate_nodes undrain n01\n");
  seen.nodes[0].states = {"UNKNOWN", "DRAIN"};
  seen.nodes[1] = {"n02", {"DOWN"}, "slurm: Node unexpectedly rebooted", 0, true};
  EXPECT_EQ(planned(three_nodes(), seen), "update_nodes resume n02\n");
}

TEST(Plan, AClaimTakesOverWhatSlurmFound) {
  auto desired = three_nodes();
  auto seen = in_step();
  seen.nodes[0] = {"n01", {"IDLE", "DRAIN"}, "Kill task failed", 0, true};
  EXPECT_EQ(planned(desired, seen), "") << "no claim: Slurm's own drain stays";
  desired.nodes[0].drained = true;
  EXPECT_EQ(planned(desired, seen), "update_nodes drain n01 (tundish: drained)\n");
}

// A storage that hung made slurmd give its node up; nobody took that back when it answered again.
TEST(Plan, WhatSlurmFoundEndsWhenItsCauseIsSaidToBeOver) {
  auto desired = three_nodes();
  auto seen = in_step();
  seen.nodes[0] = {"n01", {"IDLE", "DRAIN"}, "Kill task failed", 0, true};
  desired.nodes[0].reason = "Kill task failed";
  EXPECT_EQ(planned(desired, seen), "update_nodes undrain n01\n");
  seen.nodes[0].reason = desired.nodes[0].reason = "cable work, ask Ann";
  EXPECT_EQ(planned(desired, seen), "") << "a person's word is never given back";
}

TEST(Plan, GoneIsDownAndDrained) {
  auto desired = three_nodes();
  desired.nodes[0].gone = true;
  auto seen = in_step();
  EXPECT_EQ(planned(desired, seen),
            "update_nodes down n01 (tundish: gone)\nupdate_nodes drain n01 (tundish: gone)\n");
  seen.nodes[0].states = {"DOWN", "NOT_RESPONDING"};
  seen.nodes[0].reason = "slurm: Not responding";
  EXPECT_EQ(planned(desired, seen), "update_nodes drain n01 (tundish: gone)\n");
}

TEST(Plan, ANewNodeIsDeclaredByARestart) {
  auto desired = three_nodes();
  desired.nodes.push_back(member("n04"));
  EXPECT_EQ(planned(desired, in_step()), "write_files\nrestart_controller\n");
  auto seen = in_step();
  seen.nodes.push_back({"n05", {"IDLE"}, "", 0, true});
  EXPECT_EQ(planned(three_nodes(), seen),
            "update_nodes drain n05 (tundish: left the cluster)\n");
}

TEST(Render, DeclaresAllAndListsMembersOnly) {
  const std::string conf = file_of(three_nodes(), "slurm.conf");
  EXPECT_THAT(conf, HasSubstr("SlurmctldHost=acme-train-ctl(10.0.0.1)\nSlurmctldPort=7030\n"));
  EXPECT_THAT(conf, HasSubstr("AccountingStoragePort=7031\n"));
  EXPECT_THAT(conf, HasSubstr("CPUs=8 SocketsPerBoard=2 CoresPerSocket=4 ThreadsPerCore=1"));
  EXPECT_THAT(conf, HasSubstr("Gres=gpu:h100:8\n"));
  EXPECT_THAT(conf, HasSubstr("NodeName=n03 NodeAddr=10.0.0.03\n"));
  EXPECT_THAT(conf, HasSubstr("PartitionName=main Nodes=n[01-02] Default=YES"));
  EXPECT_EQ(file_of(three_nodes(), "gres.conf"), "Name=gpu Type=h100 File=/dev/nvidia[0-7]\n");
  EXPECT_EQ(file_of(three_nodes(), "topology.conf"),
            "SwitchName=leaf1 Nodes=n[01-02]\nSwitchName=leaf2 Nodes=n03\n"
            "SwitchName=tundish-top Switches=leaf1,leaf2\n");
  EXPECT_THAT(file_of(three_nodes(), "slurmdbd.conf"), HasSubstr("StoragePass=@dbd_password@\n"));
  EXPECT_THAT(file_of(three_nodes(), "slurmdbd.conf"), HasSubstr("slurm_acct_acme_train\n"));
}

TEST(Render, NoGpusAndNoMembers) {
  auto desired = three_nodes();
  desired.gpus = 0;
  for (auto& node : desired.nodes) node.role = EngineRole::headroom;
  const std::string conf = file_of(desired, "slurm.conf");
  EXPECT_THAT(conf, Not(HasSubstr("Gres")));
  EXPECT_THAT(conf, HasSubstr("PartitionName=main Default=YES"));
  EXPECT_EQ(file_of(desired, "gres.conf"), "");
}

class FakeAgents final : public Agents {
 public:
  void start(const NodeId&, VerbCall call, Duration, Done done) override {
    calls.push_back(std::move(call));
    done(answer);
  }
  void stop(const NodeId&, const std::string&) override {}  // an engine's calls have no lease
  std::vector<VerbCall> calls;
  Result<VerbResult> answer;
};

VerbResult failed(const std::string& what) {
  VerbResult result;
  result.code = "unavailable";
  result.what = what;
  return result;
}

VerbResult shown(const std::string& text) {
  VerbResult result;
  result.ok = true;
  result.text = text;
  return result;
}

EngineObserved observe(FakeAgents& agents) {
  engines::AgentEngine engine(agents, *engines::find_engine("slurm"));
  EngineObserved seen;
  engine.observe(NodeId("sv1"), "acme", seconds(5), [&](Result<EngineObserved> result) {
    ASSERT_TRUE(result);
    seen = std::move(*result);
  });
  return seen;
}

TEST(AgentEngine, SilenceIsAnObservation) {
  FakeAgents agents;
  agents.answer = Result<VerbResult>(make_error(Code::timeout, "agent away"));
  EXPECT_FALSE(observe(agents).reachable);
  EXPECT_THAT(observe(agents).fault, HasSubstr("agent away"));
  agents.answer = failed("does not run");
  EXPECT_EQ(observe(agents).fault, "does not run");
  agents.answer = shown("garbage");
  EXPECT_FALSE(observe(agents).reachable);
  agents.answer = shown(data("observe_22_05_held.txt"));
  EXPECT_TRUE(observe(agents).reachable);
  EXPECT_EQ(agents.calls.back().verb, Verb::engine_observe);
}

TEST(AgentEngine, AnErrorOfTheAgentKeepsItsCode) {
  FakeAgents agents;
  agents.answer = failed("no controller");
  engines::AgentEngine engine(agents, *engines::find_engine("slurm"));
  Result<> result;
  engine.apply("key-1", NodeId("sv1"), "acme", {}, seconds(5), [&](Result<> r) { result = r; });
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::unavailable);
  EXPECT_EQ(agents.calls.at(0).key, "key-1");
}

}  // namespace
}  // namespace tundish::slurm_parts
