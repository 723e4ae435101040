// A BMC over a wire that answers from documents of real shape.
#include "families/bmcs/redfish.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "families/bmcs/leak_text.hpp"

namespace tundish::families {
namespace {

/// The shape of an answer. Source: DMTF DSP2046, LeakDetector 1.6 example; checked 2026-11
constexpr const char* detector_text = R"({
  "@odata.type": "#LeakDetector.v1_6_0.LeakDetector",
  "@odata.id": "/redfish/v1/Chassis/Chassis_0/LeakDetectors/Leak_0",
  "Id": "Leak_0", "Name": "Leak detector 0", "LeakDetectorType": "Moisture",
  "Status": {"State": "Enabled", "Health": "OK"}, "DetectorState": "Critical",
  "PhysicalContext": "Chassis",
  "Location": {"PartLocation": {"ServiceLabel": "Below cold plate 0"}}
})";

TEST(leak_text, a_detector_is_read_in_its_own_words) {
  const auto read = parse_leak_detector(detector_text, "Chassis_0");
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->name, "Chassis_0/Leak_0");
  EXPECT_EQ(read->type, "Moisture");
  EXPECT_EQ(read->state, "Critical");
  EXPECT_EQ(read->presence, "Enabled");
  EXPECT_EQ(read->health, "OK");
  EXPECT_EQ(read->place, "Below cold plate 0");
}

TEST(leak_text, what_is_not_told_is_empty) {
  const auto read = parse_leak_detector(
      R"({"Id": "A", "DetectorState": null, "Status": {"State": "UnavailableOffline"}})", "1");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->state, "");
  EXPECT_EQ(read->health, "");
  EXPECT_EQ(read->presence, "UnavailableOffline");
}

TEST(leak_text, what_is_no_resource_is_refused) {
  for (const char* text : {"", "[]", "3", "{}", "<html>login</html>", R"({"Id": ""})"}) {
    EXPECT_FALSE(parse_leak_detector(text, "1")) << text;
  }
  for (const char* text :
       {"", "{}", R"({"Members": {}})", R"({"Members": [{}]})", R"({"Members": ["a"]})",
        R"({"Members": [{"@odata.id": "http://elsewhere/redfish/v1/x"}]})",
        R"({"Members": [{"@odata.id": "/redfish/v1/../../admin"}]})",
        R"({"Members": [], "Members@odata.nextLink": "//elsewhere/"})"}) {
    EXPECT_FALSE(parse_members(text)) << text;
  }
  EXPECT_EQ(*find_redfish_link(R"({"A": {"@odata.id": "/etc/passwd"}})", "A"), "");
}

/// Path -> body; what is not there is 404.
class FakeWire final : public Wire {
 public:
  void start(HttpRequest request, Duration, Done done) override {
    constexpr std::string_view base = "http://10.0.0.9";
    ASSERT_TRUE(request.url.starts_with(base)) << request.url;
    EXPECT_EQ(request.method, "GET");
    EXPECT_EQ(request.headers.at("authorization"), "Basic YWRtaW46cHc=");
    const std::string path = request.url.substr(base.size());
    asked.push_back(path);
    if (away) return done(make_error(Code::timeout, "no answer"));
    HttpResponse response;
    const auto found = documents.find(path);
    response.status = found == documents.end() ? missing : 200;
    if (found != documents.end()) response.body = found->second;
    done(std::move(response));
  }
  std::map<std::string, std::string> documents;
  std::vector<std::string> asked;
  bool away = false;
  int missing = 404;
};

std::string link(const std::string& path) { return R"({"@odata.id": ")" + path + "\"}"; }
std::string detector(const std::string& id, const std::string& state) {
  return R"({"Id": ")" + id + R"(", "DetectorState": ")" + state +
         R"(", "Status": {"State": "Enabled", "Health": "OK"}})";
}

class Time final : public Scheduler {
 public:
  Instant now() const override { return now_; }
  void at(Instant at, std::function<void()> task) override { tasks_.emplace(at, std::move(task)); }
  void run() {
    while (!tasks_.empty()) {
      const auto first = tasks_.extract(tasks_.begin());
      if (first.key() > now_) now_ = first.key();
      first.mapped()();
    }
  }

 private:
  Instant now_{1'000'000'000};
  std::multimap<Instant, std::function<void()>> tasks_;
};

class RedfishLeaks : public testing::Test {
 protected:
  RedfishLeaks() {
    auto& d = wire_.documents;
    d["/redfish/v1/Chassis"] = R"({"Members": [)" + link(gpu_) + "," + link(tray_) + "]}";
    d[gpu_] = R"({"Id": "HGX_GPU_0"})";
    d[tray_] =
        R"({"Id": "Chassis_0", "ThermalSubsystem": )" + link(tray_ + "/ThermalSubsystem") + "}";
    d[tray_ + "/ThermalSubsystem"] =
        R"({"LeakDetection": )" + link(tray_ + "/ThermalSubsystem/LeakDetection") + "}";
    d[tray_ + "/ThermalSubsystem/LeakDetection"] = R"({"LeakDetectors": )" + link(list_) + "}";
    d[list_] = R"({"Members": [)" + link(list_ + "/A") + R"(], "Members@odata.nextLink": ")" +
               list_ + "?$skip=1\"}";
    d[list_ + "?$skip=1"] = R"({"Members": [)" + link(list_ + "/B") + "]}";
    d[list_ + "/A"] = detector("A", "OK");
    d[list_ + "/B"] = detector("B", "Warning");
  }
  Result<BmcReading> read() {
    Result<BmcReading> out = make_error(Code::internal, "nothing was said");
    int times = 0;
    bmc_.read("10.0.0.9", seconds(5), [&](Result<BmcReading> result) {
      out = std::move(result);
      ++times;
    });
    EXPECT_EQ(times, 1);
    return out;
  }
  const std::string gpu_ = "/redfish/v1/Chassis/HGX_GPU_0";
  const std::string tray_ = "/redfish/v1/Chassis/Chassis_0";
  const std::string list_ = tray_ + "/ThermalSubsystem/LeakDetection/LeakDetectors";
  FakeWire wire_;
  Time time_;
  RedfishBmc bmc_{wire_, time_, {"http://{address}", "admin", "pw"}};
};

TEST_F(RedfishLeaks, detectors_are_found_by_their_links_and_the_way_is_remembered) {
  const auto first = read();
  ASSERT_TRUE(first) << first.error().message();
  ASSERT_EQ(first->leaks.size(), 2u);
  EXPECT_EQ(first->leaks[0].name, "Chassis_0/A");
  EXPECT_EQ(first->leaks[1].state, "Warning");
  wire_.asked.clear();
  ASSERT_TRUE(read());
  EXPECT_EQ(wire_.asked,
            (std::vector<std::string>{list_, list_ + "?$skip=1", list_ + "/A", list_ + "/B"}));
}

TEST_F(RedfishLeaks, the_newer_place_beside_the_chassis_comes_first) {
  auto& d = wire_.documents;
  d[tray_] = R"({"LeakDetectors": )" + link(tray_ + "/LeakDetectors") +
             R"(, "ThermalSubsystem": )" + link(tray_ + "/ThermalSubsystem") + "}";
  d[tray_ + "/LeakDetectors"] = R"({"Members": [)" + link(tray_ + "/LeakDetectors/C") + "]}";
  d[tray_ + "/LeakDetectors/C"] = detector("C", "Critical");
  const auto seen = read();
  ASSERT_TRUE(seen);
  ASSERT_EQ(seen->leaks.size(), 1u);
  EXPECT_EQ(seen->leaks[0].name, "Chassis_0/C");
}

TEST_F(RedfishLeaks, a_bmc_that_was_changed_is_looked_through_anew) {
  ASSERT_TRUE(read());
  wire_.documents.erase(list_);
  const auto gone = read();
  ASSERT_TRUE(gone);
  EXPECT_TRUE(gone->leaks.empty());
}

TEST_F(RedfishLeaks, a_detector_that_is_listed_and_not_there_tells_nothing) {
  wire_.documents.erase(list_ + "/B");
  const auto seen = read();
  ASSERT_TRUE(seen);
  ASSERT_EQ(seen->leaks.size(), 2u);
  EXPECT_EQ(seen->leaks[1].name, "Chassis_0/B");
  EXPECT_EQ(seen->leaks[1].state, "");
}

TEST_F(RedfishLeaks, what_cannot_be_read_is_no_dry_node) {
  wire_.away = true;
  EXPECT_EQ(read().error().code, Code::timeout);
  wire_.away = false;
  wire_.missing = 401;
  wire_.documents.clear();
  EXPECT_EQ(read().error().code, Code::denied);
  wire_.missing = 503;
  EXPECT_EQ(read().error().code, Code::unavailable);
}

TEST_F(RedfishLeaks, a_bmc_without_chassis_has_no_detector) {
  wire_.documents.clear();
  const auto seen = read();
  ASSERT_TRUE(seen);
  EXPECT_TRUE(seen->leaks.empty());
}

TEST_F(RedfishLeaks, a_bmc_that_links_in_circles_is_given_up) {
  wire_.documents[list_] =
      R"({"Members": [], "Members@odata.nextLink": ")" + list_ + "\"}";
  EXPECT_EQ(read().error().code, Code::unavailable);
}

/// A system whose BMC does to a power-off what it is told to.
class PoweredWire final : public Wire {
 public:
  explicit PoweredWire(Time& time) : time_(time) {}
  void start(HttpRequest request, Duration, Done done) override {
    HttpResponse response;
    response.status = 200;
    if (request.method == "POST") {
      EXPECT_EQ(request.body, R"({"ResetType":"ForceOff"})");
      ++posts;
      response.status = refuses ? 409 : 204;
      if (obeys && !refuses) off_at = time_.now() + seconds(3);
    } else {
      EXPECT_TRUE(request.url.ends_with("/redfish/v1/Systems/1")) << request.url;
      ++looks;
      if (blind) return done(make_error(Code::timeout, "no answer"));
      const bool is_off = off_at && time_.now() >= *off_at;
      response.body = is_off ? R"({"Id": "1", "PowerState": "Off"})"
                             : R"({"Id": "1", "PowerState": ")" + word + "\"}";
    }
    done(std::move(response));
  }
  bool obeys = true, refuses = false, blind = false;
  std::string word = "On";
  std::optional<Instant> off_at;
  int posts = 0, looks = 0;

 private:
  Time& time_;
};

class RedfishOff : public testing::Test {
 protected:
  Result<> off() {
    std::optional<Result<>> out;
    bmc_.start("10.0.0.9", PowerVerb::off, seconds(20), [&](Result<> result) {
      EXPECT_FALSE(out) << "said twice";
      out = std::move(result);
    });
    time_.run();
    EXPECT_TRUE(out);
    return out.value_or(make_error(Code::internal, "nothing was said"));
  }
  Time time_;
  PoweredWire wire_{time_};
  RedfishBmc bmc_{wire_, time_, {"http://{address}", "admin", "pw"}};
};

TEST_F(RedfishOff, it_is_done_when_the_bmc_shows_it_off) {
  EXPECT_TRUE(off());
  EXPECT_EQ(wire_.posts, 1);
  EXPECT_GE(time_.now(), *wire_.off_at);
}

TEST_F(RedfishOff, what_is_off_is_not_told_again) {
  wire_.off_at = time_.now();
  wire_.refuses = true;
  EXPECT_TRUE(off());
  EXPECT_EQ(wire_.posts, 0);
}

TEST_F(RedfishOff, what_was_accepted_and_not_done_is_not_taken_for_done) {
  wire_.obeys = false;
  for (const char* word : {"On", "PoweringOff", "off", ""}) {
    wire_.word = word;
    const auto result = off();
    ASSERT_FALSE(result) << word;
    EXPECT_EQ(result.error().code, Code::timeout);
    EXPECT_NE(result.error().message().find("not seen to be off"), std::string::npos);
  }
}

TEST_F(RedfishOff, a_state_that_cannot_be_read_keeps_no_request_back_and_proves_nothing) {
  wire_.blind = true;
  const auto result = off();
  EXPECT_EQ(wire_.posts, 1);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::timeout);
}

TEST_F(RedfishOff, a_refusal_is_a_failure) {
  wire_.refuses = true;
  EXPECT_EQ(off().error().code, Code::unavailable);
}

}  // namespace
}  // namespace tundish::families
