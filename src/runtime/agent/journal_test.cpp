// Spool and journal of results under every crash: a cut at any byte replays to a prefix.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "runtime/agent/result_journal.hpp"
#include "runtime/agent/spool.hpp"
#include "runtime/process/process.hpp"

namespace tundish::agent {
namespace {
namespace fs = std::filesystem;

class JournalTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/tundish-journal-XXXXXX";
    folder_ = ::mkdtemp(name);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  static void write(const std::string& file, const std::string& content) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << content;
  }
  static std::string read(const std::string& file) { return *process::read_file(file); }
  std::string folder_;
};

Witness witness_of(int seq, int code) {
  Witness witness;
  witness.source = "kmsg";
  witness.boot_id = "boot";
  witness.seq = seq;
  witness.id = "boot/kmsg/" + std::to_string(seq);
  witness.event.kind = KernelEventKind::xid;
  witness.event.code = code;
  witness.event.device = "0000:3b:00";
  return witness;
}

KernelLogCursor cursor_at(int seq) {
  KernelLogCursor cursor;
  cursor.boot_id = "boot";
  cursor.seq = seq;
  return cursor;
}

std::vector<std::string> replay(const std::string& file) {
  std::vector<std::string> out;
  const auto opened = JournalFile::open(
      file, [&](std::string_view payload, JournalFile::Place) { out.emplace_back(payload); });
  EXPECT_TRUE(opened.has_value());
  return out;
}

TEST_F(JournalTest, EveryCutReplaysToAPrefix) {
  const std::vector<std::string> lines = {"one", "", "three three", "{\"four\":4}"};
  {
    auto file = JournalFile::open(path("j"), [](std::string_view, JournalFile::Place) {});
    for (const auto& line : lines) ASSERT_TRUE(file->append({line}).has_value());
  }
  const std::string whole = read(path("j"));
  for (std::size_t cut = 0; cut <= whole.size(); ++cut) {
    write(path("cut"), whole.substr(0, cut));
    const auto got = replay(path("cut"));
    ASSERT_LE(got.size(), lines.size());
    for (std::size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], lines[i]) << cut;
    const auto complete = static_cast<std::size_t>(
        std::count(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(cut), '\n'));
    ASSERT_EQ(got.size(), complete) << "an append that returned was lost at " << cut;
  }
  EXPECT_EQ(replay(path("j")), lines);
}

TEST_F(JournalTest, AnAppendAfterACutIsReadable) {
  {
    auto file = JournalFile::open(path("j"), [](std::string_view, JournalFile::Place) {});
    ASSERT_TRUE(file->append({"one", "two"}).has_value());
  }
  const std::string whole = read(path("j"));
  write(path("j"), whole.substr(0, whole.size() - 3));
  {
    auto file = JournalFile::open(path("j"), [](std::string_view, JournalFile::Place) {});
    ASSERT_TRUE(file->append({"three"}).has_value());
  }
  EXPECT_EQ(replay(path("j")), (std::vector<std::string>{"one", "three"}));
}

TEST_F(JournalTest, EveryFlippedByteReplaysToAPrefixAndIsKeptAside) {
  {
    auto file = JournalFile::open(path("j"), [](std::string_view, JournalFile::Place) {});
    ASSERT_TRUE(file->append({"one", "two", "three"}).has_value());
  }
  const std::string whole = read(path("j"));
  const std::vector<std::string> lines = {"one", "two", "three"};
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string bad = whole;
    bad[at] = static_cast<char>(bad[at] ^ 0x41);
    write(path("bad"), bad);
    const auto got = replay(path("bad"));
    for (std::size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], lines[i]) << at;
    ASSERT_LT(got.size(), lines.size());
  }
  EXPECT_TRUE(fs::exists(path("bad.corrupt")));
}

TEST_F(JournalTest, SpoolAtEveryCutHoldsWhatItsCursorSays) {
  std::vector<std::size_t> ends;
  {
    auto spool = Spool::open(path("s"), {});
    for (int i = 0; i < 4; ++i) {
      ASSERT_TRUE((*spool)->add({witness_of(i, 79)}, cursor_at(i)).has_value());
      ends.push_back(fs::file_size(path("s")));
    }
    ASSERT_TRUE((*spool)->acknowledge({"boot/kmsg/0"}).has_value());
  }
  const std::string whole = read(path("s"));
  ends.push_back(whole.size());
  // Every length within some bytes of an end of a write, and a sample of those between.
  std::set<std::size_t> cuts;
  for (std::size_t cut = 0; cut < whole.size(); cut += 41) cuts.insert(cut);
  for (const std::size_t end : ends) {
    for (std::size_t cut = end - 30; cut <= std::min(end + 30, whole.size()); ++cut) {
      cuts.insert(cut);
    }
  }
  ends.pop_back();
  for (const std::size_t cut : cuts) {
    write(path("cut"), whole.substr(0, cut));
    auto spool = Spool::open(path("cut"), {});
    ASSERT_TRUE(spool.has_value());
    const auto cursor = (*spool)->cursor();
    const auto waiting = (*spool)->oldest({});
    // Nothing up to the cursor may be missing, or it would never be told.
    const std::int64_t first = cut == whole.size() ? 1 : 0;
    ASSERT_GE(static_cast<std::int64_t>(waiting.size()), cursor.seq + 1 - first) << cut;
    for (const auto& witness : waiting) ASSERT_EQ(witness.event.code, 79);
    for (std::size_t i = 0; i < ends.size(); ++i) {
      if (cut >= ends[i]) {
        ASSERT_GE(cursor.seq, static_cast<std::int64_t>(i));
      }
    }
  }
}

TEST_F(JournalTest, FullSpoolFoldsRepeatsAndKeepsWhatIsDistinct) {
  std::int64_t sightings = 0;
  {
    auto spool = Spool::open(path("s"), {64 << 10, 16 << 10});
    for (int i = 0; i < 500; ++i) {
      ASSERT_TRUE((*spool)->add({witness_of(i, i % 10 == 9 ? 31 : 79)}, cursor_at(i)).has_value());
      if (i == 3) {
        ASSERT_TRUE((*spool)->add({witness_of(1000, 48)}, cursor_at(i)).has_value());
      }
    }
    EXPECT_GT((*spool)->folded(), 0);
    EXPECT_EQ((*spool)->lost(), 0);
    EXPECT_LE(fs::file_size(path("s")), 80U << 10);
  }
  auto spool = Spool::open(path("s"), {64 << 10, 16 << 10});
  bool has_48 = false;
  for (const auto& witness : (*spool)->oldest({10000, 100 << 20})) {
    sightings += witness.repeat;
    has_48 = has_48 || witness.event.code == 48;
  }
  EXPECT_EQ(sightings, 501) << "folded sightings are counted in the one that is left";
  EXPECT_TRUE(has_48);
  EXPECT_EQ((*spool)->cursor().seq, 499);
}

TEST_F(JournalTest, ForgeableWitnessesAreGivenUpFirst) {
  auto spool = Spool::open(path("s"), {64 << 10, 8 << 10});
  ASSERT_TRUE((*spool)->add({witness_of(0, 79)}, cursor_at(0)).has_value());
  for (int i = 1; i < 200; ++i) {
    Witness made_up = witness_of(i, i + 1000);
    made_up.provenance = Provenance::userspace;
    ASSERT_TRUE((*spool)->add({made_up}, cursor_at(i)).has_value());
  }
  EXPECT_GT((*spool)->lost(), 0);
  EXPECT_EQ((*spool)->oldest({1, 1 << 20})[0].event.code, 79);
}

TEST_F(JournalTest, AcknowledgedAndRepeatedWitnessesAreNotSentAgain) {
  auto spool = Spool::open(path("s"), {});
  ASSERT_TRUE((*spool)->add({witness_of(0, 79), witness_of(1, 79)}, cursor_at(1)).has_value());
  ASSERT_TRUE((*spool)->add({witness_of(1, 79)}, cursor_at(1)).has_value());
  EXPECT_EQ((*spool)->size(), 2U);
  ASSERT_TRUE((*spool)->acknowledge({"boot/kmsg/0", "never heard of"}).has_value());
  ASSERT_EQ((*spool)->size(), 1U);
  EXPECT_EQ((*spool)->oldest({})[0].seq, 1);
}

VerbResult result_of(const std::string& key) {
  VerbResult result;
  result.key = key;
  result.ok = true;
  return result;
}

TEST_F(JournalTest, ResultsAtEveryCutAreAPrefixAndWaitForTheirReceipt) {
  {
    auto journal = ResultJournal::open(path("r"));
    for (const char* const key : {"a", "b", "c"}) {
      ASSERT_TRUE((*journal)->begin(key).has_value());
      ASSERT_TRUE((*journal)->finish(result_of(key)).has_value());
    }
    ASSERT_TRUE((*journal)->begin("d").has_value());
  }
  const std::string whole = read(path("r"));
  for (std::size_t cut = 0; cut <= whole.size(); ++cut) {
    write(path("cut"), whole.substr(0, cut));
    auto journal = ResultJournal::open(path("cut"));
    ASSERT_TRUE(journal.has_value());
    const auto waiting = (*journal)->waiting(1 << 20);
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      ASSERT_EQ(waiting[i].key, std::string(1, static_cast<char>('a' + i)));
    }
    ASSERT_LE((*journal)->interrupted().size(), 1U);
  }
  auto journal = ResultJournal::open(path("r"));
  EXPECT_EQ((*journal)->interrupted(), std::vector<std::string>{"d"});
  EXPECT_FALSE((*journal)->repeat("d")) << "an act without result is done again";
}

TEST_F(JournalTest, AStoredFailureMayBeTriedAgain) {
  auto journal = ResultJournal::open(path("r"));
  VerbResult failed = result_of("k");
  failed.ok = false;
  ASSERT_TRUE((*journal)->finish(failed).has_value());
  EXPECT_TRUE((*journal)->repeat("k")) << "not before tundishd knows of it";
  ASSERT_TRUE((*journal)->acknowledge({"k"}).has_value());
  EXPECT_FALSE((*journal)->repeat("k"));
}

TEST_F(JournalTest, OnlyTheLastResultsAreKeptButNoneThatWaits) {
  auto journal = ResultJournal::open(path("r"), 10);
  for (int i = 0; i < 50; ++i) {
    const std::string key = std::to_string(i);
    ASSERT_TRUE((*journal)->finish(result_of(key)).has_value());
    if (i != 7) {
      ASSERT_TRUE((*journal)->acknowledge({key}).has_value());
    }
  }
  EXPECT_TRUE((*journal)->repeat("49"));
  EXPECT_TRUE((*journal)->repeat("7"));
  EXPECT_FALSE((*journal)->repeat("8"));
}

}  // namespace
}  // namespace tundish::agent
