#pragma once
// What tests of stores write, and how they read all of it back.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "codec/json.hpp"
#include "model/operation.hpp"
#include "ports/store.hpp"

namespace tundish::contract {

/// Writes what a controller would: numbered revisions from the head up.
class Author {
 public:
  explicit Author(Store& store) : store_(store), revision_(store.head().revision) {}

  Rack make_rack(const std::string& name) {
    Rack rack;
    rack.id = Id<Rack>("rack-" + std::to_string(revision_ + 1));
    rack.meta.name = name;
    return rack;
  }
  template <class T>
  Author& put(T object) {
    object.meta.revision = ++revision_;
    const std::string id = object.id.str();
    batch_.changes.push_back(
        {std::string(T::kind), id, revision_, std::make_shared<Holder<T>>(std::move(object))});
    return *this;
  }
  template <class T>
  Author& erase(const Id<T>& id) {
    batch_.changes.push_back({std::string(T::kind), id.str(), ++revision_, nullptr});
    return *this;
  }
  Author& note(const std::string& object, const std::string& reason = "because") {
    HistoryEntry entry;
    entry.revision = revision_;
    entry.at = Instant{1000 + ++notes_};
    entry.actor = "user:ann";
    entry.operation = "rename_rack";
    entry.object = object;
    entry.reason = reason;
    entry.outcome = "done";
    batch_.history.push_back(std::move(entry));
    return *this;
  }
  Batch take() { return std::exchange(batch_, {}); }
  Result<> commit() { return store_.commit(take()); }
  std::int64_t revision() const { return revision_; }

 private:
  Store& store_;
  std::int64_t revision_;
  std::int64_t notes_ = 0;
  Batch batch_;
};

/// Every object as "kind/id json", in the order of load().
inline std::vector<std::string> read_all(Store& store) {
  std::vector<std::string> out;
  const auto loaded = store.load([&](const ObjectBase& object) -> Result<> {
    out.push_back(std::string(object.kind()) + "/" + object.id() + " " + render_json(object));
    return {};
  });
  EXPECT_TRUE(loaded.has_value()) << loaded.error().message();
  return out;
}

/// Five batches, each a rack and its entry.
inline void write_five(Store& store) {
  Author author(store);
  for (const char* name : {"r1", "r2", "r3", "r4", "r5"}) {
    author.put(author.make_rack(name)).note(std::string("rack/") + name);
    const auto done = author.commit();
    ASSERT_TRUE(done.has_value()) << done.error().message();
  }
}

/// Name of the first fault that the store finds in its history; "" when intact.
inline std::string find_fault(Store& store) {
  const auto report = store.verify_history();
  if (!report) return report.error().message();
  EXPECT_EQ(report->intact, report->fault.empty());
  return report->fault;
}

}  // namespace tundish::contract
