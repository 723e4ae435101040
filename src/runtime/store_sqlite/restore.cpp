#include "runtime/store_sqlite/restore.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>

#include "base/log.hpp"
#include "codec/json.hpp"
#include "model/governance.hpp"
#include "runtime/store_sqlite/copy.hpp"
#include "runtime/store_sqlite/lock.hpp"
#include "runtime/store_sqlite/rows.hpp"
#include "runtime/store_sqlite/schema.hpp"

namespace tundish {
namespace {

using store_sqlite::Access;
using store_sqlite::guard;
using store_sqlite::HeadRow;

constexpr int epoch_shift = 40;
constexpr std::int64_t epoch_max = (std::int64_t{1} << (62 - epoch_shift)) - 1;
constexpr std::int64_t year_2025_us = 1735689600LL * 1000000;
constexpr std::int64_t revisions_per_second = 256;

std::string aside_path(const std::string& store, int number) {
  return store + ".before-restore-" + std::to_string(number);
}

Instant now_after(Instant newest) {
  const auto wall = std::chrono::system_clock::now().time_since_epoch();
  const Instant now{std::chrono::duration_cast<std::chrono::microseconds>(wall).count()};
  return std::max(now, newest + microseconds(1));
}

Result<HeadRow> read_head_of(const std::string& path, Access access) {
  auto database = TRY(store_sqlite::open_database(path, access));
  return guard(path, [&]() -> Result<HeadRow> {
    HeadRow head = store_sqlite::read_head(database);
    // The log's content moves into the file, which alone is linked to its name aside.
    if (access == Access::write) database.exec("PRAGMA journal_mode=DELETE");
    return head;
  });
}

std::int64_t epoch_of(const StoreHead& head) {
  return std::max(head.epoch, head.revision >> epoch_shift);
}

/// The highest epoch that the place of the store has seen, and the first free number aside.
struct Past {
  std::int64_t epoch = 0;
  int free_number = 1;
};

Result<Past> look_back(const std::string& store) {
  Past past;
  const auto note = [&](const std::string& path, Access access) -> Result<> {
    const auto head = read_head_of(path, access);
    if (head) {
      past.epoch = std::max(past.epoch, epoch_of(head->head));
    } else if (head.error().code == Code::conflict) {
      return head.error();  // another program's file: none of ours to move
    } else {
      log(LogLevel::warn, "store_replaced_unreadable",
          {{"store", path}, {"why", head.error().message()}});
    }
    return {};
  };
  for (; std::filesystem::exists(aside_path(store, past.free_number)); ++past.free_number) {
    TRY_VOID(note(aside_path(store, past.free_number), Access::read));
  }
  std::error_code ignored;
  if (std::filesystem::file_size(store, ignored) > 0 && !ignored) {
    TRY_VOID(note(store, Access::write));
  }
  return past;
}

Result<> verify_copy(SQLite::Database& copy, const std::string& backup) {
  return guard(backup, [&]() -> Result<> {
    const std::string pages = copy.execAndGet("PRAGMA integrity_check(1)").getString();
    std::string fault = pages == "ok" ? "" : pages;
    if (fault.empty()) fault = store_sqlite::verify_chain(copy).fault;
    if (fault.empty()) return {};
    return make_error(Code::corrupt, "backup " + backup + " is damaged: " + fault)
        .with_remedy("use another backup; nothing was changed");
  });
}

/// Where the restored store begins.
Result<StoreHead> make_fence(const StoreHead& backup, const Past& past) {
  StoreHead fence;
  fence.epoch = std::max(epoch_of(backup), past.epoch) + 1;
  if (fence.epoch > epoch_max) {
    return make_error(Code::corrupt, "no epoch is left above " + std::to_string(fence.epoch - 1))
        .with_remedy("the head of the backup or of the replaced store is damaged");
  }
  fence.newest = now_after(backup.newest);
  const std::int64_t since_2025 = std::max<std::int64_t>(fence.newest.us - year_2025_us, 0);
  const std::int64_t room = std::int64_t{1} << (epoch_shift - 1);
  fence.revision = (fence.epoch << epoch_shift) +
                   std::min(since_2025 / 1000000 * revisions_per_second, room);
  return fence;
}

Hold make_hold(const StoreHead& fence, const std::string& reason) {
  Hold hold;
  hold.id = Id<Hold>("hold-" + std::to_string(fence.revision));
  hold.scope = "*";
  hold.reason = reason;
  hold.meta.name = "restored-epoch-" + std::to_string(fence.epoch);
  hold.meta.revision = fence.revision;
  hold.meta.created_at = fence.newest;
  return hold;
}

Result<> write_fence(SQLite::Database& copy, const Past& past, const std::string& backup) {
  return guard(copy.getFilename(), [&]() -> Result<> {
    HeadRow head = store_sqlite::read_head(copy);
    const std::int64_t backup_revision = head.head.revision;
    head.head = TRY(make_fence(head.head, past));
    const Hold hold = make_hold(head.head, "restored from backup " + backup +
                                               "; check with tundish doctor, then release");
    HistoryEntry entry;
    entry.revision = head.head.revision;
    entry.at = head.head.newest;
    entry.actor = "system";
    entry.operation = "restore_store";
    entry.object = "hold/" + hold.id.str();
    entry.reason = "backup " + backup + " of revision " + std::to_string(backup_revision);
    entry.outcome = "done";
    store_sqlite::Rows rows(copy);
    SQLite::Transaction transaction(copy);
    rows.put({"hold", hold.id.str(), hold.meta.name, "", hold.meta.revision, render_json(hold)});
    rows.append(std::move(entry), head);
    rows.set_head(head);
    transaction.commit();
    return {};
  });
}

/// The copy, verified, of this version's schema and fenced, under the name `fresh`.
Result<> build(const std::string& backup, const std::string& fresh, const Past& past) {
  {
    auto source = TRY(store_sqlite::open_database(backup, Access::read));
    if (TRY(store_sqlite::read_schema_version(source)) == 0) {
      return make_error(Code::invalid, backup + " is empty, not a backup of a store")
          .with_remedy("give a file that tundish made as a backup");
    }
    TRY_VOID(store_sqlite::create_private_file(fresh));
    TRY_VOID(store_sqlite::copy_into(source, fresh));
  }
  {
    auto copy = TRY(store_sqlite::open_database(fresh, Access::write));
    TRY_VOID(store_sqlite::migrate(copy, store_sqlite::migrations()));
    TRY_VOID(verify_copy(copy, backup));
    TRY_VOID(write_fence(copy, past, backup));
  }
  return store_sqlite::sync_file(fresh);
}

Result<> move_if_there(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) == 0 || errno == ENOENT) return {};
  return store_sqlite::file_error("cannot move aside", from);
}

/// The store's name never lacks a file: a program that starts meanwhile would make an empty one.
Result<> install(const std::string& fresh, const std::string& store, const std::string& aside) {
  if (::link(store.c_str(), aside.c_str()) != 0 && errno != ENOENT) {
    return store_sqlite::file_error("cannot keep the replaced store as", aside);
  }
  // A log that could not be checkpointed belongs to the old file and would be played into the new.
  TRY_VOID(move_if_there(store + "-wal", aside + "-wal"));
  TRY_VOID(move_if_there(store + "-shm", aside + "-shm"));
  if (::rename(fresh.c_str(), store.c_str()) != 0) {
    return store_sqlite::file_error("cannot put the restored store at", store);
  }
  return store_sqlite::sync_folder_of(store);
}

void remove_remains(const std::string& fresh) {
  for (const char* suffix : {"", "-wal", "-shm", "-journal"}) {
    ::unlink((fresh + suffix).c_str());
  }
}

}  // namespace

Result<> restore_store(const std::string& backup_path, const std::string& store_path) {
  const std::string backup = store_sqlite::resolve_path(backup_path);
  const std::string store = store_sqlite::resolve_path(store_path);
  if (backup == store) return make_error(Code::invalid, "the backup and the store are one file");
  if (::access(backup.c_str(), R_OK) != 0) return store_sqlite::file_error("cannot read", backup);
  const auto lock = TRY(store_sqlite::StoreLock::take(store));
  const Past past = TRY(look_back(store));
  const std::string fresh = store + ".restoring";
  remove_remains(fresh);
  Result<> done = build(backup, fresh, past);
  if (done) done = install(fresh, store, aside_path(store, past.free_number));
  if (!done) remove_remains(fresh);
  return done;
}

}  // namespace tundish
