// What every store owes to the ledger, whatever it is made of.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store_fixture.hpp"

namespace tundish::contract {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<std::string> reasons_of(Result<std::vector<HistoryEntry>> entries) {
  std::vector<std::string> out;
  if (!entries) return {entries.error().message()};
  for (const auto& entry : *entries) out.push_back(entry.reason);
  return out;
}

template <class Disk>
class StoreContract : public testing::Test {
 protected:
  Store& open() { return disk_.open(); }
  Store& reopen() {
    disk_.close();
    return disk_.open();
  }
  Disk disk_;
};

using Disks = testing::Types<SqliteDisk, MemoryDisk>;
TYPED_TEST_SUITE(StoreContract, Disks);

TYPED_TEST(StoreContract, a_new_store_is_empty_and_intact) {
  Store& store = this->open();
  EXPECT_EQ(store.head().revision, 0);
  EXPECT_EQ(store.head().epoch, 1);
  EXPECT_FALSE(store.head().newest.is_set());
  EXPECT_THAT(read_all(store), IsEmpty());
  EXPECT_EQ(find_fault(store), "");
}

TYPED_TEST(StoreContract, objects_come_back_as_they_were_committed) {
  Author author(this->open());
  Node node;
  node.id = NodeId("node-7");
  node.meta.name = "n07";
  node.meta.tenant = Id<Tenant>("tenant-a");
  node.meta.created_at = Instant{1234567};
  node.spec.ports = {Port{"eth0", PortRole::access, "02:00:00:00:00:01", "leaf1", "swp1", 3}};
  node.status.phase = NodePhase::assigned;
  node.status.step = Step();
  author.put(author.make_rack("r1")).put(node).note("node/n07");
  const Batch batch = author.take();
  std::vector<std::string> written;
  for (const auto& change : batch.changes) {
    written.push_back(change.kind + "/" + change.id + " " + render_json(*change.body));
  }
  ASSERT_TRUE(this->open().commit(batch).has_value());
  std::sort(written.begin(), written.end());
  EXPECT_EQ(read_all(this->reopen()), written);
}

TYPED_TEST(StoreContract, names_may_hold_any_character) {
  const std::string nul("a\0b", 3);
  const std::vector<std::string> names = {"it's \"quoted\"; DROP TABLE objects; --", nul,
                                          "Zürich 機架 🖥", "line\nbreak\ttab", "%_?*\\"};
  Author author(this->open());
  for (const auto& name : names) {
    author.put(author.make_rack(name)).note("rack/" + name, name);
  }
  ASSERT_TRUE(author.commit().has_value());
  Store& store = this->reopen();
  std::vector<std::string> found;
  ASSERT_TRUE(store
                  .load([&](const ObjectBase& object) -> Result<> {
                    found.push_back(object.meta().name);
                    return {};
                  })
                  .has_value());
  EXPECT_EQ(found, names);
  EXPECT_EQ(reasons_of(store.history({})), names);
  HistoryQuery only;
  only.object = "rack/" + nul;
  EXPECT_EQ(reasons_of(store.history(only)), std::vector<std::string>{nul});
  EXPECT_EQ(find_fault(store), "");
}

TYPED_TEST(StoreContract, the_last_write_stays_and_a_deleted_object_is_gone) {
  Author author(this->open());
  Rack first = author.make_rack("first");
  author.put(first);
  const Rack second = author.make_rack("second");
  author.put(second);
  ASSERT_TRUE(author.commit().has_value());
  first.meta.name = "renamed";
  author.put(first).erase(second.id).erase(Id<Rack>("rack-never-there"));
  ASSERT_TRUE(author.commit().has_value());
  const auto all = read_all(this->reopen());
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_THAT(all[0], HasSubstr("renamed"));
}

TYPED_TEST(StoreContract, order_within_a_batch_counts) {
  Author author(this->open());
  Rack rack = author.make_rack("one");
  author.put(rack).erase(rack.id);
  Rack other = author.make_rack("other");
  author.erase(other.id).put(other);
  ASSERT_TRUE(author.commit().has_value());
  const auto all = read_all(this->reopen());
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_THAT(all[0], HasSubstr("\"other\""));
}

TYPED_TEST(StoreContract, a_refused_batch_leaves_nothing) {
  write_five(this->open());
  Store& store = this->open();
  const auto before = read_all(store);
  const StoreHead head = store.head();
  Author author(store);
  Rack bad = author.make_rack("bad");
  author.put(author.make_rack("good")).note("rack/good");
  bad.id = Id<Rack>("rack-\xff");
  author.put(bad);
  const auto refused = author.commit();
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, Code::invalid);
  Store& again = this->reopen();
  EXPECT_EQ(read_all(again), before);
  EXPECT_EQ(again.head().revision, head.revision);
  EXPECT_THAT(reasons_of(again.history({})), SizeIs(5));
  EXPECT_EQ(find_fault(again), "");
}

TYPED_TEST(StoreContract, a_writer_that_missed_the_latest_state_is_refused) {
  Author late(this->open());
  Rack stale = late.make_rack("stale");
  write_five(this->open());
  const auto before = read_all(this->open());
  const auto refused = late.put(stale).note("rack/stale").commit();
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, Code::conflict);
  EXPECT_EQ(read_all(this->reopen()), before);
}

TYPED_TEST(StoreContract, the_head_never_goes_back) {
  Store& store = this->open();
  write_five(store);
  EXPECT_EQ(store.head().revision, 5);
  EXPECT_EQ(store.head().newest, Instant{1005});
  Batch batch;
  HistoryEntry old;
  old.revision = 2;
  old.at = Instant{7};
  old.outcome = "refused: denied no";
  batch.history = {old};
  ASSERT_TRUE(store.commit(batch).has_value());
  ASSERT_TRUE(store.commit(Batch()).has_value());
  Store& again = this->reopen();
  EXPECT_EQ(again.head().revision, 5);
  EXPECT_EQ(again.head().newest, Instant{1005});
  EXPECT_EQ(again.head().epoch, 1);
  EXPECT_EQ(find_fault(again), "");
}

TYPED_TEST(StoreContract, a_deletion_moves_the_head_too) {
  Author author(this->open());
  const Rack rack = author.make_rack("r");
  author.put(rack);
  ASSERT_TRUE(author.commit().has_value());
  ASSERT_TRUE(author.erase(rack.id).commit().has_value());
  EXPECT_EQ(this->reopen().head().revision, 2);
}

TYPED_TEST(StoreContract, history_is_in_order_and_filtered) {
  Store& store = this->open();
  Author author(store);
  author.note("node/n1", "a").note("node/n2", "b").note("rack/r1", "c");
  ASSERT_TRUE(author.commit().has_value());
  author.note("node/n1", "d").note("node", "e");
  ASSERT_TRUE(author.commit().has_value());
  EXPECT_THAT(reasons_of(store.history({})), ElementsAre("a", "b", "c", "d", "e"));
  HistoryQuery query;
  query.newest_first = true;
  query.limit = 2;
  EXPECT_THAT(reasons_of(store.history(query)), ElementsAre("e", "d"));
  query = {};
  query.after = 1;
  query.limit = 3;
  EXPECT_THAT(reasons_of(store.history(query)), ElementsAre("b", "c", "d"));
  query = {};
  query.object = "node/";
  EXPECT_THAT(reasons_of(store.history(query)), ElementsAre("a", "b", "d"));
  query.newest_first = true;
  query.after = 1;
  EXPECT_THAT(reasons_of(store.history(query)), ElementsAre("d", "b"));
  query = {};
  query.newest_first = true;
  query.limit = 2;
  query.before = store.history(query)->back().sequence;  // the page after ("e", "d")
  EXPECT_EQ(query.before, 4);
  EXPECT_THAT(reasons_of(store.history(query)), ElementsAre("c", "b"));
  query = {};
  query.object = "tenant/";
  EXPECT_THAT(reasons_of(store.history(query)), IsEmpty());
  query = {};
  query.limit = -1;
  EXPECT_FALSE(store.history(query).has_value());
}

TYPED_TEST(StoreContract, every_field_of_an_entry_comes_back_and_hashes_are_the_stores) {
  Author author(this->open());
  author.put(author.make_rack("r")).note("rack/r", "why");
  Batch batch = author.take();
  batch.history[0].hash = "forged";
  batch.history[0].previous_hash = "forged";
  batch.history.push_back(batch.history[0]);
  ASSERT_TRUE(this->open().commit(batch).has_value());
  const auto entries = this->reopen().history({});
  ASSERT_TRUE(entries.has_value());
  ASSERT_THAT(*entries, SizeIs(2));
  const HistoryEntry& entry = (*entries)[0];
  EXPECT_EQ(entry.revision, 1);
  EXPECT_EQ(entry.at, Instant{1001});
  EXPECT_EQ(entry.actor, "user:ann");
  EXPECT_EQ(entry.operation, "rename_rack");
  EXPECT_EQ(entry.object, "rack/r");
  EXPECT_EQ(entry.outcome, "done");
  EXPECT_EQ(entry.previous_hash, "");
  EXPECT_NE(entry.hash, "forged");
  EXPECT_EQ((*entries)[1].previous_hash, entry.hash);
  EXPECT_NE((*entries)[1].hash, entry.hash);
}

TYPED_TEST(StoreContract, verify_counts_and_names_the_end) {
  write_five(this->open());
  const auto report = this->open().verify_history();
  const auto entries = this->open().history({});
  ASSERT_TRUE(report.has_value() && entries.has_value());
  EXPECT_TRUE(report->intact);
  EXPECT_EQ(report->entries, 5);
  EXPECT_EQ(report->last_hash, entries->back().hash);
}

TYPED_TEST(StoreContract, verify_names_the_first_entry_that_does_not_fit) {
  for (const Tamper how : {Tamper::edit_reason, Tamper::delete_middle, Tamper::cut_tail,
                           Tamper::forge_hash}) {
    TypeParam disk;
    write_five(disk.open());
    disk.tamper(how);
    EXPECT_THAT(find_fault(disk.open()), HasSubstr("entry 3")) << static_cast<int>(how);
  }
}

TYPED_TEST(StoreContract, ten_thousand_objects_in_one_batch) {
  Author author(this->open());
  for (int i = 0; i < 10000; ++i) {
    author.put(author.make_rack("r" + std::to_string(i)));
  }
  author.note("site/s", "import");
  ASSERT_TRUE(author.commit().has_value());
  Store& store = this->reopen();
  EXPECT_THAT(read_all(store), SizeIs(10000));
  EXPECT_EQ(store.head().revision, 10000);
}

TYPED_TEST(StoreContract, fields_of_a_newer_version_survive_a_rewrite) {
  const auto plant = [this] {
    this->disk_.close();
    this->disk_.plant("rack", "rack-x",
                      R"({"id":"rack-x","spec":{"site":"s","cooling":"water"},"liquid":[1,2]})");
  };
  const auto rewrite = [](Store& store, Rack rack) {
    rack.spec.site = "moved";
    ASSERT_TRUE(Author(store).put(rack).commit().has_value());
  };
  Rack rack;
  rack.id = Id<Rack>("rack-x");
  for (const bool is_loaded : {true, false}) {
    this->open();
    plant();
    Store& store = this->open();
    if (is_loaded) {
      ASSERT_THAT(read_all(store), SizeIs(1));
    }
    rewrite(store, rack);
    rewrite(store, rack);
    const std::string body = this->disk_.find_body("rack", "rack-x");
    EXPECT_THAT(body, HasSubstr("\"site\":\"moved\""));
    EXPECT_THAT(body, HasSubstr("\"cooling\":\"water\""));
    EXPECT_THAT(body, HasSubstr("\"liquid\":[1,2]"));
  }
}

TYPED_TEST(StoreContract, a_kind_of_a_newer_version_stays_and_is_not_handed_over) {
  write_five(this->open());
  this->disk_.close();
  this->disk_.plant("quantum_node", "q-1", R"({"id":"q-1","qubits":7})");
  Store& store = this->open();
  EXPECT_THAT(read_all(store), SizeIs(5));
  Author author(store);
  ASSERT_TRUE(author.put(author.make_rack("r6")).commit().has_value());
  this->disk_.close();
  EXPECT_EQ(this->disk_.find_body("quantum_node", "q-1"), R"({"id":"q-1","qubits":7})");
}

TYPED_TEST(StoreContract, a_damaged_object_stops_the_load_and_is_named) {
  const std::vector<std::string> bodies = {
      R"({"id":"rack-x")", "[]", R"({"id":"rack-y"})",
      R"({"id":"rack-x","meta":{"version":"v"}})"};
  for (const auto& body : bodies) {
    this->open();
    this->disk_.close();
    this->disk_.plant("rack", "rack-x", body);
    const auto loaded = this->open().load([](const ObjectBase&) { return Result<>(); });
    ASSERT_FALSE(loaded.has_value()) << body;
    EXPECT_EQ(loaded.error().code, Code::corrupt) << body;
    EXPECT_EQ(loaded.error().object, "rack/rack-x") << body;
  }
}

TYPED_TEST(StoreContract, an_error_of_the_taker_ends_the_load) {
  write_five(this->open());
  int taken = 0;
  const auto loaded = this->open().load([&](const ObjectBase&) -> Result<> {
    if (++taken == 2) return make_error(Code::internal, "enough");
    return {};
  });
  ASSERT_FALSE(loaded.has_value());
  EXPECT_EQ(loaded.error().what, "enough");
  EXPECT_EQ(taken, 2);
}

TYPED_TEST(StoreContract, a_backup_holds_its_moment_and_replaces_nothing) {
  Store& store = this->open();
  write_five(store);
  const auto then = read_all(store);
  const std::string name = this->disk_.backup_name("b1");
  ASSERT_TRUE(store.backup(name).has_value());
  Author author(store);
  ASSERT_TRUE(author.put(author.make_rack("later")).note("rack/later").commit().has_value());
  const auto again = store.backup(name);
  ASSERT_FALSE(again.has_value());
  EXPECT_EQ(again.error().code, Code::conflict);
  const auto backup = this->disk_.open_backup(name);
  EXPECT_EQ(read_all(*backup), then);
  EXPECT_EQ(backup->head().revision, 5);
  EXPECT_EQ(find_fault(*backup), "");
  EXPECT_THAT(read_all(store), SizeIs(6));
}

TYPED_TEST(StoreContract, a_restored_store_is_fenced_and_on_hold) {
  Store& store = this->open();
  write_five(store);
  const std::string name = this->disk_.backup_name("b1");
  ASSERT_TRUE(store.backup(name).has_value());
  Author author(store);
  for (int i = 0; i < 100; ++i) author.put(author.make_rack("lost"));
  ASSERT_TRUE(author.commit().has_value());
  const std::int64_t lost_revision = author.revision();

  std::int64_t revision = lost_revision;
  for (const std::int64_t epoch : {2, 3}) {
    const auto done = this->disk_.restore(name);
    ASSERT_TRUE(done.has_value()) << done.error().message();
    Store& restored = this->open();
    EXPECT_EQ(restored.head().epoch, epoch);
    EXPECT_GE(restored.head().revision, epoch << 40);
    EXPECT_GT(restored.head().revision, revision);
    EXPECT_GT(restored.head().newest, Instant{0});
    const auto all = read_all(restored);
    ASSERT_THAT(all, SizeIs(6));
    EXPECT_THAT(all[0], HasSubstr("hold/hold-"));
    EXPECT_THAT(all[0], HasSubstr("\"scope\":\"*\""));
    EXPECT_THAT(all[0], HasSubstr("restored from backup " + name));
    HistoryQuery last;
    last.newest_first = true;
    last.limit = 1;
    const auto entries = restored.history(last);
    ASSERT_TRUE(entries.has_value());
    EXPECT_EQ(entries->at(0).operation, "restore_store");
    EXPECT_EQ(entries->at(0).revision, restored.head().revision);
    EXPECT_EQ(find_fault(restored), "");
    Author next(restored);
    ASSERT_TRUE(next.put(next.make_rack("new")).note("rack/new").commit().has_value());
    revision = next.revision();
  }
}

TYPED_TEST(StoreContract, a_tampered_backup_is_not_restored) {
  write_five(this->open());
  this->disk_.tamper(Tamper::edit_reason);
  const std::string name = this->disk_.backup_name("b1");
  ASSERT_TRUE(this->open().backup(name).has_value());
  const auto before = read_all(this->open());
  const auto refused = this->disk_.restore(name);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, Code::corrupt);
  EXPECT_THAT(refused.error().what, HasSubstr("entry 3"));
  EXPECT_EQ(read_all(this->open()), before);
  EXPECT_EQ(this->open().head().epoch, 1);
}

}  // namespace
}  // namespace tundish::contract
