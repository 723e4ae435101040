#include "runtime/store_sqlite/schema.hpp"

#include <gtest/gtest.h>

#include "runtime/store_sqlite/chain.hpp"

namespace tundish::store_sqlite {
namespace {

constexpr Migration first_version[] = {{1, "CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT);"
                                           "CREATE TABLE racks(name TEXT)"}};
constexpr Migration second_version[] = {
    first_version[0], {2, "ALTER TABLE racks ADD COLUMN site TEXT DEFAULT 's1'"}};
constexpr Migration broken_version[] = {
    first_version[0],
    second_version[1],
    {3, "CREATE TABLE sites(name TEXT); INSERT INTO absent VALUES (1)"}};

SQLite::Database make_empty() {
  return SQLite::Database(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
}

TEST(Migrate, leads_an_empty_file_through_every_step) {
  auto database = make_empty();
  EXPECT_EQ(read_schema_version(database).value(), 0);
  ASSERT_TRUE(migrate(database, second_version).has_value());
  EXPECT_EQ(read_schema_version(database).value(), 2);
  EXPECT_TRUE(database.tableExists("racks"));
}

TEST(Migrate, runs_only_the_missing_steps_and_keeps_rows) {
  auto database = make_empty();
  ASSERT_TRUE(migrate(database, first_version).has_value());
  EXPECT_EQ(read_schema_version(database).value(), 1);
  database.exec("INSERT INTO racks VALUES ('r1')");
  ASSERT_TRUE(migrate(database, second_version).has_value());
  ASSERT_TRUE(migrate(database, second_version).has_value());
  EXPECT_EQ(database.execAndGet("SELECT name || site FROM racks").getString(), "r1s1");
  EXPECT_EQ(read_schema_version(database).value(), 2);
}

TEST(Migrate, a_failing_step_leaves_the_version_before_it) {
  auto database = make_empty();
  const auto failed = migrate(database, broken_version);
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(read_schema_version(database).value(), 2);
  EXPECT_FALSE(database.tableExists("sites"));
}

TEST(Migrate, refuses_a_newer_store) {
  auto database = make_empty();
  ASSERT_TRUE(migrate(database, second_version).has_value());
  const auto refused = migrate(database, first_version);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, Code::unsupported);
  EXPECT_EQ(read_schema_version(database).value(), 2);
}

TEST(Migrate, the_steps_of_this_program_are_numbered_from_one) {
  int expected = 0;
  for (const auto& step : migrations()) EXPECT_EQ(step.to, ++expected);
  auto database = make_empty();
  ASSERT_TRUE(migrate(database, migrations()).has_value());
  EXPECT_EQ(read_schema_version(database).value(), expected);
}

TEST(Chain, the_hash_is_part_of_the_stored_format) {
  HistoryEntry entry;
  entry.revision = 7;
  entry.at = Instant{1000001};
  entry.actor = "user:ann";
  entry.operation = "claim_node";
  entry.object = "node/n1";
  entry.reason = "xid 79";
  entry.outcome = "done";
  entry.previous_hash = "00ff";
  // Computed with Python: sha256 of struct.pack('>Q', length) + text of each field.
  EXPECT_EQ(hash_entry(3, entry),
            "1509bb4f3d2b324fe34ec7393b5cb081c2e9c3f227ace147ad0d588f85c66a75");
}

TEST(Chain, no_field_can_lend_a_byte_to_its_neighbour) {
  HistoryEntry entry;
  entry.actor = "ab";
  entry.operation = "c";
  HistoryEntry shifted;
  shifted.actor = "a";
  shifted.operation = "bc";
  EXPECT_NE(hash_entry(1, entry), hash_entry(1, shifted));
  EXPECT_NE(hash_entry(1, entry), hash_entry(2, entry));
  entry.hash = "not part of it";
  HistoryEntry same = entry;
  same.hash.clear();
  EXPECT_EQ(hash_entry(1, entry), hash_entry(1, same));
}

}  // namespace
}  // namespace tundish::store_sqlite
