// A policy that is not proved is refused with its story, and the loaded one stays.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "codec/kernel_log/catalogue.hpp"
#include "edge/api/api_fixture_test.hpp"
#include "edge/api/contract_policy.hpp"

namespace tundish::edge {
namespace {

class PolicyApiTest : public ApiTest {
 protected:
  /// A policy is proved for the codes of the catalogue: without codes its guards wait for nothing.
  PolicyApiTest() {
    const std::string xid = text_of("../xid.yaml"), sxid = text_of("../sxid.yaml");
    auto codes = load_xid_catalogue({xid, "xid.yaml"}, {sxid, "sxid.yaml"});
    EXPECT_TRUE(codes) << (codes ? "" : codes.error().message());
    if (codes) catalogue_ = std::move(*codes);
  }
  static std::string text_of(const std::string& file) {
    std::ifstream in(std::string(TUNDISH_SOURCE_DIR) + "/catalog/policies/" + file);
    std::ostringstream out;
    out << in.rdbuf();
    return out.str();
  }
  static std::string request(const std::string& file) {
    PolicyRequest asked;
    asked.text = text_of(file);
    asked.name = file;
    return render_json(asked);
  }
  std::string loaded() { return field(call({"GET", "/v1/policy"}).body, "name"); }
};

TEST_F(PolicyApiTest, a_proved_policy_takes_the_place_of_the_loaded_one) {
  const auto answer = call({"POST", "/v1/policy/load", request("default.yaml")});
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(field(answer.body, "policy.name"), "default");
  EXPECT_EQ(loaded(), "default");
  const auto history = call({"GET", "/v1/history", "", "root", {}, {{"object", "policy/default"}}});
  EXPECT_NE(history.body.find("load_policy"), std::string::npos) << history.body;
}

TEST_F(PolicyApiTest, one_that_is_not_proved_is_refused_with_its_story) {
  ASSERT_EQ(status({"POST", "/v1/policy/load", request("default.yaml")}), 200);
  const auto answer = call({"POST", "/v1/policy/load", request("known-bad/soperator-a.yaml")});
  EXPECT_EQ(answer.status, 422);
  EXPECT_NE(answer.body.find("refuted: check_runnable"), std::string::npos) << answer.body;
  EXPECT_EQ(loaded(), "default");
}

TEST_F(PolicyApiTest, one_that_cannot_be_read_is_refused_by_its_line) {
  PolicyRequest asked;
  asked.text = "name: x\ninitial: a\nstates:\n  a: {nxet: []}\n";
  asked.name = "mine.yaml";
  const auto answer = call({"POST", "/v1/policy/load", render_json(asked)});
  EXPECT_EQ(answer.status, 422);
  EXPECT_NE(answer.body.find("mine.yaml:4"), std::string::npos) << answer.body;
}

TEST_F(PolicyApiTest, a_name_that_nothing_has_is_refused_by_its_line) {
  PolicyRequest asked;
  asked.text = "name: x\ninitial: a\nstates:\n  a:\n    next:\n"
               "      - {when: [drained], go: rebot}\n"
               "  reboot: {action: open_rma, final: true}\n";
  asked.name = "mine.yaml";
  const auto state = call({"POST", "/v1/policy/load", render_json(asked)});
  EXPECT_EQ(state.status, 422);
  EXPECT_EQ(field(state.body, "message"), "mine.yaml:6: state a: unknown state rebot");
  EXPECT_EQ(field(state.body, "remedy"), "did you mean reboot?");
}

class KnownChecksTest : public PolicyApiTest {
 protected:
  KnownChecksTest() {
    ApiParts parts = make_parts();
    for (const char* name : {"gpu_work", "dcgm_quick", "nvbandwidth", "ib_write_bw", "dcgm_diag",
                             "nccl_local", "gpu_burn"}) {
      CheckInfo check;
      check.name = name;
      check.kind = CheckKind::active;
      parts.checks.push_back(check);
    }
    api_ = std::make_unique<Api>(std::move(parts));
  }
};

TEST_F(KnownChecksTest, a_check_that_no_agent_has_is_refused_by_its_line) {
  EXPECT_EQ(status({"POST", "/v1/policy/load", request("default.yaml")}), 200);
  PolicyRequest asked;
  asked.text = text_of("default.yaml");
  asked.name = "mine.yaml";
  const auto at = asked.text.find("light: [gpu_work");
  ASSERT_NE(at, std::string::npos);
  asked.text.replace(at, 16, "light: [gpu_wrok");
  const std::string before = asked.text.substr(0, at);
  const auto line = std::count(before.begin(), before.end(), '\n');
  for (const char* path : {"/v1/policy/load", "/v1/policy/try"}) {
    const auto answer = call({"POST", path, render_json(asked)});
    EXPECT_EQ(answer.status, 422) << path;
    EXPECT_EQ(field(answer.body, "message"),
              "mine.yaml:" + std::to_string(line + 1) + ": no check is called gpu_wrok");
    EXPECT_EQ(field(answer.body, "remedy"), "did you mean gpu_work?");
  }
}

TEST_F(PolicyApiTest, a_dry_run_proves_and_loads_nothing) {
  const auto answer =
      call({"POST", "/v1/policy/load", request("default.yaml"), "root", {}, {{"dry_run", "true"}}});
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_NE(loaded(), "default");
}

TEST_F(PolicyApiTest, only_an_operator_loads) {
  for (const char* token : {"oncall", "auditor", "looker", "a-admin"}) {
    EXPECT_EQ(status({"POST", "/v1/policy/load", request("default.yaml"), token}), 403) << token;
  }
}

TEST_F(PolicyApiTest, history_is_rehearsed_and_people_are_compared) {
  ASSERT_EQ(status({"POST", "/v1/policy/load", request("default.yaml")}), 200);
  Incident incident;
  incident.node = put_node("gpu9", NodeRole::gpu, "h100").id;
  incident.fault = "xid 95";
  incident.action = "reset";
  incident.hardware_witness = true;
  incident.opened_at = scheduler_.now();
  incident.state = IncidentState::overridden;
  TimelineEntry entry;
  for (const char* state : {"permit", "reset", "revalidate", "wipe"}) {
    entry.what = state;
    entry.key = std::string("act/") + state;
    incident.timeline.push_back(entry);
  }
  put(incident);
  const auto answer = call({"POST", "/v1/policy/try", request("default.yaml")});
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_NE(answer.body.find("\"would_end\":\"return\""), std::string::npos) << answer.body;
  EXPECT_NE(answer.body.find("took the node back"), std::string::npos);
  EXPECT_NE(answer.body.find("\"agreement\":\"agrees\""), std::string::npos);
}

TEST_F(PolicyApiTest, what_an_incident_was_charged_with_is_spent_in_a_rehearsal_as_well) {
  ASSERT_EQ(status({"POST", "/v1/policy/load", request("default.yaml")}), 200);
  Incident incident;  // the same fault as a week before, which spent the reset
  incident.node = put_node("gpu9", NodeRole::gpu, "h100").id;
  incident.fault = "xid 95";
  incident.action = "reset";
  incident.hardware_witness = true;
  incident.opened_at = scheduler_.now();
  incident.state = IncidentState::resolved;
  incident.entries = {{"permit", 1}, {"reset", 1}, {"reboot", 1}, {"revalidate", 1}, {"wipe", 1}};
  TimelineEntry entry;
  for (const char* state : {"permit", "reboot", "revalidate", "wipe"}) {
    entry.what = state;
    entry.key = std::string("act/") + state;
    entry.outcome = StepOutcome::done;
    incident.timeline.push_back(entry);
  }
  put(incident);
  const auto same = call({"POST", "/v1/policy/try", request("default.yaml")}).body;
  EXPECT_NE(same.find("\"differs\":false"), std::string::npos) << same;
  auto renamed = request("default.yaml");
  const std::pair<const char*, const char*> names[] = {
      {"go: reset}", "go: anew}"}, {"  reset:\\n", "  anew:\\n"}, {"budget:reset", "budget:anew"}};
  for (const auto& [from, to] : names) {
    const auto at = renamed.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    renamed.replace(at, std::string_view(from).size(), to);
  }
  const auto other = call({"POST", "/v1/policy/try", renamed}).body;
  EXPECT_NE(other.find("\"differs\":false"), std::string::npos) << other;
  // Loaded, it would have its reset again.
  const auto refused = call({"POST", "/v1/policy/load", renamed});
  EXPECT_EQ(refused.status, 409) << refused.body;
  EXPECT_NE(field(refused.body, "message").find("has no state reset that does reset_gpus"),
            std::string::npos)
      << refused.body;
  EXPECT_EQ(status({"POST", "/v1/policy/load", request("default.yaml")}), 200);
  scheduler_.advance(hours(24 * 8));
  EXPECT_EQ(status({"POST", "/v1/policy/load", renamed}), 200) << "nothing is counted any more";
}

TEST_F(PolicyApiTest, what_people_did_later_speaks_for_or_against_a_policy) {
  ASSERT_EQ(status({"POST", "/v1/policy/load", request("default.yaml")}), 200);
  const auto past = [&](const std::string& name, const std::string& fault) {
    const bool vendor = fault == "xid 64";
    Incident incident;
    incident.node = put_node(name, NodeRole::gpu, "h100").id;
    incident.fault = fault;
    incident.action = vendor ? "rma" : "reset";
    incident.hardware_witness = true;
    incident.opened_at = scheduler_.now();
    incident.state = IncidentState::closed;
    TimelineEntry entry;
    for (const char* state : {"permit", "reset", "revalidate", "wipe"}) {
      entry.what = state;
      entry.key = std::string("act/") + state;
      if (!vendor || entry.what == "permit") incident.timeline.push_back(entry);
    }
    entry.key.clear();
    entry.what = "rma";
    entry.detail = "GPU of serial 1: no repair helped; the claim stays";
    if (vendor) incident.timeline.push_back(entry);
    entry.what = "closed";
    entry.detail = "by user:ann";
    incident.timeline.push_back(entry);
    put(incident);
  };
  past("gpu8", "xid 95");  // a person closed it: the node serves on
  past("gpu9", "xid 64");   // it came back from the vendor
  const auto told = call({"POST", "/v1/policy/try", request("default.yaml")}).body;
  EXPECT_NE(told.find("closed it: by user:ann"), std::string::npos) << told;
  EXPECT_NE(told.find("closed it after the vendor: by user:ann"), std::string::npos) << told;
  EXPECT_EQ(told.find("disagrees"), std::string::npos) << told;
  // A policy that sends everything to the vendor has the first person against it.
  PolicyRequest hasty;
  hasty.text = "name: hasty\ninitial: go\nstates:\n  go: {action: open_rma, final: true}\n";
  const auto against = call({"POST", "/v1/policy/try", render_json(hasty)}).body;
  EXPECT_NE(against.find("\"agreement\":\"disagrees\""), std::string::npos) << against;
  EXPECT_NE(against.find("\"agreement\":\"agrees\""), std::string::npos) << against;
  // Only what is as young as asked for.
  scheduler_.advance(hours(48));
  PolicyRequest young;
  young.text = text_of("default.yaml");
  young.since_s = 24 * 3600;
  EXPECT_EQ(length(call({"POST", "/v1/policy/try", render_json(young)}).body), 0u);
  young.since_s = 72 * 3600;
  EXPECT_EQ(length(call({"POST", "/v1/policy/try", render_json(young)}).body), 2u);
}

}  // namespace
}  // namespace tundish::edge
