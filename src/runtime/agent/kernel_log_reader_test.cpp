#include "runtime/agent/kernel_log_reader.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <deque>
#include <fstream>
#include <set>

namespace tundish {
namespace {

/// A kernel ring: records with numbers, a cursor per open, and what can go wrong.
struct Ring {
  struct Line {
    std::int64_t seq;
    std::int64_t usec;
    std::string bytes;
  };
  std::deque<Line> lines;
  std::int64_t next_seq = 0;
  std::int64_t clock_us = 1000000;
  std::string boot = "boot-a";
  bool refuses_open = false;
  std::string dies_with;
  std::int64_t reader_at = 0;
  bool overrun = false;
  int opens = 0;

  void write(int facility, const std::string& text) {
    clock_us += 10;
    const std::string head = std::to_string(facility * 8 + 4) + "," + std::to_string(next_seq) +
                             "," + std::to_string(clock_us) + ",-;";
    lines.push_back({next_seq++, clock_us, head + text + "\n"});
  }
  void forget(std::size_t count) {
    lines.erase(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(count));
    overrun = !lines.empty() && reader_at < lines.front().seq;
  }
};

class RingSource final : public RecordSource {
 public:
  RingSource(Ring& ring, Instant& now) : ring_(ring), now_(now) {}
  Result<std::string> open() override {
    ++ring_.opens;
    if (ring_.refuses_open) return make_error(Code::unavailable, "not there");
    ring_.reader_at = ring_.lines.empty() ? ring_.next_seq : ring_.lines.front().seq;
    ring_.overrun = false;
    return ring_.boot;
  }
  void close() override {}
  Result<std::string> boot_id() override { return ring_.boot; }
  Read read() override {
    if (!ring_.dies_with.empty()) return {State::lost, {}, ring_.dies_with};
    if (ring_.overrun) {
      ring_.overrun = false;
      ring_.reader_at = ring_.lines.front().seq;
      return {State::overrun, {}, {}};
    }
    for (const auto& line : ring_.lines) {
      if (line.seq < ring_.reader_at) continue;
      ring_.reader_at = line.seq + 1;
      return {State::record, line.bytes, {}};
    }
    return {};
  }
  void wait(Duration limit) override { now_ = now_ + limit; }
  int descriptor() const override { return -1; }

 private:
  Ring& ring_;
  Instant& now_;
};

std::string xid(int code, const std::string& detail = "x") {
  return "NVRM: Xid (PCI:0000:3b:00): " + std::to_string(code) + ", " + detail;
}

class KernelLog : public ::testing::Test {
 protected:
  KernelLogReader make_reader(KernelLogCursor cursor = {}, KernelLogOptions options = {}) {
    return KernelLogReader(
        std::make_unique<RingSource>(ring, now), std::move(cursor), [this] { return now; },
        std::move(options));
  }
  /// Polls until nothing is left and gives what was told.
  std::vector<Witness> read_all(KernelLogReader& reader, Duration wait = milliseconds(1)) {
    std::vector<Witness> out;
    const auto keep = [&](Witness w) { out.push_back(std::move(w)); };
    while (reader.poll(wait, keep)) {
    }
    return out;
  }
  Ring ring;
  Instant now{1000000000};
};

TEST_F(KernelLog, a_first_installation_reads_the_whole_boot_and_is_not_blind) {
  for (int i = 0; i < 5; ++i) ring.write(0, "boot line");
  ring.write(0, xid(79));
  ring.write(1, xid(95));
  ring.write(1, "somebody quotes " + xid(95));
  ring.forget(2);
  KernelLogReader reader = make_reader();
  const auto seen = read_all(reader);
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].id, "boot-a/kmsg/5");
  EXPECT_EQ(seen[0].event.code, 79);
  EXPECT_EQ(seen[0].provenance, Provenance::kernel);
  EXPECT_EQ(seen[0].kernel_usec, 1000060);
  EXPECT_EQ(seen[1].provenance, Provenance::userspace);
  EXPECT_EQ(reader.cursor().seq, 7);
}

TEST_F(KernelLog, a_restart_tells_only_what_came_while_it_was_away) {
  ring.write(0, xid(79));
  KernelLogReader first = make_reader();
  ASSERT_EQ(read_all(first).size(), 1u);
  ring.write(0, xid(154));
  KernelLogReader second = make_reader(first.cursor());
  const auto seen = read_all(second);
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].id, "boot-a/kmsg/1");
  KernelLogReader third = make_reader(second.cursor());
  EXPECT_TRUE(read_all(third).empty());
}

TEST_F(KernelLog, records_lost_while_away_are_a_blind_spot) {
  ring.write(0, "line");
  KernelLogReader first = make_reader();
  read_all(first);
  for (int i = 0; i < 9; ++i) ring.write(0, "line");
  ring.write(0, xid(79));
  ring.forget(6);
  KernelLogReader second = make_reader(first.cursor());
  const auto seen = read_all(second);
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].kind, WitnessKind::blind);
  EXPECT_EQ(seen[0].blind, 5);
  EXPECT_EQ(seen[0].id, "boot-a/kmsg/1/blind");
  EXPECT_EQ(seen[1].event.code, 79);
}

TEST_F(KernelLog, an_overrun_is_counted_and_reading_goes_on) {
  ring.write(0, "line");
  KernelLogReader reader = make_reader();
  read_all(reader);
  for (int i = 0; i < 100; ++i) ring.write(0, "flood");
  ring.write(0, xid(79));
  ring.forget(61);
  const auto seen = read_all(reader);
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].kind, WitnessKind::blind);
  EXPECT_EQ(seen[0].blind, 60);
  EXPECT_EQ(seen[1].event.code, 79);
}

TEST_F(KernelLog, a_record_that_cannot_be_read_is_a_blind_spot_of_one) {
  ring.write(0, "line");
  ring.lines.push_back({ring.next_seq++, 0, "garbage\n"});
  ring.write(0, xid(79));
  KernelLogReader reader = make_reader();
  const auto seen = read_all(reader);
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].blind, 1);
  EXPECT_EQ(seen[1].event.code, 79);
}

TEST_F(KernelLog, a_lost_source_is_told_once_and_resumed_where_it_was) {
  ring.write(0, xid(79));
  KernelLogReader reader = make_reader();
  ASSERT_EQ(read_all(reader).size(), 1u);
  ring.dies_with = "transport endpoint is not connected";
  auto seen = read_all(reader);
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].kind, WitnessKind::source_lost);
  EXPECT_EQ(seen[0].reason, ring.dies_with);
  ring.refuses_open = true;
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(read_all(reader, milliseconds(500)).empty());
  EXPECT_LE(ring.opens, 8) << "attempts back off";
  EXPECT_GE(ring.opens, 4) << "attempts go on";
  ring.refuses_open = false;
  ring.dies_with.clear();
  ring.write(0, xid(95));
  seen.clear();
  for (int i = 0; i < 12; ++i) {
    for (Witness& w : read_all(reader, milliseconds(500))) seen.push_back(std::move(w));
  }
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].kind, WitnessKind::source_back);
  EXPECT_EQ(seen[1].id, "boot-a/kmsg/1");
}

TEST_F(KernelLog, a_source_that_opens_and_dies_is_not_back) {
  KernelLogReader reader = make_reader();
  ring.dies_with = "aborted";
  std::size_t told = 0;
  for (int i = 0; i < 50; ++i) told += read_all(reader, milliseconds(500)).size();
  EXPECT_EQ(told, 1u);
  EXPECT_LE(ring.opens, 12);
}

TEST_F(KernelLog, a_new_boot_starts_at_its_first_record) {
  for (int i = 0; i < 10; ++i) ring.write(0, "line");
  KernelLogReader first = make_reader();
  read_all(first);
  ring = Ring{};
  ring.boot = "boot-b";
  ring.clock_us = 0;
  ring.write(0, xid(79));
  KernelLogReader second = make_reader(first.cursor());
  const auto seen = read_all(second);
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].id, "boot-b/kmsg/0");
}

TEST_F(KernelLog, a_boot_seen_through_the_open_descriptor_is_a_boot) {
  for (int i = 0; i < 10; ++i) ring.write(0, "line");
  KernelLogReader reader = make_reader();
  read_all(reader);
  ring.lines.clear();
  ring.next_seq = 0;
  ring.reader_at = 0;
  ring.clock_us = 0;
  ring.boot = "boot-b";
  ring.write(0, xid(79));
  const auto seen = read_all(reader);
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].id, "boot-b/kmsg/0");
}

TEST_F(KernelLog, a_ring_numbered_anew_in_the_same_boot_is_read) {
  for (int i = 0; i < 10; ++i) ring.write(0, xid(79, "n" + std::to_string(i)));
  KernelLogReader first = make_reader();
  EXPECT_EQ(read_all(first).size(), 10u);
  ring.lines.clear();
  ring.next_seq = 0;
  ring.write(0, xid(95));
  KernelLogReader second = make_reader(first.cursor());
  const auto seen = read_all(second);
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].event.code, 95);
  EXPECT_EQ(seen[0].id, "boot-a/kmsg.1/0") << "the number was given out before";
}

TEST_F(KernelLog, a_storm_is_few_witnesses_that_add_up) {
  KernelLogReader reader = make_reader();
  read_all(reader);
  std::vector<Witness> seen;
  std::int64_t written = 0;
  for (int burst = 0; burst < 100; ++burst) {
    for (int i = 0; i < 290; ++i) ring.write(0, xid(95, "unit " + std::to_string(i % 29)));
    written += 290;
    for (Witness& w : read_all(reader, milliseconds(50))) seen.push_back(std::move(w));
    ring.forget(ring.lines.size());
  }
  now = now + seconds(2);
  for (Witness& w : read_all(reader)) seen.push_back(std::move(w));
  std::int64_t total = 0;
  std::set<std::string> details;
  std::set<std::string> ids;
  for (const Witness& w : seen) {
    EXPECT_EQ(w.kind, WitnessKind::event);
    total += w.repeat;
    details.insert(w.event.detail);
    ids.insert(w.id);
  }
  EXPECT_EQ(total, written);
  EXPECT_EQ(details.size(), 29u);
  EXPECT_EQ(ids.size(), seen.size()) << "every witness has its own identity";
  EXPECT_LE(seen.size(), 29u * 2 * 7) << "a first and a count per line and window";
}

TEST_F(KernelLog, a_storm_of_different_lines_is_bounded_and_adds_up) {
  KernelLogOptions options;
  options.storm.distinct = 8;
  options.storm.coarse = 4;
  KernelLogReader reader = make_reader({}, options);
  for (int i = 0; i < 1000; ++i) ring.write(0, xid(13, "Ch " + std::to_string(i)));
  ring.write(0, xid(79));
  for (int code = 200; code < 300; ++code) ring.write(0, xid(code));
  const auto first = read_all(reader);
  EXPECT_EQ(first.size(), 12u);
  now = now + seconds(2);
  const auto rest = read_all(reader);
  std::int64_t total = 0;
  bool saw_79 = false;
  for (const auto* some : {&first, &rest}) {
    for (const Witness& w : *some) {
      total += w.repeat;
      saw_79 = saw_79 || w.event.code == 79;
    }
  }
  EXPECT_TRUE(saw_79) << "a storm must not hide another code";
  EXPECT_EQ(total, 1101);
  EXPECT_LE(rest.size(), 3u);
}

TEST_F(KernelLog, the_cursor_waits_for_what_is_only_counted) {
  ring.write(0, xid(95));
  ring.write(0, xid(95));
  ring.write(0, "line");
  KernelLogReader reader = make_reader();
  EXPECT_EQ(read_all(reader).size(), 1u);
  EXPECT_EQ(reader.cursor().seq, 0);
  std::vector<Witness> rest;
  reader.flush([&](Witness w) { rest.push_back(std::move(w)); });
  ASSERT_EQ(rest.size(), 1u);
  EXPECT_EQ(rest[0].seq, 1);
  EXPECT_EQ(reader.cursor().seq, 2);
}

TEST_F(KernelLog, a_count_is_told_at_the_end_of_its_window_without_further_lines) {
  ring.write(0, xid(95));
  ring.write(0, xid(95));
  KernelLogReader reader = make_reader();
  EXPECT_EQ(read_all(reader).size(), 1u);
  const Instant before = now;
  EXPECT_EQ(read_all(reader, seconds(60)).size(), 1u);
  EXPECT_LE(now - before, seconds(1));
}

TEST_F(KernelLog, a_flood_leaves_the_loop_its_turn) {
  for (int i = 0; i < 2500; ++i) ring.write(0, "line");
  KernelLogReader reader = make_reader();
  const auto ignore = [](Witness) {};
  EXPECT_TRUE(reader.poll({}, ignore));
  EXPECT_EQ(reader.cursor().seq, 999);
  EXPECT_TRUE(reader.poll({}, ignore));
  EXPECT_FALSE(reader.poll({}, ignore));
}

/// A FIFO is no character device and ends when its writer goes: both must be borne.
TEST(KmsgSource, a_pipe_is_a_source_and_its_end_is_a_loss) {
  const std::string folder = ::testing::TempDir() + "kmsg_" + std::to_string(getpid());
  ASSERT_EQ(mkdir(folder.c_str(), 0700), 0);
  const std::string pipe = folder + "/kmsg";
  const std::string boot = folder + "/boot_id";
  std::ofstream(boot) << "boot-x\n";
  const auto source = make_kmsg_source({.log = pipe, .boot_id = boot});
  EXPECT_FALSE(source->open()) << "nothing there yet";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const auto id = source->open();
  ASSERT_TRUE(id);
  EXPECT_EQ(*id, "boot-x");
  const int writer = open(pipe.c_str(), O_WRONLY | O_CLOEXEC);
  ASSERT_GE(writer, 0);
  EXPECT_EQ(source->read().state, RecordSource::State::empty);
  const std::string line = "4,0,1,-;hello\n";
  ASSERT_EQ(write(writer, line.data(), line.size()), static_cast<ssize_t>(line.size()));
  source->wait(seconds(5));
  const auto got = source->read();
  EXPECT_EQ(got.state, RecordSource::State::record);
  EXPECT_EQ(got.bytes, line);
  close(writer);
  source->wait(seconds(5));
  EXPECT_EQ(source->read().state, RecordSource::State::lost);
  source->close();
  EXPECT_EQ(source->read().state, RecordSource::State::lost);
  unlink(pipe.c_str());
  unlink(boot.c_str());
  rmdir(folder.c_str());
}

/// One descriptor per line: the kernel drops silently after ten lines of one descriptor.
bool write_kmsg(const std::string& text) {
  const int fd = open("/dev/kmsg", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const std::string line = "<5>" + text + "\n";
  const bool done = write(fd, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  close(fd);
  return done;
}

/// The real ring is shared with the whole machine: lines are told apart by a nonce.
TEST(RealKernelLog, what_is_written_to_dev_kmsg_is_seen_once_as_user_space) {
  std::int64_t ticks = 0;
  const auto now = [&] { return Instant{ticks += 1000}; };
  const std::string nonce =
      "nonce-" + std::to_string(getpid()) + "-" + std::to_string(time(nullptr));
  if (!write_kmsg("tundish test " + nonce)) GTEST_SKIP() << "/dev/kmsg is not writable here";
  std::vector<Witness> mine;
  const auto keep = [&](Witness w) {
    if (w.event.text.find(nonce) != std::string::npos) mine.push_back(std::move(w));
  };
  KernelLogReader first(make_kmsg_source({}), {}, now);
  while (first.poll({}, keep)) {
  }
  ASSERT_TRUE(write_kmsg("NVRM: Xid (PCI:0000:3b:00): 13, pid=1, name=x, " + nonce));
  ASSERT_TRUE(write_kmsg("quoted NVRM: Xid (PCI:0000:3b:00): 79, " + nonce));
  ASSERT_TRUE(write_kmsg("NVRM: The NVIDIA GPU 0000:3b:00.0\nNVRM: fallen off the bus " + nonce));
  for (int i = 0; i < 50 && mine.size() < 2; ++i) first.poll(milliseconds(100), keep);
  ASSERT_EQ(mine.size(), 2u);
  EXPECT_EQ(mine[0].event.code, 13);
  EXPECT_EQ(mine[0].provenance, Provenance::userspace);
  EXPECT_EQ(mine[1].event.kind, KernelEventKind::fallen_off_bus);
  EXPECT_EQ(mine[1].event.device, "0000:3b:00");
  first.flush(keep);
  mine.clear();
  KernelLogReader second(make_kmsg_source({}), first.cursor(), now);
  while (second.poll({}, keep)) {
  }
  EXPECT_TRUE(mine.empty()) << "a restart tells nothing twice";
  KernelLogCursor before = first.cursor();
  before.boot_id = "another boot";
  KernelLogReader third(make_kmsg_source({}), before, now);
  while (third.poll({}, keep)) {
  }
  EXPECT_EQ(mine.size(), 2u) << "another boot's cursor means nothing in this one";
}

}  // namespace
}  // namespace tundish
