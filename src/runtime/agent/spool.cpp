#include "runtime/agent/spool.hpp"

#include <algorithm>

#include "base/log.hpp"
#include "codec/json.hpp"

namespace tundish::agent {
namespace {

enum class SpoolKind { witness, acknowledged, folded, given_up, cursor };
std::span<const std::string_view> enum_names(SpoolKind) {
  static constexpr std::string_view names[] = {"witness", "acknowledged", "folded", "given_up",
                                               "cursor"};
  return names;
}

struct SpoolRecord {
  SpoolKind kind = SpoolKind::witness;
  std::optional<Witness> witness;
  std::vector<std::string> ids;
  std::string into;
  std::int64_t repeat = 0;
  std::optional<KernelLogCursor> cursor;
  void fields(Fields& f) {
    f(1, "kind", kind, "what happened");
    f(2, "witness", witness, "for kind witness");
    f(3, "ids", ids, "witnesses that need not be sent any more");
    f(4, "into", into, "for kind folded: the witness that stands for them now");
    f(5, "repeat", repeat, "for kind folded: sightings that `into` stands for now");
    f(6, "cursor", cursor, "for kind cursor");
  }
};

std::string witness_record(const Witness& witness) {
  SpoolRecord record;
  record.witness = witness;
  return render_json(record);
}

std::string cursor_record(const KernelLogCursor& cursor) {
  SpoolRecord record;
  record.kind = SpoolKind::cursor;
  record.cursor = cursor;
  return render_json(record);
}

std::string sameness_of(const Witness& w) {
  if (w.kind != WitnessKind::event) {
    return w.source + "/" + std::to_string(static_cast<int>(w.kind));
  }
  const auto& e = w.event;
  // The process name is left out: a tenant could make every line a different one.
  return w.source + "/" + std::to_string(static_cast<int>(w.provenance)) + "/" +
         std::to_string(static_cast<int>(e.kind)) + "/" + std::to_string(e.code) + "/" + e.device +
         "/" + e.mig + "/" + std::to_string(e.link.value_or(-2)) + "/" +
         std::to_string(e.recovery_action.value_or(-2)) + "/" + e.block_device;
}

}  // namespace

Result<std::unique_ptr<Spool>> Spool::open(const std::string& path, SpoolLimits limits) {
  std::vector<std::pair<std::string, JournalFile::Place>> lines;
  auto file = TRY(JournalFile::open(path, [&](std::string_view payload, JournalFile::Place place) {
    lines.emplace_back(payload, place);
  }));
  auto spool = std::unique_ptr<Spool>(new Spool(std::move(file), limits));
  for (const auto& [payload, place] : lines) {
    SpoolRecord record;
    if (const auto parsed = parse_json(payload, record, Unknown::keep_out); !parsed) {
      log(LogLevel::error, "spool_record_unreadable", {{"why", parsed.error().message()}});
      continue;
    }
    if (record.witness) spool->insert(*record.witness, place);
    if (record.cursor) spool->cursor_ = *record.cursor;
    for (const auto& id : record.ids) spool->erase(id);
    for (auto& entry : spool->entries_) {
      if (!record.into.empty() && entry.id == record.into) entry.repeat = record.repeat;
    }
  }
  TRY_VOID(spool->compact_if_due());
  return spool;
}

void Spool::insert(const Witness& witness, JournalFile::Place place) {
  if (!ids_.emplace(witness.id, 1).second) return;
  entries_.push_back({witness.id, sameness_of(witness), place, witness.repeat,
                      witness.provenance == Provenance::userspace});
  ++alike_[entries_.back().sameness];
  live_bytes_ += place.length;
}

void Spool::erase(const std::string& id) {
  if (ids_.erase(id) == 0) return;
  const auto it = std::find_if(entries_.begin(), entries_.end(),
                               [&](const Entry& entry) { return entry.id == id; });
  if (it == entries_.end()) return;
  if (--alike_[it->sameness] == 0) alike_.erase(it->sameness);
  live_bytes_ -= it->place.length;
  entries_.erase(it);
}

Result<> Spool::add(const std::vector<Witness>& witnesses, const KernelLogCursor& cursor) {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> records;
  std::vector<const Witness*> fresh;
  for (const auto& witness : witnesses) {
    if (ids_.count(witness.id) != 0) continue;
    fresh.push_back(&witness);
    records.push_back(witness_record(witness));
  }
  records.push_back(cursor_record(cursor));
  const auto places = TRY(file_.append(records));
  for (std::size_t i = 0; i < fresh.size(); ++i) insert(*fresh[i], places[i]);
  cursor_ = cursor;
  std::vector<std::string> cuts;
  make_room(cuts);
  if (!cuts.empty()) TRY(file_.append(cuts));
  return compact_if_due();
}

void Spool::make_room(std::vector<std::string>& records) {
  while (live_bytes_ > limits_.live_bytes && entries_.size() > 1) {
    if (!fold_oldest_repeat(records)) give_up_one(records);
  }
}

bool Spool::fold_oldest_repeat(std::vector<std::string>& records) {
  for (auto it = entries_.begin(); it != entries_.end(); ++it) {
    if (alike_[it->sameness] < 2) continue;
    const auto next = std::find_if(it + 1, entries_.end(), [&](const Entry& other) {
      return other.sameness == it->sameness;
    });
    if (next == entries_.end()) continue;
    next->repeat += it->repeat;
    SpoolRecord record;
    record.kind = SpoolKind::folded;
    record.ids = {it->id};
    record.into = next->id;
    record.repeat = next->repeat;
    records.push_back(render_json(record));
    erase(std::string(it->id));
    ++folded_;
    return true;
  }
  return false;
}

/// Every one that waits is different: those that a tenant can make up go first.
void Spool::give_up_one(std::vector<std::string>& records) {
  auto it = std::find_if(entries_.begin(), entries_.end(),
                         [](const Entry& entry) { return entry.forgeable; });
  if (it == entries_.end()) it = entries_.begin();
  SpoolRecord record;
  record.kind = SpoolKind::given_up;
  record.ids = {it->id};
  records.push_back(render_json(record));
  if (lost_++ == 0) log(LogLevel::error, "spool_gives_up_witnesses", {{"first", it->id}});
  erase(std::string(it->id));
}

Result<> Spool::compact_if_due() {
  if (file_.size() < limits_.file_bytes - limits_.live_bytes / 8 &&
      file_.size() < 4 * live_bytes_ + (1 << 18)) {
    return {};
  }
  std::vector<std::string> records{cursor_record(cursor_)};
  std::deque<Entry> kept;
  for (const auto& entry : entries_) {
    auto witness = load(entry);
    if (!witness) continue;
    kept.push_back(entry);
    records.push_back(witness_record(*witness));
  }
  const auto places = TRY(file_.rewrite(records));
  entries_ = std::move(kept);
  live_bytes_ = 0;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    entries_[i].place = places[i + 1];
    live_bytes_ += places[i + 1].length;
  }
  return {};
}

std::optional<Witness> Spool::load(const Entry& entry) const {
  const auto text = file_.read(entry.place);
  SpoolRecord record;
  if (!text || !parse_json(*text, record, Unknown::keep_out) || !record.witness) {
    log(LogLevel::error, "spool_witness_unreadable", {{"id", entry.id}});
    return std::nullopt;
  }
  record.witness->repeat = entry.repeat;
  return record.witness;
}

std::vector<Witness> Spool::oldest(Batch batch) const {
  const std::lock_guard lock(mutex_);
  std::vector<Witness> out;
  std::int64_t bytes = 0;
  for (const auto& entry : entries_) {
    if (out.size() >= batch.count || (bytes > 0 && bytes + entry.place.length > batch.bytes)) break;
    bytes += entry.place.length;
    if (auto witness = load(entry)) out.push_back(std::move(*witness));
  }
  return out;
}

Result<> Spool::acknowledge(const std::vector<std::string>& ids) {
  const std::lock_guard lock(mutex_);
  SpoolRecord record;
  record.kind = SpoolKind::acknowledged;
  for (const auto& id : ids) {
    if (ids_.count(id) != 0) record.ids.push_back(id);
  }
  if (record.ids.empty()) return {};
  TRY(file_.append({render_json(record)}));
  for (const auto& id : record.ids) erase(id);
  return compact_if_due();
}

std::size_t Spool::size() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}
KernelLogCursor Spool::cursor() const {
  const std::lock_guard lock(mutex_);
  return cursor_;
}
std::int64_t Spool::folded() const {
  const std::lock_guard lock(mutex_);
  return folded_;
}
std::int64_t Spool::lost() const {
  const std::lock_guard lock(mutex_);
  return lost_;
}

}  // namespace tundish::agent
