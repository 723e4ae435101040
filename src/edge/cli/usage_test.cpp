// What a newcomer types, and what is said about it.
#include "edge/cli/cli_fixture_test.hpp"

namespace tundish::edge::cli {
namespace {

using Args = std::vector<std::string>;

TEST_F(CliTest, AnUnknownWordIsAnsweredWithTheOneThatWasMeant) {
  const std::vector<std::pair<Args, std::string>> cases = {
      {{"nodde", "list"},
       "tundish: no command is called \"nodde\"\n  remedy: did you mean node? see `tundish "
       "--help`"},
      {{"node", "lst"},
       "tundish: node: no command is called \"lst\"\n"
       "  remedy: did you mean list? see `tundish node --help`"},
      {{"-o", "json", "cluster", "creat", "c"},
       "tundish: cluster: no command is called \"creat\"\n"
       "  remedy: did you mean create? see `tundish cluster --help`"},
      {{"drain", "gpu1"},
       "tundish: no command is called \"drain\"\n"
       "  remedy: did you mean `tundish node drain`? see `tundish --help`"},
      {{"node", "list", "--outptu", "json"},
       "tundish: node list: no flag is called --outptu\n"
       "  remedy: did you mean --output? see `tundish node list --help`"},
      {{"node", "show"}, "remedy: see `tundish node show --help`"},
      {{"site"}, "tundish: site: a command must follow: list, show\n"},
      {{"xylophone"}, "remedy: see `tundish --help`"}};
  for (const auto& [args, expected] : cases) {
    const Ran ran = run(args);
    EXPECT_EQ(ran.code, 2) << expected;
    EXPECT_TRUE(has(ran.err, expected)) << ran.err;
  }
}

TEST_F(CliTest, ValuesOfFlagsAreNoCommands) {
  const Ran ran = run({"--reason", "list", "node", "shw", "list"});
  EXPECT_TRUE(has(ran.err, "node: no command is called \"shw\"")) << ran.err;
  EXPECT_TRUE(has(run({"--reason=x", "nod"}).err, "\"nod\"")) << ran.err;
  EXPECT_TRUE(has(run({"-ojson", "nod"}).err, "\"nod\"")) << ran.err;
}

TEST_F(CliTest, AnObjectThatDoesNotExistIsAnsweredWithTheNearestName) {
  const std::string missing = R"({"code":"not_found","message":"node gup1 does not exist",)"
                              R"("object":"node/gup1"})";
  api.on("GET /v1/nodes/gup1", missing, 404);
  api.on("GET /v1/nodes", R"([{"id":"node-1","meta":{"name":"gpu1"}},{"id":"node-2","meta":{}}])");
  const Ran ran = run({"node", "show", "gup1"});
  EXPECT_EQ(ran.code, 3);
  EXPECT_EQ(ran.err,
            "tundish: node gup1 does not exist\n"
            "  remedy: did you mean gpu1? see `tundish node list`\n");
  api.on("GET /v1/nodes", R"({"code":"denied","message":"no"})", 403);
  EXPECT_TRUE(has(run({"node", "show", "gup1"}).err, "remedy: see `tundish node list`\n"));
}

TEST_F(CliTest, TheVersionIsTold) {
  const Ran ran = run({"--version"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.out, std::string("tundish ") + TUNDISH_VERSION + "\n");
  EXPECT_EQ(ran.err, "");
}

TEST_F(CliTest, AFaultWithoutAKindListsTheKinds) {
  api.on("GET /v1/faults", R"([{"name":"xid","doc":"d"},{"name":"off_bus","doc":"d"}])");
  const Ran ran = run({"fault", "inject", "--node", "gpu1"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_TRUE(has(ran.err, "say what to inject")) << ran.err;
  EXPECT_TRUE(has(ran.err, "kinds: xid, off_bus\n")) << ran.err;
  EXPECT_TRUE(has(ran.err, "see `tundish fault kinds`")) << ran.err;
  EXPECT_TRUE(api.asked("POST /v1/faults").empty());
  api.on("POST /v1/faults", R"({"node":"gpu1","line":"l"})");
  EXPECT_EQ(run({"fault", "inject", "--node", "gpu1", "--kind", "off_bus"}).code, 0);
  EXPECT_EQ(run({"fault", "inject", "--node", "gpu1", "--xid", "79"}).code, 0);
}

TEST_F(CliTest, EveryFileThatIsNoSheetIsNamedAndNothingIsSent) {
  const std::string good = home.write("good.csv", "name\n");
  const std::string binary = home.write("site.csv", std::string("a\0b", 3));
  const std::string book = home.write("site.xlsx", "PK\x03\x04rest");
  const Ran ran = run({"inventory", "import", good, home / "", binary, book, home / "none.csv"});
  EXPECT_EQ(ran.code, 3);
  for (const std::string part :
       {": is a folder\n", "site.csv: is no text", "site.xlsx: is a workbook",
        "none.csv: no such file", "nothing was sent and nothing was changed"}) {
    EXPECT_TRUE(has(ran.err, part)) << part << "\n" << ran.err;
  }
  EXPECT_FALSE(has(ran.err, "good.csv")) << ran.err;
  EXPECT_TRUE(api.asked("POST /v1/inventory/import").empty());
  EXPECT_EQ(run({"inventory", "diff", home / "none.csv"}).code, 3);
}

TEST_F(CliTest, AMissingRowSaysWhatFollowsFromIt) {
  api.on("POST /v1/inventory/import",
         R"({"problems":[],"changes":[{"kind":"node","name":"a","verb":"missing",)"
         R"("details":"no row for the device"},{"kind":"cable","name":"c","verb":"missing",)"
         R"("details":""}],"applied":true})");
  const Ran ran = run({"inventory", "import", home.write("nodes.csv", "name\n")});
  EXPECT_EQ(ran.code, 0);
  EXPECT_TRUE(has(ran.out,
                  "row absent from the sheet: condition set, nothing retired (no row for the "
                  "device)\n"))
      << ran.out;
  EXPECT_TRUE(has(ran.out, "row absent from the sheet: kept as it is, nothing removed\n"))
      << ran.out;
}

TEST_F(CliTest, AHoldThatRanOutIsNotInForce) {
  api.on("GET /healthz", "ok");
  api.on(
      "GET /v1/holds",
      R"([{"id":"hold-1","scope":"*","reason":"old","until":"2020-01-01T00:00:00.000000Z"},)"
      R"({"id":"hold-2","scope":"rack:r1","reason":"new","until":"2999-01-01T00:00:00.000000Z"},)"
      R"({"id":"hold-3","scope":"rack:r2","reason":"open"}])");
  const std::string out = run({"hold", "list"}).out;
  EXPECT_TRUE(has(out, "hold-1   *         expired    2020")) << out;
  EXPECT_TRUE(has(out, "hold-2   rack:r1   in force   2999")) << out;
  EXPECT_TRUE(has(out, "hold-3   rack:r2   in force   released")) << out;
}

TEST_F(CliTest, ALabIsChosenWithItsApiAndToken) {
  variables.erase("TUNDISH_API");
  variables.erase("TUNDISH_TOKEN");
  const auto use = [&](const std::string& lab) {
    std::ostringstream out, err;
    std::istringstream in;
    Context context({out, err, in, Presence::script}, variables);
    context.find_lab = [](const std::string& name) -> Result<ContextFile> {
      if (name == "two") return ContextFile{"unix:/two.sock", "/two.token", "", "two"};
      return make_error(Code::not_found, "no lab at /labs/" + name).with_remedy("labs: two");
    };
    Ran ran;
    ran.code = run_program({"context", "use", "--lab", lab}, context);
    ran.out = out.str();
    ran.err = err.str();
    return ran;
  };
  const Ran used = use("two");
  EXPECT_EQ(used.code, 0) << used.err;
  EXPECT_TRUE(has(used.out, "unix:/two.sock")) << used.out;
  EXPECT_TRUE(has(used.out, "/two.token")) << used.out;
  const Ran unknown = use("tow");
  EXPECT_EQ(unknown.code, 3);
  EXPECT_TRUE(has(unknown.err, "remedy: labs: two")) << unknown.err;
  EXPECT_TRUE(has(run({"context", "show"}).out, "/two.token"));
}

TEST_F(CliTest, ADryRunIsAskedOfTheApi) {
  const auto taken = [](const net::ServerRequest& request) {
    const auto dry = request.query.find("dry_run");
    const bool is_dry = dry != request.query.end() && dry->second == "true";
    return HttpResponse{is_dry ? 200 : 500, {{"x-dry-run", "true"}}, "{}"};
  };
  const std::string cluster = R"({"id":"cluster-9","spec":{"nodes":2},"meta":{"name":"c"}})";
  api.on("GET /v1/clusters/c", cluster);
  const std::string key = home.write("key.pub", "ssh-ed25519 AAAA ann\n");
  const std::map<std::string, Args> calls = {
      {"POST /v1/tenants", {"tenant", "create", "t", "--gpus", "8"}},
      {"DELETE /v1/tenants/t", {"tenant", "delete", "t"}},
      {"PUT /v1/tenants/t/quota", {"quota", "create", "t", "--gpus", "8"}},
      {"POST /v1/users", {"user", "create", "ann", "--tenant", "t", "--ssh-key", key}},
      {"POST /v1/clusters", {"cluster", "create", "c", "--nodes", "4", "--wait"}},
      {"POST /v1/clusters/c/scale", {"cluster", "scale", "c", "--nodes", "1"}},
      {"DELETE /v1/clusters/c", {"cluster", "delete", "c", "--wait"}},
      {"POST /v1/nodes/n/drain", {"node", "drain", "n"}},
      {"POST /v1/nodes/n/return", {"node", "return", "n"}},
      {"POST /v1/nodes/n/retire", {"node", "retire", "n"}},
      {"POST /v1/holds", {"hold", "set", "--reason", "r"}},
      {"POST /v1/claims/c/release", {"claim", "release", "c"}},
      {"POST /v1/faults", {"fault", "inject", "--node", "n", "--xid", "79", "--wait"}}};
  for (const auto& [call, args] : calls) {
    api.on(call, taken);
    Args dry = args;
    dry.push_back("--dry-run");
    const Ran ran = run(dry);
    EXPECT_EQ(ran.code, 0) << call << ran.err;
    EXPECT_TRUE(has(ran.err, "dry run: would " + call)) << ran.err;
    EXPECT_TRUE(has(ran.err, "the API checked it and would do it; nothing was changed")) << ran.err;
    EXPECT_EQ(ran.out, "");
    EXPECT_EQ(api.asked(call).size(), 1U) << call;
    api.on(call, R"({"code":"exhausted","message":"quota","object":"tenant/t","remedy":"less"})",
           409);
    const Ran refused = run(dry);
    EXPECT_EQ(refused.code, 3) << call;
    EXPECT_TRUE(has(refused.err, "quota\n  remedy: less\n")) << refused.err;
  }
}

TEST_F(CliTest, AnApiThatKnowsNoDryRunIsFoundOut) {
  api.on("POST /v1/tenants", R"({"id":"tenant-1"})");
  const Ran ran = run({"tenant", "create", "t", "--gpus", "8", "--dry-run"});
  EXPECT_EQ(ran.code, 3);
  EXPECT_TRUE(has(ran.err, "knows no dry run and has DONE POST /v1/tenants")) << ran.err;
}

}  // namespace
}  // namespace tundish::edge::cli
