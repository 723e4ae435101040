#include "runtime/store_sqlite/sqlite_store.hpp"

#include <algorithm>

#include "base/log.hpp"
#include "codec/json.hpp"
#include "codec/utf8.hpp"
#include "runtime/store_sqlite/copy.hpp"
#include "runtime/store_sqlite/schema.hpp"

namespace tundish {

using store_sqlite::guard;
using store_sqlite::HeadRow;
using store_sqlite::ObjectRow;

SqliteStore::SqliteStore(std::string path, store_sqlite::StoreLock lock, SQLite::Database database)
    : path_(std::move(path)),
      lock_(std::move(lock)),
      database_(std::move(database)),
      rows_(database_),
      head_(store_sqlite::read_head(database_)) {}

Result<std::unique_ptr<SqliteStore>> SqliteStore::open(const std::string& path) {
  const std::string resolved = store_sqlite::resolve_path(path);
  auto lock = TRY(store_sqlite::StoreLock::take(resolved));
  TRY_VOID(store_sqlite::create_private_file(resolved));
  auto database = TRY(store_sqlite::open_database(resolved, store_sqlite::Access::write));
  TRY_VOID(store_sqlite::migrate(database, store_sqlite::migrations()));
  return guard(resolved, [&]() -> Result<std::unique_ptr<SqliteStore>> {
    return std::unique_ptr<SqliteStore>(
        new SqliteStore(resolved, std::move(lock), std::move(database)));
  });
}

Result<> SqliteStore::load(const std::function<Result<>(const ObjectBase&)>& take) {
  is_loaded_ = false;
  kept_.clear();
  unknown_kinds_.clear();
  unknown_parts_.clear();
  TRY_VOID(guard(path_, [&]() -> Result<> {
    return store_sqlite::each_object(database_,
                                     [&](const ObjectRow& row) { return take_object(row, take); });
  }));
  for (const auto& [kind, count] : unknown_kinds_) {
    log(LogLevel::warn, "store_kind_unknown",
        {{"store", path_}, {"kind", kind}, {"objects", static_cast<long>(count)}});
  }
  for (const auto& [kind, count] : unknown_parts_) {
    log(LogLevel::warn, "store_fields_unknown",
        {{"store", path_}, {"kind", kind}, {"objects", static_cast<long>(count)}});
  }
  is_loaded_ = true;
  return {};
}

Result<> SqliteStore::take_object(const ObjectRow& row,
                                  const std::function<Result<>(const ObjectBase&)>& take) {
  const auto object = make_object(row.kind);
  if (!object) {
    ++unknown_kinds_[row.kind];
    return {};
  }
  std::string kept;
  const auto read = parse_json(row.body, *object, Unknown::keep_out, &kept);
  const bool fits = read && object->id() == row.id;
  if (!fits) {
    const std::string why = read ? "its body names another id" : read.error().what;
    return make_error(Code::corrupt, "store " + path_ + " holds a damaged object: " + why)
        .about(row.kind + "/" + row.id)
        .with_remedy("run the version that wrote it, or restore a backup");
  }
  if (!kept.empty()) {
    ++unknown_parts_[row.kind];
    kept_[{row.kind, row.id}] = std::move(kept);
  }
  return take(*object);
}

Result<ObjectRow> SqliteStore::encode(const Change& change) const {
  ObjectRow row;
  row.kind = change.kind;
  row.id = change.id;
  // JSON text would replace such bytes, and the object would come back under another id.
  if (find_invalid_utf8(change.id)) {
    return make_error(Code::invalid, "an id must be UTF-8").about(change.kind + "/" + change.id);
  }
  row.name = change.body->meta().name;
  row.tenant = change.body->meta().tenant.str();
  row.revision = change.revision;
  row.body = render_json(*change.body);
  const auto kept = kept_.find({change.kind, change.id});
  if (kept != kept_.end()) row.body = merge_json(row.body, kept->second);
  return row;
}

Result<HeadRow> SqliteStore::write(const Batch& batch) {
  HeadRow next = head_;
  SQLite::Transaction transaction(database_, SQLite::TransactionBehavior::IMMEDIATE);
  for (const auto& change : batch.changes) {
    if (change.body) {
      rows_.put(TRY(encode(change)));
      next.head.newest = std::max(next.head.newest, change.body->meta().created_at);
    } else {
      rows_.erase(change);
    }
    next.head.revision = std::max(next.head.revision, change.revision);
  }
  for (const auto& entry : batch.history) rows_.append(entry, next);
  rows_.set_head(next);
  try {
    transaction.commit();
  } catch (const SQLite::Exception& fault) {
    store_sqlite::require_known_outcome(path_, fault);
    throw;  // to the guard around this
  }
  return next;
}

Result<> SqliteStore::commit(const Batch& batch) {
  if (batch.empty()) return {};
  for (const auto& change : batch.changes) {
    if (change.revision > head_.head.revision) continue;
    return make_error(Code::conflict, "revision " + std::to_string(change.revision) +
                                          " is not above the head of the store, " +
                                          std::to_string(head_.head.revision))
        .about(change.kind + "/" + change.id)
        .with_remedy("load the store anew and decide again");
  }
  if (!is_loaded_) TRY_VOID(load([](const ObjectBase&) { return Result<>(); }));
  head_ = TRY(guard(path_, [&] { return write(batch); }));
  for (const auto& change : batch.changes) {
    if (!change.body) kept_.erase({change.kind, change.id});
  }
  return {};
}

Result<std::vector<HistoryEntry>> SqliteStore::history(const HistoryQuery& query) {
  if (query.limit < 0) return make_error(Code::invalid, "limit must not be negative");
  return guard(path_, [&]() -> Result<std::vector<HistoryEntry>> {
    return store_sqlite::read_history(database_, query);
  });
}

Result<VerifyReport> SqliteStore::verify_history() {
  auto reader = TRY(store_sqlite::open_database(path_, store_sqlite::Access::read));
  return guard(path_, [&]() -> Result<VerifyReport> { return store_sqlite::verify_chain(reader); });
}

Result<> SqliteStore::backup(const std::string& path) {
  auto reader = TRY(store_sqlite::open_database(path_, store_sqlite::Access::read));
  return store_sqlite::save_copy(reader, path);
}

}  // namespace tundish
