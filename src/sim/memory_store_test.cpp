#include "sim/memory_store.hpp"

#include <gtest/gtest.h>

namespace tundish::sim {
namespace {

Batch make_batch(std::int64_t revision) {
  Rack rack;
  rack.id = Id<Rack>("rack-" + std::to_string(revision));
  rack.meta.revision = revision;
  HistoryEntry entry;
  entry.revision = revision;
  entry.object = "rack/" + rack.id.str();
  Batch batch;
  batch.changes = {{"rack", rack.id.str(), revision, std::make_shared<Holder<Rack>>(rack)}};
  batch.history = {entry};
  return batch;
}

int count_objects(MemoryStore& store) {
  int count = 0;
  EXPECT_TRUE(store
                  .load([&](const ObjectBase&) -> Result<> {
                    ++count;
                    return {};
                  })
                  .has_value());
  return count;
}

TEST(MemoryStore, a_lost_commit_leaves_nothing_and_the_next_one_works) {
  MemoryStore store;
  store.fail_commit_after(1, CommitFault::lost);
  ASSERT_TRUE(store.commit(make_batch(1)).has_value());
  const auto lost = store.commit(make_batch(2));
  ASSERT_FALSE(lost.has_value());
  EXPECT_EQ(lost.error().code, Code::unavailable);
  EXPECT_EQ(count_objects(store), 1);
  EXPECT_EQ(store.head().revision, 1);
  ASSERT_TRUE(store.commit(make_batch(2)).has_value());
  EXPECT_EQ(count_objects(store), 2);
  EXPECT_EQ(store.commits(), 2);
  EXPECT_TRUE(store.verify_history()->intact);
}

TEST(MemoryStore, a_commit_may_be_done_and_reported_lost) {
  MemoryStore store;
  store.fail_commit_after(0, CommitFault::done_but_reported_lost);
  EXPECT_FALSE(store.commit(make_batch(1)).has_value());
  EXPECT_EQ(count_objects(store), 1);
  EXPECT_EQ(store.head().revision, 1);
  // A writer that repeats instead of loading anew is told.
  EXPECT_EQ(store.commit(make_batch(1)).error().code, Code::conflict);
  EXPECT_TRUE(store.commit(make_batch(2)).has_value());
  EXPECT_TRUE(store.verify_history()->intact);
}

TEST(MemoryStore, a_refused_commit_does_not_use_up_the_fault) {
  MemoryStore store;
  ASSERT_TRUE(store.commit(make_batch(5)).has_value());
  store.fail_commit_after(0, CommitFault::lost);
  EXPECT_EQ(store.commit(make_batch(5)).error().code, Code::conflict);
  EXPECT_EQ(store.commit(make_batch(6)).error().code, Code::unavailable);
}

TEST(MemoryStore, what_it_keeps_is_a_copy) {
  MemoryStore store;
  Batch batch = make_batch(1);
  ASSERT_TRUE(store.commit(batch).has_value());
  dynamic_cast<Holder<Rack>&>(*batch.changes[0].body).value.meta.name = "changed later";
  EXPECT_EQ(store.find_body("rack", "rack-1").find("changed later"), std::string::npos);
}

}  // namespace
}  // namespace tundish::sim
