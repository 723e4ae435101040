// What the noun `network` says to people, and with which exit code.
#include "control/network/probe.hpp"
#include "edge/api/contract_network.hpp"
#include "edge/cli/cli_fixture_test.hpp"
#include "edge/cli/probe_text.hpp"
#include "edge/cli/progress.hpp"

namespace tundish::edge::cli {
namespace {

using namespace control::network;  // NOLINT: the tables of the matrix

std::size_t lines_with(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

/// Two tenants, every cell as it must be.
ProbeMatrix good_matrix() {
  ProbeMatrix matrix;
  for (const char* from : {"acme/train", "bolt/tune"}) {
    for (const char* to : {"acme/train", "bolt/tune"}) {
      ProbePair pair{from, to, std::string(from) == to, true, {}};
      for (int way = 0; way < probe_ways; ++way) {
        pair.ways.push_back(
            {static_cast<ProbeWay>(way), pair.same ? ProbeCell::open : ProbeCell::closed, ""});
      }
      matrix.pairs.push_back(std::move(pair));
    }
  }
  for (const char* node : {"n01", "n02", "n03"}) {
    matrix.out_of_band.push_back({node, ProbeCell::closed, 14, {}, ""});
  }
  conclude_probe(matrix);
  return matrix;
}

void open_all(ProbePair& pair, const std::string& detail) {
  pair.good = false;
  for (auto& way : pair.ways) {
    way.cell = ProbeCell::open;
    way.detail = detail;
  }
}

class NetworkCli : public CliTest {
 protected:
  Ran probe(const ProbeMatrix& matrix, const std::vector<std::string>& more = {}) {
    const std::string body = render_json(matrix);
    api.on("POST /v1/network-probe", [body](const net::ServerRequest& request) {
      const bool dry = request.query.contains("dry_run");
      return HttpResponse{200, {{"x-dry-run", dry ? "true" : ""}}, body};
    });
    std::vector<std::string> args = {"network", "probe"};
    args.insert(args.end(), more.begin(), more.end());
    return run(args);
  }
};

TEST_F(NetworkCli, NodesThatAreProvedAreSaidOnce) {
  const Ran ran = probe(good_matrix());
  EXPECT_EQ(ran.code, 0) << ran.out;
  EXPECT_TRUE(has(ran.out, "isolated, as seen on the wire\n")) << ran.out;
  EXPECT_TRUE(has(ran.out, "n01, n02, n03 on the out-of-band network: tundishd, and none of 14"))
      << ran.out;
}

TEST_F(NetworkCli, ALeakIsCalledALeakFirstAndOnce) {
  ProbeMatrix matrix = good_matrix();
  open_all(matrix.pairs[2], "n05 to n01");
  matrix.pairs[1].good = false;
  matrix.pairs[1].ways[0] = {ProbeWay::broadcast, ProbeCell::unknown, "n01 was not heard"};
  conclude_probe(matrix);
  const Ran ran = probe(matrix);
  EXPECT_EQ(ran.code, 3);
  EXPECT_TRUE(has(ran.out, "open from bolt/tune to acme/train by every way: n05 to n01\n"))
      << ran.out;
  EXPECT_TRUE(has(ran.out, "unknown from acme/train to bolt/tune by broadcast: n01 was not heard"))
      << ran.out;
  EXPECT_TRUE(has(ran.out, "LEAK: 7 ways are open between tenants: bolt/tune to acme/train by "
                           "broadcast, multicast, unknown unicast, unicast, arp, ping, tcp\n"))
      << ran.out;
  EXPECT_LT(ran.out.find("   LEAK\n"), ran.out.find("   good\n")) << ran.out;
  EXPECT_EQ(lines_with(ran.out, "n05 to n01"), 1U) << ran.out;
  EXPECT_EQ(ran.out.rfind("LEAK: "), ran.out.rfind('\n', ran.out.size() - 2) + 1) << ran.out;
}

TEST_F(NetworkCli, EveryTableCanLeak) {
  ProbeMatrix storage = good_matrix();
  storage.storage.push_back(
      {"acme/train", "bolt/tune", false, false, ProbeCell::open, "n01 logs in"});
  ProbeMatrix pkeys = good_matrix();
  ProbePartitions partition;
  partition.from = "acme/train";
  partition.to = "bolt/tune";
  partition.tables = ProbeCell::open;
  pkeys.partitions.push_back(partition);
  ProbeMatrix out_of_band = good_matrix();
  out_of_band.out_of_band[1] = {"n02", ProbeCell::open, 14, {"BMC of n03"}, ""};
  ProbeMatrix service = good_matrix();
  service.services.push_back({"acme/train", "x", {}, {"n01"}, {}, "switch leaf1"});
  for (ProbeMatrix* matrix : {&storage, &pkeys, &out_of_band, &service}) {
    conclude_probe(*matrix);
    const Ran ran = probe(*matrix);
    EXPECT_EQ(ran.code, 3) << ran.out;
    EXPECT_GE(lines_with(ran.out, "LEAK"), 2U) << ran.out;
    EXPECT_TRUE(has(ran.out, "LEAK: 1 way is open ")) << ran.out;
  }
}

TEST_F(NetworkCli, WhatCouldNotBeToldIsNotProvedAndSaysWhy) {
  ProbeMatrix matrix = good_matrix();
  matrix.pairs.resize(1);
  conclude_probe(matrix);
  Ran ran = probe(matrix, {"train"});
  EXPECT_EQ(ran.code, 4);
  EXPECT_TRUE(has(ran.out, "isolation is not proved: only acme/train took part: nobody to be "
                           "separated from; name two clusters or none\n"))
      << ran.out;
  matrix = good_matrix();
  matrix.pairs[1].good = false;
  matrix.pairs[1].ways[0].cell = ProbeCell::unknown;
  conclude_probe(matrix);
  ran = probe(matrix);
  EXPECT_EQ(ran.code, 4);
  EXPECT_TRUE(has(ran.out, "not proved: 1 cell between clusters unknown\n")) << ran.out;
  EXPECT_FALSE(has(ran.out, "LEAK")) << ran.out;
}

TEST_F(NetworkCli, ADryRunOfAProbeSendsNothingAndSaysWhoWould) {
  ProbeMatrix plan;
  plan.senders.push_back({"n01", "acme/train", "eth0", "10.70.0.16", 3, 0, 14, 2});
  plan.left_out = {"node n05: was not heard lately", "node n06: was not heard lately"};
  const Ran ran = probe(plan, {"--dry-run"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(has(ran.out, "n01    acme/train")) << ran.out;
  EXPECT_TRUE(has(ran.out, "left out: n05, n06: was not heard lately\n")) << ran.out;
  EXPECT_TRUE(has(ran.out, "nothing was sent")) << ran.out;
  const auto asked = api.asked("POST /v1/network-probe");
  ASSERT_EQ(asked.size(), 1U);
  EXPECT_TRUE(asked[0].query.contains("dry_run"));
}

TEST_F(NetworkCli, AListSaysWhichNetworkWasSeenJoined) {
  api.on("GET /v1/tenants", "[]");
  api.on("GET /v1/networks",
         R"([{"id":"network-1","allocation":"allocation-1","meta":{"name":"train"},
              "status":{"sync":[{"object":"leaf1","state":"synced"}]}},
             {"id":"network-2","allocation":"allocation-2","meta":{"name":"tune"},
              "status":{"sync":[{"object":"leaf1","state":"synced"}]}}])");
  api.on("GET /v1/incidents",
         R"([{"id":"incident-7","meta":{"name":"incident-7"},"state":"open",
              "fault":"isolation: seen joined","allocations":["allocation-2"]},
             {"id":"incident-5","meta":{"name":"incident-5"},"state":"closed",
              "fault":"isolation: seen joined","allocations":["allocation-1"]}])");
  Ran ran = run({"network", "list"});
  EXPECT_EQ(lines_with(ran.out, "synced, joined: incident-7"), 1U) << ran.out << ran.err;
  EXPECT_EQ(lines_with(ran.out, "joined"), 1U) << ran.out;
  api.on("GET /v1/incidents", R"({"code":"internal","message":"no"})", 500);
  ran = run({"network", "list"});
  EXPECT_EQ(lines_with(ran.out, "synced, joined: unknown"), 2U) << ran.out;
}

TEST_F(NetworkCli, ARefusedProbeAnnouncesNothing) {
  api.on("POST /v1/network-probe",
         R"({"code":"invalid","message":"service \"x\" is no service","remedy":"write one"})", 422);
  const Ran ran = run({"network", "probe", "--service", "x"});
  EXPECT_EQ(ran.code, 3);
  EXPECT_FALSE(has(ran.err, "listen")) << ran.err;
  EXPECT_TRUE(has(probe(good_matrix()).err, "no node takes part"));
}

TEST_F(NetworkCli, WhatTakesLongIsToldMeanwhile) {
  std::ostringstream out, err;
  std::istringstream in;
  Context context({out, err, in}, variables);
  const auto slow = [] {
    std::this_thread::sleep_for(std::chrono::milliseconds(120));
    return Result<std::optional<std::string>>(std::optional<std::string>("done"));
  };
  EXPECT_EQ(**with_progress(context, "waits", slow, milliseconds(20)), "done");
  EXPECT_TRUE(has(err.str(), "waits, 0 s\n")) << err.str();
}

TEST_F(NetworkCli, ShowSaysWhyItIsNotInStepAndWhatTheMarksMean) {
  NetworkReport report;
  report.network = "train";
  report.tenant = "acme";
  report.rows.push_back({"leaf1", "VRF Vrf04096", "vni 1", "vni 1", NetworkRowState::same, 800});
  report.rows.push_back({"leaf1", "port swp9", "", "vlan 100", NetworkRowState::foreign, 800});
  report.access_address = "203.0.113.4";
  report.reasons = {"leaf1: drifted: not understood: frr.conf: ip route"};
  api.on("GET /v1/networks/train/report", render_json(report));
  Ran ran = run({"network", "show", "train"});
  EXPECT_EQ(ran.code, 4);
  EXPECT_TRUE(has(ran.out, "not in step: leaf1: drifted: not understood: frr.conf: ip route\n"));
  EXPECT_TRUE(has(ran.out, "there and not wanted: vlan 100\n")) << ran.out;
  EXPECT_TRUE(has(ran.out, "= as wanted, ! differs, - missing, + there and not wanted, ?"));
  EXPECT_TRUE(has(ran.out, "lets in nobody\n")) << ran.out;
  report.rows.clear();
  report.reasons.clear();
  report.in_step = true;
  api.on("GET /v1/networks/train/report", render_json(report));
  ran = run({"network", "show", "train"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_FALSE(has(ran.out, "as wanted")) << "a tenant's view has no rows";
  EXPECT_TRUE(has(run({"network", "show", "--help"}).out, "exit 4"));
}

TEST_F(NetworkCli, APlanGoesIntoAFolderThatIsMade) {
  NetworkPlan plan;
  plan.steps.push_back({"leaf1", "vlan 100 comes", "kernel", "ip link add br100\n"});
  plan.files.push_back({"leaf1", "frr.conf", "router bgp\n", "lines of ours"});
  plan.files.push_back({"leaf2", "frr.conf", "router bgp\n", "lines of ours"});
  api.on("GET /v1/network-plan", render_json(plan));
  const std::string folder = home / "deep/plan";
  const Ran ran = run({"network", "plan", "--out", folder});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out, "leaf1: 1 step, 1 file\nleaf2: no difference, 1 file\n");
  EXPECT_TRUE(std::filesystem::exists(folder + "/leaf1.frr.conf"));
  std::ostringstream manifest;
  manifest << std::ifstream(folder + "/manifest.json").rdbuf();
  EXPECT_TRUE(has(manifest.str(), "lines of ours")) << manifest.str();
  EXPECT_TRUE(has(run({"network", "plan"}).out, "ip link add br100\n"));
  home.write("file", "");
  EXPECT_EQ(run({"network", "plan", "--out", home / "file/below"}).code, 3);
}

TEST_F(NetworkCli, WhereNobodyMayComeInNobodyIsToldToLogIn) {
  api.on("GET /v1/clusters/train", R"({"id":"cluster-9","meta":{"name":"train"}})");
  const auto answer = [&](const std::string& access) {
    api.on("POST /v1/clusters/train/firewall",
           R"({"id":"cluster-9","spec":{"nodes":1,"access":)" + access +
               R"(},"status":{"phase":"active","login_address":"10.70.0.3",)"
               R"("access_address":"203.0.113.4"},"meta":{"name":"train"}})");
    return run({"cluster", "firewall", "train", "--no-allow-in"}).out;
  };
  const std::string shut = answer("[]");
  EXPECT_FALSE(has(shut, "cluster exec")) << shut;
  EXPECT_TRUE(has(shut, "tundish cluster firewall train --allow-in tcp/22@0.0.0.0/0")) << shut;
  EXPECT_TRUE(has(answer(R"(["tcp/22@0.0.0.0/0"])"), "tundish cluster exec train"));
}

TEST_F(NetworkCli, ANetworkThatIsNotThereComesWithANameThatIs) {
  api.on("GET /v1/networks/trian/report",
         R"({"code":"not_found","message":"network trian does not exist",)"
         R"("object":"network/trian"})",
         404);
  api.on("GET /v1/networks", R"([{"id":"network-1","meta":{"name":"train"}}])");
  const Ran ran = run({"network", "show", "trian"});
  EXPECT_EQ(ran.code, 3);
  EXPECT_TRUE(has(ran.err, "did you mean train? see `tundish network list`")) << ran.err;
}

TEST_F(NetworkCli, DoctorSaysWhoseTokenItIs) {
  api.on("GET /healthz", "ok");
  api.on("GET /v1/status", R"({"version":"1","tenant":"acme","role":"member"})");
  EXPECT_TRUE(has(run({"doctor"}).out, "token      works, role member of tenant acme\n"));
  EXPECT_TRUE(has(run({"authority", "set", "--help"}).out, "engine_config"));
  EXPECT_TRUE(has(run({"authority", "set", "--help"}).out, "fabric:F"));
}

}  // namespace
}  // namespace tundish::edge::cli
