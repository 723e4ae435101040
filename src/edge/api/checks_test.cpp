#include <gmock/gmock.h>

#include "edge/api/api_fixture_test.hpp"

namespace tundish::edge {
namespace {

using testing::HasSubstr;

class ChecksApi : public ApiTest {
 protected:
  ChecksApi() {
    ApiParts parts = make_parts();
    CheckInfo info;
    info.name = "ecc";
    info.doc = "no error";
    parts.checks = {info};
    api_ = std::make_unique<Api>(std::move(parts));
  }
};

TEST_F(ChecksApi, lists_what_there_is) {
  const auto answer = call({"GET", "/v1/checks"});
  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(answer.body, HasSubstr("\"name\":\"ecc\""));
  EXPECT_EQ(call({"GET", "/v1/checks", "", "a-member"}).status, 403);
}

TEST_F(ChecksApi, bad_orders_are_refused_by_name) {
  const auto run = [&](const std::string& body, const std::string& token = "root") {
    return call({"POST", "/v1/checks/run", body, token});
  };
  EXPECT_EQ(run(R"({"node":"gpu1","checks":["eec"]})").status, 404);
  EXPECT_THAT(run(R"({"node":"gpu1","checks":["eec"]})").body, HasSubstr("tundish check list"));
  EXPECT_EQ(run(R"({"node":"gpu9"})").status, 404);
  EXPECT_EQ(run(R"({"node":"gpu1","colour":"red"})").status, 422);
  EXPECT_EQ(run(R"({"node":"gpu1"})", "a-admin").status, 403);
}

// The stand-in agents never answer; the hub's deadline, which ends the wait, is not part of this.
TEST_F(ChecksApi, nothing_is_said_before_the_agent_did) {
  const auto outlet = send({"POST", "/v1/checks/run", R"({"node":"gpu1","checks":["ecc"]})"});
  settle();
  EXPECT_FALSE(outlet->answer);
}

}  // namespace
}  // namespace tundish::edge
