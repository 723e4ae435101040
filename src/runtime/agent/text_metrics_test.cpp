#include "runtime/agent/text_metrics.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

namespace tundish::agent {
namespace {

std::string read(const std::string& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

Verdict fail_of(const std::string& check, const std::string& device) {
  Verdict verdict;
  verdict.check = check;
  verdict.device = device;
  verdict.state = VerdictState::fail;
  verdict.reason = "never in a label";
  return verdict;
}

Witness xid(Provenance provenance, std::int64_t repeat) {
  Witness witness;
  witness.event.kind = KernelEventKind::xid;
  witness.provenance = provenance;
  witness.repeat = repeat;
  return witness;
}

TEST(TextMetrics, tells_verdicts_and_counts) {
  const std::string text = render_text_metrics(
      {fail_of("ecc", "0000:3b:00"), fail_of("ecc", "0000:3b:00"), fail_of("disk", "a\"b\\c\nd")},
      {{{"xid", "kernel"}, 3}}, Instant{seconds(1700000000).us});
  EXPECT_EQ(text,
            "# HELP tundish_node_verdict Verdicts of checks that are not ok\n"
            "# TYPE tundish_node_verdict gauge\n"
            "tundish_node_verdict{check=\"disk\",device=\"a\\\"b\\\\c d\",state=\"fail\"} 1\n"
            "tundish_node_verdict{check=\"ecc\",device=\"0000:3b:00\",state=\"fail\"} 2\n"
            "# HELP tundish_node_witnesses_total Sightings since the agent started\n"
            "# TYPE tundish_node_witnesses_total counter\n"
            "tundish_node_witnesses_total{kind=\"xid\",provenance=\"kernel\"} 3\n"
            "# HELP tundish_node_judged_seconds When the checks last judged, Unix time\n"
            "# TYPE tundish_node_judged_seconds gauge\n"
            "tundish_node_judged_seconds 1700000000\n");
}

TEST(TextMetrics, counts_what_stands_for_many_and_who_could_have_written_it) {
  std::string folder = "/tmp/tundish-prom-XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  TextMetrics metrics(folder);
  metrics.count({xid(Provenance::kernel, 5), xid(Provenance::userspace, 1)});
  metrics.count({xid(Provenance::kernel, 1)});
  ASSERT_TRUE(metrics.write({}, Instant{1}));
  const std::string text = read(folder + "/tundish.prom");
  EXPECT_NE(text.find("{kind=\"xid\",provenance=\"kernel\"} 6\n"), std::string::npos);
  EXPECT_NE(text.find("{kind=\"xid\",provenance=\"userspace\"} 1\n"), std::string::npos);
  std::filesystem::remove_all(folder);
}

TEST(TextMetrics, a_reader_never_sees_half_a_file) {
  std::string folder = "/tmp/tundish-prom-XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  TextMetrics metrics(folder);
  const std::vector<Verdict> many(500, fail_of("ecc", "0000:3b:00"));
  ASSERT_TRUE(metrics.write(many, Instant{1}));
  std::atomic<bool> stop = false;
  std::atomic<int> torn = 0;
  std::thread reader([&] {
    while (!stop) {
      const std::string text = read(folder + "/tundish.prom");
      if (text.find("tundish_node_judged_seconds ") == std::string::npos || text.back() != '\n') {
        ++torn;
      }
    }
  });
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(metrics.write(many, Instant{i}));
  stop = true;
  reader.join();
  EXPECT_EQ(torn, 0);
  std::filesystem::remove_all(folder);
}

TEST(TextMetrics, without_a_folder_nothing_is_written_and_a_missing_one_is_told) {
  EXPECT_TRUE(TextMetrics("").write({}, Instant{1}));
  EXPECT_FALSE(TextMetrics("/nonexistent/folder").write({}, Instant{1}));
}

}  // namespace
}  // namespace tundish::agent
