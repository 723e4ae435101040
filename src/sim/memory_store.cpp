#include "sim/memory_store.hpp"

#include <algorithm>
#include <cstdio>

#include "base/log.hpp"
#include "codec/json.hpp"
#include "codec/utf8.hpp"

namespace tundish::sim {
namespace {

constexpr int epoch_shift = 40;  // the fence of restore_store

/// FNV-1a, 64 bit: the simulator needs a chain, not a secure one.
std::string hash_of(std::size_t sequence, const HistoryEntry& entry) {
  std::uint64_t hash = 1469598103934665603ULL;
  const auto add = [&hash](std::string_view text) {
    const std::string framed = std::to_string(text.size()) + ":" + std::string(text);
    for (const char c : framed) {
      hash ^= static_cast<unsigned char>(c);
      hash *= 1099511628211ULL;
    }
  };
  add(std::to_string(sequence));
  add(std::to_string(entry.revision));
  add(std::to_string(entry.at.us));
  for (const auto* text : {&entry.actor, &entry.operation, &entry.object, &entry.reason,
                           &entry.outcome, &entry.previous_hash}) {
    add(*text);
  }
  char hex[17];
  std::snprintf(hex, sizeof hex, "%016llx", static_cast<unsigned long long>(hash));
  return hex;
}

/// A version of its own: what becomes of the writer's object later is not on the disk.
template <class... T>
std::shared_ptr<ObjectBase> copy_of(const ObjectBase& object, const std::tuple<Table<T>...>*) {
  std::shared_ptr<ObjectBase> copy;
  const auto take = [&]<class Kind>(const Kind*) {
    if (copy || object.kind() != Kind::kind) return;
    const auto* holder = dynamic_cast<const Holder<Kind>*>(&object);
    if (holder) copy = std::make_shared<Holder<Kind>>(holder->value);
  };
  (take(static_cast<const T*>(nullptr)), ...);
  return copy;
}

Error lost_error() {
  return make_error(Code::unavailable, "the simulated disk failed").with_remedy("try again");
}

}  // namespace

Result<> MemoryStore::load(const std::function<Result<>(const ObjectBase&)>& take) {
  for (const auto& [key, stored] : disk_.objects) {
    const auto object = make_object(key.first);
    if (!object) {
      log(LogLevel::warn, "store_kind_unknown", {{"kind", key.first}, {"id", key.second}});
      continue;
    }
    const std::string body = text_of(disk_, key, stored);
    const auto read = parse_json(body, *object, Unknown::keep_out);
    if (!read || object->id() != key.second) {
      const std::string why = read ? "its body names another id" : read.error().what;
      return make_error(Code::corrupt, "a stored object is damaged: " + why)
          .about(key.first + "/" + key.second);
    }
    TRY_VOID(take(*object));
  }
  return {};
}

void MemoryStore::append(Disk& disk, HistoryEntry entry) {
  entry.previous_hash = disk.last_hash;
  entry.hash = hash_of(disk.history.size() + 1, entry);
  disk.last_hash = entry.hash;
  disk.head.revision = std::max(disk.head.revision, entry.revision);
  disk.head.newest = std::max(disk.head.newest, entry.at);
  disk.history.push_back(std::move(entry));
  disk.entries = disk.history.size();
}

std::string MemoryStore::text_of(const Disk& disk, const Key& key, const Stored& stored) {
  if (!stored.body) return stored.text;
  std::string text = render_json(*stored.body);
  const auto kept = disk.kept.find(key);
  return kept == disk.kept.end() ? text : merge_json(text, kept->second);
}

void MemoryStore::apply(Disk& disk, const Batch& batch) {
  for (const auto& change : batch.changes) {
    const Key key{change.kind, change.id};
    disk.head.revision = std::max(disk.head.revision, change.revision);
    if (!change.body) {
      disk.objects.erase(key);
      disk.kept.erase(key);
      continue;
    }
    disk.head.newest = std::max(disk.head.newest, change.body->meta().created_at);
    auto copy = copy_of(*change.body, static_cast<const Tables*>(nullptr));
    std::string text = copy ? "" : render_json(*change.body);
    disk.objects[key] = {std::move(copy), std::move(text)};
  }
  for (const auto& entry : batch.history) append(disk, entry);
}

Result<> MemoryStore::commit(const Batch& batch) {
  if (batch.empty()) return {};
  for (const auto& change : batch.changes) {
    if (change.revision <= disk_.head.revision) {
      return make_error(Code::conflict, "revision " + std::to_string(change.revision) +
                                            " is not above the head of the store")
          .about(change.kind + "/" + change.id);
    }
    if (find_invalid_utf8(change.id)) {
      return make_error(Code::invalid, "an id must be UTF-8").about(change.kind + "/" + change.id);
    }
  }
  const bool fails = commits_until_fault_ == 0;
  if (commits_until_fault_ >= 0) --commits_until_fault_;
  if (fails && fault_ == CommitFault::lost) return lost_error();
  apply(disk_, batch);
  ++commits_;
  if (listener_) listener_(batch);
  if (fails) return lost_error();
  return {};
}

Result<std::vector<HistoryEntry>> MemoryStore::history(const HistoryQuery& query) {
  if (query.limit < 0) return make_error(Code::invalid, "limit must not be negative");
  std::vector<HistoryEntry> out;
  std::int64_t size = static_cast<std::int64_t>(disk_.history.size());
  if (query.before > 0) size = std::min(size, query.before - 1);
  for (std::int64_t i = std::max<std::int64_t>(query.after, 0); i < size; ++i) {
    const auto& entry = disk_.history[static_cast<std::size_t>(i)];
    if (!entry.object.starts_with(query.object)) continue;
    out.push_back(entry);
    out.back().sequence = i + 1;
  }
  if (query.newest_first) std::reverse(out.begin(), out.end());
  if (out.size() > static_cast<std::size_t>(query.limit)) {
    out.resize(static_cast<std::size_t>(query.limit));
  }
  return out;
}

Result<VerifyReport> MemoryStore::verify_history() {
  VerifyReport report;
  for (const auto& entry : disk_.history) {
    const std::size_t sequence = static_cast<std::size_t>(report.entries) + 1;
    if (entry.previous_hash != report.last_hash || entry.hash != hash_of(sequence, entry)) {
      report.fault = "entry " + std::to_string(sequence) + " does not fit its hash";
      return report;
    }
    report.entries += 1;
    report.last_hash = entry.hash;
  }
  if (disk_.history.size() != disk_.entries || report.last_hash != disk_.last_hash) {
    const std::size_t first = std::min(disk_.history.size(), disk_.entries) + 1;
    report.fault = "entry " + std::to_string(first) + " is not as the head counts";
  }
  report.intact = report.fault.empty();
  return report;
}

Result<> MemoryStore::backup(const std::string& path) {
  if (!backups_.emplace(path, disk_).second) {
    return make_error(Code::conflict, path + " exists already");
  }
  return {};
}

void MemoryStore::fail_commit_after(int commits, CommitFault fault) {
  commits_until_fault_ = commits;
  fault_ = fault;
}

Result<std::unique_ptr<MemoryStore>> MemoryStore::open_backup(const std::string& path) const {
  const auto found = backups_.find(path);
  if (found == backups_.end()) return make_error(Code::not_found, "there is no backup " + path);
  auto store = std::make_unique<MemoryStore>();
  store->disk_ = found->second;
  return store;
}

Result<> MemoryStore::restore(const std::string& path, Instant now) {
  const auto backup = TRY(open_backup(path));
  const VerifyReport report = TRY(backup->verify_history());
  if (!report.intact) {
    return make_error(Code::corrupt, "backup " + path + " is damaged: " + report.fault);
  }
  Disk disk = backup->disk_;
  const std::int64_t past = std::max(disk_.head.revision, disk.head.revision) >> epoch_shift;
  disk.head.epoch = std::max({disk_.head.epoch, disk.head.epoch, past}) + 1;
  Hold hold;
  hold.id = Id<Hold>("hold-" + std::to_string(disk.head.epoch << epoch_shift));
  hold.scope = "*";
  hold.reason = "restored from backup " + path + "; check with tundish doctor, then release";
  hold.meta.name = "restored-epoch-" + std::to_string(disk.head.epoch);
  hold.meta.revision = disk.head.epoch << epoch_shift;
  hold.meta.created_at = std::max(now, disk.head.newest + microseconds(1));
  HistoryEntry entry;
  entry.revision = hold.meta.revision;
  entry.at = hold.meta.created_at;
  entry.actor = "system";
  entry.operation = "restore_store";
  entry.object = "hold/" + hold.id.str();
  entry.reason = "backup " + path;
  entry.outcome = "done";
  disk.objects[{"hold", hold.id.str()}] = {nullptr, render_json(hold)};
  append(disk, std::move(entry));
  disk_ = std::move(disk);
  return {};
}

void MemoryStore::plant_object(const std::string& kind, const std::string& id, std::string body) {
  const auto object = make_object(kind);
  std::string kept;
  // A body that does not decode is planted as it is: load() shall meet it.
  const bool has_kept = object && parse_json(body, *object, Unknown::keep_out, &kept).has_value();
  if (has_kept && !kept.empty()) disk_.kept[{kind, id}] = std::move(kept);
  disk_.objects[{kind, id}] = {nullptr, std::move(body)};
}

std::string MemoryStore::find_body(const std::string& kind, const std::string& id) const {
  const auto found = disk_.objects.find({kind, id});
  return found == disk_.objects.end() ? "" : text_of(disk_, found->first, found->second);
}

void MemoryStore::tamper(const std::function<void(std::vector<HistoryEntry>&)>& change) {
  change(disk_.history);
}

}  // namespace tundish::sim
