// The UFM driver against a UFM that lies in every way that is known.
#include <gmock/gmock.h>

#include <algorithm>
#include <optional>

#include "../sims/ufm.hpp"
#include "families/fabrics/driver_ufm.hpp"
#include "runtime/net/net_fixture_test.hpp"

namespace tundish {
namespace {

using ::testing::HasSubstr;

const std::string a = "0x0000000000020001", b = "0x0000000000020011", c = "0x0000000000020021";

IbPartitionState partition(int number, std::vector<std::string> guids) {
  IbPartitionState out;
  out.name = "t000" + std::to_string(number);
  out.pkey = 0x100 + number;
  for (auto& guid : guids) out.members.push_back({std::move(guid), IbMembership::full});
  return out;
}

class UfmDriver : public ::testing::Test {
 protected:
  UfmDriver()
      : server_([this](const net::ServerRequest& request, const net::Reply& reply) {
          handle(request, reply);
        }) {
    server_.running().sync([this] {
      client_ = std::make_unique<net::HttpClient>(server_.running().loop, net::TlsTrust{});
      restart();
    });
    ref_ = {"ib1", server_.url("/ufmRest"), {}};
    ufm_.pkeys["0x7fff"].name = "management";
    ufm_.pkeys["0x5"].name = "store";
    ufm_.pkeys["0x5"].guids["00000000000200ff"] = {"full", false};
  }
  ~UfmDriver() override {
    server_.running().sync([this] {
      manager_.reset();
      client_.reset();
      lost_.clear();
    });
  }
  /// The driver forgets everything, as when tundishd starts anew.
  void restart() {
    manager_ = std::make_unique<families::UfmManager>(
        *client_, server_.running().loop, [](const std::string&) { return "Basic eDp5"; });
  }
  void handle(const net::ServerRequest& request, const net::Reply& reply) {
    if (request.headers.at("authorization") != "Basic eDp5") return reply.send(401, "{}");
    std::string query;
    for (const auto& [key, value] : request.query) query += key + "=" + value;
    auto answer = ufm_.answer(request.method, request.path.substr(8), query, request.body);
    if (answer.is_lost) return lost_.push_back(reply);
    reply.send(answer.response);
  }
  Result<> apply(const FabricState& desired, Duration limit = seconds(4)) {
    std::optional<Result<>> out;
    server_.running().sync([&] {
      manager_->apply(ref_, desired, limit, [&](Result<> done) { out = std::move(done); });
    });
    const auto has_ended = [&] {
      bool ended = false;
      server_.running().sync([&] { ended = out.has_value(); });
      return ended;
    };
    EXPECT_TRUE(net::eventually(has_ended, seconds(20)));
    return out ? *out : Result<>(make_error(Code::internal, "never done"));
  }
  std::size_t count(const std::string& call) const {
    return static_cast<std::size_t>(
        std::count_if(ufm_.calls.begin(), ufm_.calls.end(),
                      [&](const std::string& made) { return made.starts_with(call); }));
  }
  std::vector<std::string> members(const std::string& key) {
    std::vector<std::string> out;
    if (!ufm_.pkeys.contains(key)) return {"absent"};
    for (const auto& [guid, member] : ufm_.pkeys[key].guids) out.push_back("0x" + guid);
    return out;
  }

  sims::Ufm ufm_;
  std::vector<net::Reply> lost_;
  net::TestServer server_;
  std::unique_ptr<net::HttpClient> client_;
  std::unique_ptr<families::UfmManager> manager_;
  FabricRef ref_;
};

TEST_F(UfmDriver, adds_moves_and_removes_and_leaves_others_alone) {
  const auto store = ufm_.pkeys["0x5"];
  ASSERT_TRUE(apply({{partition(16, {a, b}), partition(17, {c})}, {}}));
  EXPECT_EQ(members("0x110"), (std::vector<std::string>{a, b}));
  ufm_.calls.clear();
  ASSERT_TRUE(apply({{partition(16, {a}), partition(17, {b, c})}, {}}));
  ASSERT_EQ(ufm_.calls.size(), 2U);
  EXPECT_THAT(ufm_.calls[0], HasSubstr("/actions/remove_guids_from_pkey"));
  EXPECT_EQ(members("0x111"), (std::vector<std::string>{b, c}));
  ASSERT_TRUE(apply({{partition(17, {b, c})}, {}}));
  EXPECT_EQ(members("0x110"), (std::vector<std::string>{"absent"}));
  EXPECT_EQ(ufm_.pkeys["0x5"], store);
  EXPECT_EQ(count("PUT /resources/pkeys {"), 0U);
  ufm_.calls.clear();
  ASSERT_TRUE(apply({{partition(17, {b, c})}, {}}));
  EXPECT_TRUE(ufm_.calls.empty());
}

TEST_F(UfmDriver, the_last_guid_does_not_take_the_partition_along) {
  ASSERT_TRUE(apply({{partition(16, {a})}, {}}));
  ufm_.calls.clear();
  ASSERT_TRUE(apply({{partition(16, {b})}, {}}));
  EXPECT_EQ(count("POST /resources/pkeys/add"), 0U);
  EXPECT_EQ(members("0x110"), (std::vector<std::string>{b}));
  ASSERT_TRUE(apply({{partition(16, {})}, {}}));  // meant: empty, and still there
  EXPECT_EQ(members("0x110"), std::vector<std::string>{});
}

TEST_F(UfmDriver, says_so_when_ufm_takes_a_change_and_does_nothing) {
  ufm_.knobs.takes_and_does_nothing = true;
  const auto done = apply({{partition(16, {a})}, {}}, seconds(3));
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().what, HasSubstr("UFM took"));
  EXPECT_THAT(done.error().what, HasSubstr("t00016"));
}

TEST_F(UfmDriver, finishes_a_change_that_ufm_did_by_half) {
  ufm_.knobs.does_half = true;
  ASSERT_TRUE(apply({{partition(16, {a, b})}, {}}, seconds(8)));
  EXPECT_EQ(members("0x110"), (std::vector<std::string>{a, b}));
}

TEST_F(UfmDriver, waits_for_a_change_that_shows_late) {
  ufm_.knobs.shows_late = 6;
  ASSERT_TRUE(apply({{partition(16, {a})}, {}}));
  EXPECT_EQ(ufm_.calls.size(), 2U);  // nothing was sent twice
}

TEST_F(UfmDriver, a_lost_answer_is_read_back) {
  ufm_.knobs.times_out = 1;
  ASSERT_TRUE(apply({{partition(16, {a})}, {}}, seconds(2)));
  EXPECT_EQ(count("POST /resources/pkeys/add"), 1U);
  ufm_.knobs.times_out = 1;
  ASSERT_TRUE(apply({{}, {}}, seconds(2)));
  EXPECT_EQ(count("DELETE"), 1U);
}

TEST_F(UfmDriver, an_invisible_partition_is_not_created_again) {
  ufm_.knobs.hides_new = 1000000;
  const FabricState desired{{partition(16, {a})}, {}};
  for (int i = 0; i < 2; ++i) {
    const auto done = apply(desired, seconds(3));
    ASSERT_FALSE(done);
    EXPECT_THAT(done.error().what, HasSubstr("does not show it yet"));
    EXPECT_TRUE(done.error().retry_after.has_value());
  }
  EXPECT_EQ(count("POST /resources/pkeys/add"), 1U);
  server_.running().sync(
      [this] { restart(); });  // a new driver asks once and is told that it exists
  ASSERT_FALSE(apply(desired, seconds(3)));
  EXPECT_EQ(count("POST /resources/pkeys/add"), 2U);
  EXPECT_EQ(members("0x110"), std::vector<std::string>{a});
  ufm_.pkeys["0x110"].hidden = 0;
  EXPECT_TRUE(apply(desired));
}

TEST_F(UfmDriver, somebody_elses_pkey_is_left_alone) {
  ufm_.pkeys["0x110"].name = "other";
  const auto done = apply({{partition(16, {a})}, {}});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::conflict);
  EXPECT_TRUE(ufm_.calls.empty());
}

TEST_F(UfmDriver, reads_what_ufm_shows_and_claims_no_tables) {
  ASSERT_TRUE(apply({{partition(16, {a})}, {}}));
  std::optional<Result<FabricReading>> out;
  server_.running().sync([&] {
    manager_->read(ref_, seconds(3), [&](Result<FabricReading> got) { out = std::move(got); });
  });
  const auto has_ended = [&] {
    bool ended = false;
    server_.running().sync([&] { ended = out.has_value(); });
    return ended;
  };
  ASSERT_TRUE(net::eventually(has_ended));
  ASSERT_TRUE(*out);
  EXPECT_EQ((*out)->seen.own.partitions, std::vector<IbPartitionState>{partition(16, {a})});
  EXPECT_EQ((*out)->seen.foreign_pkeys, std::vector<int>{5});
  EXPECT_FALSE((*out)->has_tables);
}

}  // namespace
}  // namespace tundish
