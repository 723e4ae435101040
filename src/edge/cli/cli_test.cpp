#include <pthread.h>

#include <csignal>

#include "base/text.hpp"
#include "edge/cli/cli_fixture_test.hpp"
#include "edge/cli/event_lines.hpp"
#include "edge/cli/run_ssh.hpp"

namespace tundish::edge::cli {
namespace {

const char* const pending =
    R"({"id":"cluster-9","spec":{"nodes":2},"status":{"phase":"joining","reason":)"
    R"("waits for gpu01"},)"
    R"("meta":{"name":"train"}})";
const char* const active = R"({"id":"cluster-9","spec":{"nodes":1},"status":{"phase":"active",)"
                           R"("allocation":"allocation-3",)"
                           R"("login_address":"172.16.0.5"},"meta":{"name":"train"}})";
const char* const allocation =
    R"({"id":"allocation-3","cluster":"cluster-9","spec":{"nodes":1},"status":{"phase":"active",)"
    R"("nodes":[{"node":"node-1","role":"member","joined":true}]},"meta":{}})";
const char* const sites =
    R"([{"id":"site-1","meta":{"name":"north","created_at":"2026-01-31T23:30:00.000000Z"}}])";

TEST_F(CliTest, EachErrorCodeHasItsExitCode) {
  const std::map<std::string, std::pair<int, int>> codes = {
      {"invalid", {422, 3}}, {"not_found", {404, 3}},   {"conflict", {409, 3}},
      {"denied", {403, 3}},  {"exhausted", {409, 3}},   {"unavailable", {503, 4}},
      {"timeout", {504, 4}}, {"unsupported", {501, 3}}, {"corrupt", {500, 1}},
      {"internal", {500, 1}}};
  for (const auto& [code, expected] : codes) {
    api.on("GET /v1/nodes/gpu01",
           R"({"code":")" + code + R"(","message":"it failed","object":"node/gpu01",)" +
               R"("remedy":"look again"})",
           expected.first);
    const Ran ran = run({"node", "show", "gpu01"});
    EXPECT_EQ(ran.code, expected.second) << code;
    EXPECT_EQ(ran.err, "tundish: node/gpu01: it failed\n  remedy: look again\n");
    EXPECT_EQ(ran.out, "");
  }
}

TEST_F(CliTest, AnAnswerThatIsNoErrorBodyIsNamedByItsStatus) {
  api.on("GET /v1/status", "<html>bad gateway</html>", 502);
  const Ran ran = run({"status"});
  EXPECT_EQ(ran.code, 4);
  EXPECT_EQ(ran.err, "tundish: the API answered 502\n");
}

TEST_F(CliTest, AnApiThatDoesNotAnswerIsUnknownEverywhere) {
  const std::string sheet = home.write("nodes.csv", "name\n");
  const std::vector<std::vector<std::string>> calls = {
      {"status"},
      {"capacity"},
      {"doctor"},
      {"node", "list"},
      {"node", "show", "a"},
      {"node", "explain", "a"},
      {"node", "drain", "a", "--wait"},
      {"node", "drain", "a", "--dry-run"},
      {"tenant", "create", "t", "--gpus", "8"},
      {"tenant", "delete", "t", "--yes"},
      {"cluster", "create", "c", "--nodes", "1", "--wait"},
      {"cluster", "exec", "c", "--user", "ann", "--", "true"},
      {"hold", "release"},
      {"fault", "inject", "--node", "a", "--xid", "79"},
      {"inventory", "import", sheet},
      {"inventory", "diff", sheet},
      {"inventory", "export"},
      {"incident", "watch"},
      {"history", "verify"}};
  variables["TUNDISH_API"] = "unix:" + (home / "nobody.sock");
  for (const auto& args : calls) {
    const Ran ran = run(args);
    EXPECT_EQ(ran.code, 4) << join(args, " ") << ran.err;
    EXPECT_TRUE(has(ran.err + ran.out, "nobody.sock")) << join(args, " ") << ran.err;
    EXPECT_TRUE(has(ran.err + ran.out, "remedy: ")) << join(args, " ") << ran.err;
  }
  variables["TUNDISH_API"] = "http://127.0.0.1:9";
  EXPECT_EQ(run({"status"}).code, 4);
  variables.erase("TUNDISH_API");
  const Ran none = run({"status"});
  EXPECT_EQ(none.code, 4);
  EXPECT_TRUE(has(none.err, "no API address is known"));
}

TEST_F(CliTest, ATableShowsLocalTimesAndJsonUtc) {
  api.on("GET /v1/sites", sites);
  EXPECT_EQ(run({"site", "list"}).out,
            "NAME    SINCE\n"
            "north   2026-02-01 01:30:00\n");
  EXPECT_EQ(run({"site", "list", "-o", "json"}).out,
            "[\n  {\n    \"id\": \"site-1\",\n    \"meta\": {\n      \"name\": \"north\",\n"
            "      \"created_at\": \"2026-01-31T23:30:00.000000Z\"\n    }\n  }\n]\n");
  const std::string yaml = run({"site", "list", "-o", "yaml"}).out;
  EXPECT_EQ(yaml.substr(0, 13), "- id: site-1\n") << yaml;
}

TEST_F(CliTest, EmptyListsAreStillArrays) {
  api.on("GET /v1/sites", "[]");
  EXPECT_EQ(run({"site", "list", "-o", "json"}).out, "[]\n");
  EXPECT_EQ(run({"site", "list", "-o", "yaml"}).out, "[]\n");
  EXPECT_EQ(run({"site", "list"}).out, "NAME   SINCE\n");
}

TEST_F(CliTest, JsonKeepsFieldsOfANewerApi) {
  api.on("GET /v1/sites/north", R"({"id":"site-1","colour":"blue","meta":{"name":"north"}})");
  EXPECT_TRUE(has(run({"site", "show", "north", "-o", "json"}).out, "\"colour\": \"blue\""));
  EXPECT_EQ(run({"site", "show", "north"}).code, 0);
}

TEST_F(CliTest, EveryPageOfAListIsRead) {
  api.on("GET /v1/sites", [](const net::ServerRequest& request) {
    const auto page = request.query.find("page");
    if (page == request.query.end()) {
      return HttpResponse{200, {{"x-next-page", "site-1"}}, R"([{"id":"site-1"}])"};
    }
    return HttpResponse{200, {}, page->second == "site-1" ? R"([{"id":"site-2"}])" : "[]"};
  });
  EXPECT_EQ(run({"site", "list"}).out, "NAME     SINCE\nsite-1   -\nsite-2   -\n");
}

TEST_F(CliTest, GlobalFlagsStandAnywhere) {
  api.on("GET /v1/sites", sites);
  const std::string expected = run({"site", "list", "-o", "json"}).out;
  EXPECT_TRUE(has(expected, "north"));
  EXPECT_EQ(run({"-o", "json", "site", "list"}).out, expected);
  EXPECT_EQ(run({"site", "-o", "json", "list"}).out, expected);
  EXPECT_EQ(run({"site", "list", "--output=json", "--api", api.url()}).out, expected);
}

TEST_F(CliTest, ValuesMayBeNamedLikeCommands) {
  api.on("GET /v1/nodes/status", R"({"id":"node-1","meta":{"name":"status"}})");
  EXPECT_EQ(run({"node", "show", "status"}).code, 0);
  EXPECT_EQ(api.asked("GET /v1/nodes/status").size(), 1U);
}

TEST_F(CliTest, BadFlagsAreRefusedBeforeAnythingIsAsked) {
  for (const std::vector<std::string>& args : std::vector<std::vector<std::string>>{
           {},
           {"nonsense"},
           {"node"},
           {"node", "fly"},
           {"node", "show"},
           {"node", "list", "--colour"},
           {"node", "list", "-o", "xml"},
           {"node", "show", "a", "b"},
           {"node", "list", "--", "x"},
           {"cluster", "create", "c", "--nodes", "many"},
           {"cluster", "create", "c", "--nodes", "2", "--requeue", "maybe"},
           {"cluster", "create", "c", "--nodes", "2", "--timeout", "soon"},
           {"claim", "release", "c", "--force"},
           {"hold", "set"}}) {
    const Ran ran = run(args);
    EXPECT_EQ(ran.code, 2) << join(args, " ");
    EXPECT_EQ(ran.err.substr(0, 8), "tundish:") << join(args, " ");
  }
  EXPECT_TRUE(api.asked("GET /v1/nodes").empty());
}

TEST_F(CliTest, HelpIsAnAnswer) {
  const Ran ran = run({"cluster", "create", "--help"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_TRUE(has(ran.out, "--spares")) << ran.out;
  EXPECT_EQ(ran.err, "");
}

TEST_F(CliTest, AWriteCarriesTokenReasonAndKey) {
  api.on("POST /v1/clusters", pending);
  EXPECT_EQ(run({"cluster", "create", "train", "--tenant", "acme", "--nodes", "4", "--spares", "1",
                 "--no-login", "--reason", "for\nus"})
                .code,
            0);
  const auto asked = api.asked("POST /v1/clusters");
  ASSERT_EQ(asked.size(), 1U);
  EXPECT_EQ(asked[0].headers.at("authorization"), "Bearer secret-1");
  EXPECT_EQ(asked[0].headers.at("x-reason"), "for us");
  EXPECT_EQ(asked[0].headers.at("idempotency-key").size(), 32U);
  EXPECT_EQ(
      asked[0].body,
      R"({"name":"train","tenant":"acme","engine":"slurm","sku":"","nodes":4,"spares":1,)"
      R"("requeue":"auto","replace":"auto","login":false,"prefix":"","firewall":[],"access":[],)"
      R"("allow_checks":false})");
}

TEST_F(CliTest, PrefixAndFirewallGoWithTheOrderAsTheyStand) {
  api.on("POST /v1/clusters", pending);
  ASSERT_EQ(run({"cluster", "create", "train", "--nodes", "1", "--prefix", "10.70.0.0/24",
                 "--firewall", "permit tcp/443@203.0.113.0/24", "--firewall", "deny ip@0.0.0.0/0",
                 "--allow-in", "tcp/22@192.0.2.0/24"})
                .code,
            0);
  EXPECT_TRUE(has(api.asked("POST /v1/clusters").at(0).body,
                  R"("prefix":"10.70.0.0/24","firewall":["permit tcp/443@203.0.113.0/24",)"
                  R"("deny ip@0.0.0.0/0"],"access":["tcp/22@192.0.2.0/24"])"));
}

TEST_F(CliTest, ASecretsValueIsNeverShown) {
  api.on("POST /v1/secrets", [](const net::ServerRequest& request) {
    return HttpResponse{
        request.query.contains("dry_run") ? 201 : 500, {{"x-dry-run", "true"}}, "{}"};
  });
  const Ran dry =
      run({"secret", "create", "bmc", "--purpose", "bmc_password", "--dry-run"}, "hunter2\n");
  EXPECT_EQ(dry.code, 0);
  EXPECT_FALSE(has(dry.out + dry.err, "hunter2"));
  api.on("POST /v1/secrets", R"({"id":"secret-1","purpose":"bmc_password","meta":{"name":"bmc"}})");
  EXPECT_EQ(run({"secret", "create", "bmc", "--purpose", "bmc_password"}, "hunter2\n").out,
            "secret bmc stored for bmc_password\n");
  EXPECT_TRUE(has(api.asked("POST /v1/secrets").at(1).body, R"("value":"hunter2")"));
  EXPECT_EQ(run({"secret", "create", "bmc", "--purpose", "x"}, "").code, 3);
}

/// By id: another tenant may have a cluster of the name, which would be asked about then.
TEST_F(CliTest, WaitEndsWhenTheClusterIsWhole) {
  api.on("POST /v1/clusters", pending);
  auto looks = std::make_shared<int>(0);
  api.on("GET /v1/clusters/cluster-9", [looks](const net::ServerRequest&) {
    return HttpResponse{200, {}, (*looks)++ == 0 ? pending : active};
  });
  api.on("GET /v1/allocations/allocation-3", allocation);
  const Ran ran = run({"cluster", "create", "train", "--nodes", "1", "--wait"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(has(ran.err, "cluster train joining: waits for gpu01")) << ran.err;
  EXPECT_EQ(ran.out, "cluster train active\nlog in: tundish cluster exec train --user USER\n");
  EXPECT_TRUE(api.asked("GET /v1/clusters/train").empty());
}

/// A node that was taken from a cluster is in its network until it was seen gone.
TEST_F(CliTest, WaitHoldsUntilThoseThatLeaveAreGone) {
  api.on("GET /v1/clusters/train", active);
  api.on("POST /v1/clusters/train/scale", active);
  api.on("GET /v1/clusters/cluster-9", active);
  const auto with = [](const std::string& other) {
    return R"({"id":"allocation-3","cluster":"cluster-9","spec":{"nodes":1},"status":{"phase":)"
           R"("active","nodes":[{"node":"node-1","role":"member","joined":true})" +
           other + R"(]},"meta":{}})";
  };
  const std::string leaves = with(R"(,{"node":"node-2","role":"leaving"})");
  // Out for a fault: it goes when its jobs let it, and nobody ordered that.
  const std::string broken =
      with(R"(,{"node":"node-2","role":"leaving","cause":"incident-1"})");
  auto looks = std::make_shared<int>(0);
  api.on("GET /v1/allocations/allocation-3", [=](const net::ServerRequest&) {
    return HttpResponse{200, {}, (*looks)++ < 2 ? leaves : broken};
  });
  const Ran ran = run({"cluster", "scale", "train", "--nodes", "1", "--yes", "--wait"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(*looks, 3);
  EXPECT_TRUE(has(ran.err, "cluster train: 1 node still leaving")) << ran.err;
}

TEST_F(CliTest, AWaitThatExpiresIsUnknown) {
  api.on("POST /v1/clusters", pending);
  api.on("GET /v1/clusters/cluster-9", pending);
  const Ran ran = run({"cluster", "create", "train", "--nodes", "2", "--wait", "--timeout", "1s"});
  EXPECT_EQ(ran.code, 4);
  EXPECT_EQ(ran.out, "");
  EXPECT_TRUE(has(ran.err, "cluster train: not there after 1.00 s")) << ran.err;
}

TEST_F(CliTest, CtrlCLeavesTheOrderInPlace) {
  api.on("POST /v1/clusters", pending);
  const pthread_t waiter = pthread_self();
  api.on("GET /v1/clusters/cluster-9", [waiter](const net::ServerRequest&) {
    pthread_kill(waiter, SIGINT);
    return HttpResponse{200, {}, pending};
  });
  const Ran ran = run({"cluster", "create", "train", "--nodes", "2", "--wait"});
  EXPECT_EQ(ran.code, 130);
  EXPECT_TRUE(has(ran.err, "the order stays in place")) << ran.err;
  EXPECT_TRUE(api.asked("DELETE /v1/clusters/train").empty());
}

TEST_F(CliTest, DeletionAsks) {
  api.on("GET /v1/clusters/train", active);
  api.on("DELETE /v1/clusters/train", active);
  const std::vector<std::string> args = {"cluster", "delete", "train"};
  const Ran script = run(args);
  EXPECT_EQ(script.code, 130);
  EXPECT_TRUE(has(script.err, "1 node and 0 spares are given back")) << script.err;
  EXPECT_TRUE(has(script.err, "remedy: add --yes")) << script.err;
  EXPECT_EQ(run(args, "n\n", Presence::person).code, 130);
  EXPECT_EQ(run(args, "", Presence::person).code, 130);
  EXPECT_TRUE(api.asked("DELETE /v1/clusters/train").empty());
  EXPECT_EQ(run(args, "y\n", Presence::person).code, 0);
  EXPECT_EQ(run({"cluster", "delete", "train", "--yes"}).out, "cluster train is being deleted\n");
  EXPECT_EQ(api.asked("DELETE /v1/clusters/train").size(), 2U);
}

TEST_F(CliTest, ImportShowsEveryProblem) {
  const std::string file = home.write("nodes.csv", "name\n");
  api.on("POST /v1/inventory/import",
         R"({"problems":[{"file":"nodes.csv","row":3,"column":"mac","value":"zz","what":"no MAC",)"
         R"("remedy":"write 12 digits"},{"file":"nodes.csv","row":5,"column":"","value":"",)"
         R"("what":"too short","remedy":""}],"changes":[],"lines":[],"applied":false})",
         422);
  const Ran ran = run({"inventory", "import", file});
  EXPECT_EQ(ran.code, 3);
  EXPECT_EQ(ran.out,
            "PLACE         COLUMN   VALUE   WHAT        REMEDY\n"
            "nodes.csv:3   mac      zz      no MAC      write 12 digits\n"
            "nodes.csv:5   -        -       too short   -\n");
  EXPECT_TRUE(has(ran.err, "2 problems in the files; nothing was changed")) << ran.err;
  EXPECT_TRUE(has(api.asked("POST /v1/inventory/import").at(0).body,
                  R"("name":"nodes.csv","content":"name\n")"));
}

TEST_F(CliTest, ADryImportOnlyPlans) {
  const std::string file = home.write("nodes.csv", "name\n");
  api.on("POST /v1/inventory/import",
         R"({"problems":[],"changes":[{"kind":"node","name":"a","verb":"create","details":""},)"
         R"({"kind":"node","name":"b","verb":"unchanged","details":""}],"applied":false})");
  const Ran ran = run({"inventory", "import", file, "--dry-run"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.out, "DO       KIND   NAME   DETAILS\ncreate   node   a      -\n");
  EXPECT_EQ(ran.err, "1 create, 1 unchanged; nothing was changed\n");
  EXPECT_TRUE(has(api.asked("POST /v1/inventory/import").at(0).body, R"("dry_run":true)"));
}

TEST_F(CliTest, NodesAreListedWithClaimsAndClusters) {
  api.on("GET /v1/nodes",
         R"([{"id":"node-1","spec":{"role":"gpu","rack":"r01"},"status":{"phase":"assigned",)"
         R"("allocation":"allocation-3","enrolled":true,"boot_id":"b"},"meta":{"name":"gpu01"}},)"
         R"({"id":"node-2","spec":{"role":"service"},"meta":{"name":"svc01"}}])");
  api.on("GET /v1/claims",
         R"([{"id":"claim-1","node":"node-1","holder":"incident","state":"active"},)"
         R"({"id":"claim-2","node":"node-2","holder":"incident","state":"released"}])");
  api.on("GET /v1/clusters", "[" + std::string(active) + "]");
  api.on("GET /v1/allocations", "[" + std::string(allocation) + "]");
  EXPECT_EQ(run({"node", "list"}).out,
            "NAME    ROLE      RACK   PHASE      CLAIMS     ALLOCATION   HEARD\n"
            "gpu01   gpu       r01    assigned   incident   train        yes\n"
            "svc01   service   -      expected   -          -            never\n");
}

TEST_F(CliTest, ASilentNodeSaysForHowLong) {
  api.on(
      "GET /v1/nodes",
      R"([{"id":"node-1","spec":{"role":"gpu"},"status":{"enrolled":true,"conditions":[)"
      R"({"type":"agent_silent","state":"yes","reason":"silent 34 s"}]},"meta":{"name":"g1"}},)"
      R"({"id":"node-2","status":{"enrolled":true,"conditions":[)"
      R"({"type":"agent_silent","state":"no","reason":"heard 1 s ago"}]},"meta":{"name":"g2"}}])");
  const std::string out = run({"node", "list"}).out;
  EXPECT_TRUE(has(out, "silent 34 s\n")) << out;
  EXPECT_TRUE(has(out, "yes\n")) << out;
}

TEST_F(CliTest, ATenantsDoctorSpeaksOfTheTenantOnly) {
  api.on("GET /healthz", "ok");
  api.on("GET /v1/tokens", "[]");
  api.on("GET /v1/status",
         R"({"version":"1","tenant":"acme","nodes":2,"agents_heard":2,"clusters":2,)"
         R"("clusters_active":1})");
  const Ran ran = run({"doctor"});
  EXPECT_TRUE(has(ran.out, "warn     clusters   1 of 2 clusters whole\n")) << ran.out;
  for (const char* line : {" holds ", " proposals ", " history "}) {
    EXPECT_FALSE(has(ran.out, line)) << ran.out;
  }
}

TEST_F(CliTest, HistoryThatDoesNotFitIsAFailure) {
  api.on("GET /v1/history/verify", R"({"intact":false,"entries":7,"fault":"entry 8 was changed"})");
  const Ran ran = run({"history", "verify"});
  EXPECT_EQ(ran.code, 3);
  EXPECT_EQ(ran.out, "history BROKEN after 7 entries: entry 8 was changed\n");
}

TEST_F(CliTest, DoctorTellsUnknownFromFailed) {
  api.on("GET /healthz", "ok");
  api.on("GET /v1/status", R"({"version":"1","nodes":2,"agents_heard":1,"holds":["* by me"]})");
  api.on("GET /v1/tokens", "[]");
  api.on("GET /v1/history/verify", R"({"code":"denied","message":"not yours"})", 403);
  const Ran unknown = run({"doctor"});
  EXPECT_EQ(unknown.code, 4) << unknown.out;
  EXPECT_TRUE(has(unknown.out, "warn     agents     1 of 2 nodes heard\n")) << unknown.out;
  EXPECT_TRUE(has(unknown.out, "warn     holds      * by me\n")) << unknown.out;
  EXPECT_TRUE(has(unknown.out, "unknown  history    not yours\n")) << unknown.out;
  api.on("GET /v1/history/verify", R"({"intact":false,"entries":7,"fault":"entry 8 changed"})");
  EXPECT_EQ(run({"doctor"}).code, 3);
}

TEST_F(CliTest, AContextIsUsedUntilAFlagSaysOtherwise) {
  api.on("GET /v1/sites", sites);
  variables.erase("TUNDISH_API");
  variables.erase("TUNDISH_TOKEN");
  const std::string token = home.write("token", "from-file\n");
  EXPECT_EQ(run({"context", "use", "--api", api.url(), "--token-file", token}).code, 0);
  EXPECT_EQ(run({"site", "list"}).code, 0);
  EXPECT_EQ(run({"site", "list", "--token", "from-flag"}).code, 0);
  const auto asked = api.asked("GET /v1/sites");
  ASSERT_EQ(asked.size(), 2U);
  EXPECT_EQ(asked[0].headers.at("authorization"), "Bearer from-file");
  EXPECT_EQ(asked[1].headers.at("authorization"), "Bearer from-flag");
}

TEST_F(CliTest, CompletionKnowsEveryNounAndVerb) {
  const std::map<std::string, std::vector<std::string>> verbs = {
      {"inventory", {"import", "export", "diff"}},
      {"node", {"list", "show", "explain", "drain", "return", "replace", "confirm", "retire"}},
      {"rack", {"list", "show"}},
      {"site", {"list", "show"}},
      {"switch", {"list", "show"}},
      {"fabric", {"list", "show"}},
      {"sku", {"list", "show"}},
      {"cable", {"list", "show"}},
      {"tenant", {"create", "list", "show", "delete"}},
      {"user", {"create", "list", "show", "delete"}},
      {"token", {"create", "list", "show", "delete"}},
      {"quota", {"create", "list", "show"}},
      {"secret", {"create", "list", "show", "delete"}},
      {"cluster", {"create", "list", "show", "scale", "exec", "delete"}},
      {"allocation", {"list", "show"}},
      {"fault", {"kinds", "inject"}},
      {"incident", {"list", "show", "watch", "ack", "note", "hold", "resume", "close"}},
      {"claim", {"list", "show", "release"}},
      {"proposal", {"list", "show", "approve", "deny"}},
      {"hold", {"set", "release", "list"}},
      {"authority", {"set", "list"}},
      {"history", {"list", "export", "verify"}},
      {"context", {"show", "use"}},
      {"completion", {"bash", "zsh", "fish"}}};
  const std::string bash = run({"completion", "bash"}).out;
  const std::string zsh = run({"completion", "zsh"}).out;
  const std::string fish = run({"completion", "fish"}).out;
  for (const auto& [noun, known] : verbs) {
    for (const auto& verb : known) {
      const std::string arm = "    '" + noun + " " + verb + "') words=";
      EXPECT_TRUE(has(bash, arm)) << arm;
      EXPECT_TRUE(has(zsh, arm)) << arm;
      EXPECT_TRUE(has(fish, "__tundish_path '" + noun + "'\" -a " + verb + " ")) << noun << verb;
    }
  }
  for (const std::string verb : {"status", "capacity", "doctor"}) {
    EXPECT_TRUE(has(bash, "    '" + verb + "') words=")) << verb;
  }
}

TEST_F(CliTest, BashCompletesCommandsFlagsAndValues) {
  const std::string script = home.write("completion.bash", run({"completion", "bash"}).out);
  const auto complete = [&](const std::string& words, int at) {
    const std::string line = "bash -c 'source " + script + "; COMP_WORDS=(" + words +
                             "); COMP_CWORD=" + std::to_string(at) +
                             "; _tundish; echo ${COMPREPLY[@]}'";
    FILE* pipe = popen(line.c_str(), "r");
    std::string out;
    for (int c; (c = fgetc(pipe)) != EOF;) out += static_cast<char>(c);
    EXPECT_EQ(pclose(pipe), 0);
    return out;
  };
  EXPECT_EQ(complete("tundish inc", 1), "incident\n");
  EXPECT_EQ(complete("tundish node dr", 2), "drain\n");
  EXPECT_EQ(complete("tundish -o json cluster create x --sp", 6), "--spares\n");
  EXPECT_EQ(complete("tundish cluster create x --requeue \"\"", 5), "auto ask never\n");
  EXPECT_EQ(complete("tundish node list -o y", 4), "yaml\n");
  EXPECT_EQ(complete("tundish --vers", 1), "--version\n");
}

TEST(EventLines, PiecesMayBeCutAnywhere) {
  const std::string stream = ": hi\n\nid: 1\ndata: {\"a\":1}\r\n\r\ndata: x\ndata:y\n\ndata: cut";
  for (std::size_t size = 1; size <= stream.size(); ++size) {
    EventLines lines;
    std::vector<std::string> all;
    for (std::size_t at = 0; at < stream.size(); at += size) {
      for (auto& data : lines.take(stream.substr(at, size))) all.push_back(data);
    }
    EXPECT_EQ(all, (std::vector<std::string>{"{\"a\":1}", "x\ny"})) << size;
  }
}

TEST(ClusterExec, WordsArriveAsTheyWereGiven) {
  LoginCall call{
      "ann", "172.16.0.5", "/k", "tundish lab connect --lab lab %h %p", {"echo", "it's", "$HOME"}};
  const auto argv = ssh_argv(call);
  EXPECT_EQ(argv.back(), "'echo' 'it'\\''s' '$HOME'");
  EXPECT_TRUE(has(join(argv, " "), "ProxyCommand=tundish lab connect --lab lab %h %p"));
  EXPECT_TRUE(has(join(argv, " "), "-i /k"));
  EXPECT_TRUE(has(join(argv, " "), "-l ann 172.16.0.5 -- "));
  call.words = {"sinfo -N | wc -l"};
  EXPECT_EQ(ssh_argv(call).back(), "sinfo -N | wc -l");
}

TEST(Span, OnlyWholeUnits) {
  EXPECT_EQ(parse_span("90s").value(), seconds(90));
  EXPECT_EQ(parse_span("2h").value(), hours(2));
  EXPECT_EQ(parse_span("1d").value(), hours(24));
  for (const std::string bad : {"", "h", "5", "-1h", "1.5h", "1w", "99999999999s"}) {
    EXPECT_FALSE(parse_span(bad)) << bad;
  }
}

}  // namespace
}  // namespace tundish::edge::cli
