#include "families/fabrics/driver_opensm.hpp"

#include <gmock/gmock.h>

#include <deque>
#include <map>
#include <set>

#include "base/text.hpp"
#include "families/fabrics/fabric_samples_test.hpp"
#include "families/fabrics/opensm_parts/scripts.hpp"
#include "families/fabrics/opensm_parts/sweep.hpp"

namespace tundish::families {
namespace {

using fabrics::sample_guid;
using fabrics::sample_partition;
using testing::HasSubstr;

class TurnScheduler final : public Scheduler {
 public:
  Instant now() const override { return now_; }
  void at(Instant, std::function<void()> task) override { tasks_.push_back(std::move(task)); }
  void run() {
    for (; !tasks_.empty(); tasks_.pop_front(), now_ = now_ + milliseconds(100)) tasks_.front()();
  }

 private:
  Instant now_{1'000'000};
  std::deque<std::function<void()>> tasks_;
};

std::string table_text(const std::string& guid, const std::vector<std::string>& keys) {
  std::string out = "CA 4 1 " + guid + " 4x SDR - SW 2 3 0x0000000000001001 ( 'a' - 'b' )\npkeys " +
                    guid + "\n   0:";
  for (const auto& key : keys) out += " " + key;
  return out + "\n64 pkeys capacity for this port\n";
}

/// The manager's node: a file, and ports that follow it when opensm is told, but for who does not.
class FakeNode final : public Exec {
 public:
  explicit FakeNode(Scheduler& scheduler) : scheduler_(scheduler) {}

  void start(ExecRequest request, Duration, Done done) override {
    scheduler_.at({}, [this, request = std::move(request), done = std::move(done)] {
      const std::string& script = request.argv[2];
      if (script == fabrics::read_script) return done(read());
      if (script == fabrics::sweep_script) return done(sweep());
      if (script == fabrics::reload_script) return done(reload());
      if (script == fabrics::install_script) return done(install(request));
      if (script == fabrics::canary_script) return done(canary(request));
      if (script.starts_with(fabrics::withdraw_script)) return done(withdraw(request));
      done(make_error(Code::unsupported, "a script that the fake does not know"));
    });
  }

  /// Ports that never take a new key, and ports that never lose one.
  std::set<std::string> deaf, clinging;
  std::set<std::string> open;  ///< full in the default partition after every change
  std::string file = "absent";
  bool is_tried = false;
  bool is_frozen = false;
  std::vector<std::string> calls;
  std::map<std::string, std::set<std::string>> tables;

 private:
  static std::string sum_of(const std::string& text) {
    std::string hash = std::to_string(std::hash<std::string>{}(text));
    return std::string(64 - hash.size(), '0') + hash;
  }
  static ExecOutput failed(int rc, const std::string& what) { return {rc, "", what}; }

  Result<ExecOutput> read() {
    calls.push_back("read");
    if (file == "absent") return ExecOutput{0, "absent\n", ""};
    return ExecOutput{0, "sha256 " + sum_of(file) + (is_tried ? " tried" : "") + "\n" + file, ""};
  }
  Result<ExecOutput> sweep() {
    calls.push_back("sweep");
    if (is_frozen) return failed(69, "the subnet manager does not answer");
    std::string out = "sminfo: sm lid 1 sm guid 0x20001, activity count 71 priority 0 state 3\n";
    out += table_text(sample_guid(0), {"0xffff"});
    for (const auto& [guid, keys] : tables) {
      std::vector<std::string> all = {open.contains(guid) ? "0xffff" : "0x7fff"};
      all.insert(all.end(), keys.begin(), keys.end());
      out += table_text(guid, all);
    }
    return ExecOutput{0, out, ""};
  }
  Result<ExecOutput> reload() {
    calls.push_back("reload");
    const auto seen = fabrics::find_fabric_item("opensm")->parse(file, {});
    for (auto& [guid, keys] : tables) {
      std::set<std::string> next;
      for (const auto& partition : seen->own.partitions) {
        if (fabrics::find_member(partition, guid) == nullptr) continue;
        next.insert(fabrics::pkey_text(partition.pkey | 0x8000));
      }
      if (clinging.contains(guid)) next.insert(keys.begin(), keys.end());
      if (deaf.contains(guid))
        std::erase_if(next, [&](const auto& k) { return !keys.contains(k); });
      keys = next;
    }
    return ExecOutput{};
  }
  Result<ExecOutput> install(const ExecRequest& request) {
    calls.push_back("install");
    if (sum_of(request.input) != request.argv[5]) return failed(65, "the text came incomplete");
    if ((file == "absent" ? file : sum_of(file)) != request.argv[6]) return failed(76, "changed");
    file = request.input;
    is_tried = true;
    return ExecOutput{};
  }
  Result<ExecOutput> withdraw(const ExecRequest& request) {
    calls.push_back("withdraw");
    if (!is_tried || sum_of(file) != request.argv[6]) return failed(76, "changed");
    file = request.input;
    (void)reload();
    calls.pop_back();
    return ExecOutput{0, "sha256 " + sum_of(file) + "\n", ""};
  }
  /// As the real one comes up when opensm takes every line.
  Result<ExecOutput> canary(const ExecRequest& request) {
    calls.push_back("canary");
    const auto bytes = static_cast<std::size_t>(*parse_integer(request.argv[4]));
    const std::string net = request.input.substr(0, bytes), text = request.input.substr(bytes);
    const auto seen = fabrics::find_fabric_item("opensm")->parse(text, {});
    std::string out = "opensm SUBNET UP\n";
    bool is_first = true;
    for (const auto& line : split(net, '\n')) {
      if (!line.starts_with("[1](")) continue;
      const std::string guid = "0x" + line.substr(4, 16);
      std::vector<std::string> keys = {is_first ? "0xffff" : "0x7fff"};
      for (const auto& partition : seen->own.partitions) {
        if (fabrics::find_member(partition, guid) == nullptr) continue;
        keys.push_back(fabrics::pkey_text(partition.pkey | 0x8000));
      }
      out += table_text(guid, keys);
      is_first = false;
    }
    return ExecOutput{0, out + "sha256 " + sum_of(text) + "\n", ""};
  }

  Scheduler& scheduler_;
};

class OpensmDriver : public testing::Test {
 protected:
  OpensmDriver() {
    for (const unsigned number : {1U, 2U, 3U, 4U}) node.tables[sample_guid(number)];
  }
  Result<> apply(const FabricState& desired) {
    Result<> out = make_error(Code::internal, "never done");
    node.calls.clear();
    manager.apply({"ib0", "ssh://root@sm1", {}}, desired, seconds(60),
                  [&](Result<> done) { out = std::move(done); });
    scheduler.run();
    return out;
  }
  std::string calls() const { return join(node.calls, " "); }
  TurnScheduler scheduler;
  FakeNode node{scheduler};
  OpensmManager manager{node, scheduler};
};

const FabricState both{{sample_partition(16, {1, 2}), sample_partition(17, {3})}, {}};

TEST_F(OpensmDriver, who_joins_passes_the_canary_and_who_leaves_waits_for_none) {
  ASSERT_TRUE(apply(both));
  EXPECT_EQ(calls(), "read canary install reload sweep");
  ASSERT_TRUE(apply({{sample_partition(16, {1}), sample_partition(17, {3})}, {}}));
  EXPECT_EQ(calls(), "read withdraw sweep");
  EXPECT_TRUE(node.tables.at(sample_guid(2)).empty());
  ASSERT_TRUE(apply({{sample_partition(16, {1}), sample_partition(17, {2, 3})}, {}}));
  EXPECT_EQ(calls(), "read canary install reload sweep");
  ASSERT_TRUE(apply({{sample_partition(16, {1, 2}), sample_partition(17, {3})}, {}}));
  EXPECT_EQ(calls(), "read withdraw sweep read canary install reload sweep") << "out, then in";
  ASSERT_TRUE(apply({}));
  EXPECT_EQ(calls(), "read withdraw sweep");
}

TEST_F(OpensmDriver, a_file_that_somebody_else_touched_passes_the_canary_again) {
  ASSERT_TRUE(apply(both));
  node.file += "more=0x4002 : 0x99 ;\n";
  node.is_tried = false;
  ASSERT_TRUE(apply({{sample_partition(16, {1}), sample_partition(17, {3})}, {}}));
  EXPECT_EQ(calls(), "read canary install reload sweep");
  EXPECT_THAT(node.file, HasSubstr("more=0x4002"));
}

TEST_F(OpensmDriver, a_port_that_does_not_take_its_key_brings_the_old_file_back) {
  ASSERT_TRUE(apply({{sample_partition(16, {1})}, {}}));
  const std::string before = node.file;
  node.deaf = {sample_guid(2)};
  const auto done = apply({{sample_partition(16, {1, 2})}, {}});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::conflict);
  EXPECT_THAT(done.error().what, HasSubstr(sample_guid(2) + " does not carry PKey 0x0110"));
  EXPECT_EQ(done.error().remedy, "the file before is in place again");
  EXPECT_EQ(node.file, before);
  EXPECT_EQ(calls().substr(calls().size() - 14), "install reload");
}

TEST_F(OpensmDriver, a_port_that_keeps_what_it_should_lose_does_not_get_it_back_in_the_file) {
  ASSERT_TRUE(apply(both));
  node.clinging = {sample_guid(2)};
  const auto done = apply({{sample_partition(16, {1}), sample_partition(17, {3})}, {}});
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().what, HasSubstr(sample_guid(2) + " still carries PKey 0x0110"));
  EXPECT_THAT(done.error().remedy, HasSubstr("the new file stays in place"));
  EXPECT_THAT(node.file, testing::Not(HasSubstr(sample_guid(2))));
}

TEST_F(OpensmDriver, ports_that_open_to_everybody_bring_the_old_file_back) {
  ASSERT_TRUE(apply({{sample_partition(16, {1})}, {}}));
  const std::string before = node.file;
  node.open = {sample_guid(4)};
  const auto done = apply({{sample_partition(16, {1, 2})}, {}});
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().what, HasSubstr("full member of the default partition"));
  EXPECT_EQ(node.file, before);
}

TEST_F(OpensmDriver, the_first_file_is_not_taken_back_because_without_one_nobody_is_isolated) {
  node.deaf = {sample_guid(1)};
  const auto done = apply({{sample_partition(16, {1})}, {}});
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().remedy, HasSubstr("the new file stays"));
  EXPECT_NE(node.file, "absent");
}

/// NICo #304, #471: the write happened and its answer was lost; the next call sees that and ends.
TEST_F(OpensmDriver, a_write_that_happened_and_timed_out_is_told_to_opensm_and_done) {
  ASSERT_TRUE(apply(both));
  for (auto& [guid, keys] : node.tables) keys.clear();  // the file is in place, opensm was not told
  ASSERT_TRUE(apply(both));
  EXPECT_EQ(calls(), "read sweep reload sweep");
  ASSERT_TRUE(apply(both));
  EXPECT_EQ(calls(), "read sweep") << "NICo #572: what is there is not made again";
}

/// NICo #2614.
TEST_F(OpensmDriver, a_subnet_manager_that_does_not_answer_shows_nothing) {
  ASSERT_TRUE(apply(both));
  node.is_frozen = true;
  Result<FabricReading> reading = make_error(Code::internal, "never done");
  manager.read({"ib0", "ssh://root@sm1", {}}, seconds(10),
               [&](Result<FabricReading> got) { reading = std::move(got); });
  scheduler.run();
  ASSERT_FALSE(reading);
  EXPECT_THAT(reading.error().message(), HasSubstr("the subnet manager does not answer"));
  EXPECT_FALSE(apply({})) << "and no write is called done";
}

TEST(ReadPaths, an_answer_without_a_record_is_no_path_and_silence_is_nothing) {
  const std::vector<FabricPath> asked = {{"0xa", "0xb", false, {}},
                                         {"0xa", "0xc", false, {}},
                                         {"0xa", "0xd", false, {}},
                                         {"0xa", "0xe", false, {}}};
  // As saquery of infiniband-diags 44.0 prints a record.
  const auto read = fabrics::read_paths(
      "path 0xa 0xb\nPathRecord dump:\n\t\tdgid....................fe80::2:c903:100:201\n"
      "\t\tpkey....................0x8110\n\t\tqos_class...............0x0\n"
      "path 0xa 0xc\n\nsilent 0xa 0xd\n",
      asked);
  ASSERT_EQ(read.size(), 4U);
  EXPECT_TRUE(read[0].answered);
  EXPECT_EQ(read[0].pkeys, std::vector<int>{0x110});
  EXPECT_TRUE(read[1].answered);
  EXPECT_TRUE(read[1].pkeys.empty());
  EXPECT_FALSE(read[2].answered);
  EXPECT_FALSE(read[3].answered);
  for (const char* const key : {"pkey....", "pkey....0xzz", "pkey....0x18110"}) {
    EXPECT_FALSE(
        fabrics::read_paths("path 0xa 0xb\n" + std::string(key) + "\n", asked)[0].answered);
  }
}

}  // namespace
}  // namespace tundish::families
