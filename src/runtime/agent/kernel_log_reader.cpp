#include "runtime/agent/kernel_log_reader.hpp"

#include <algorithm>

#include "base/log.hpp"
#include "codec/kernel_log/event.hpp"
#include "codec/kernel_log/record.hpp"

namespace tundish {

KernelLogReader::KernelLogReader(std::unique_ptr<RecordSource> source, KernelLogCursor cursor,
                                 Now now, KernelLogOptions options)
    : source_(std::move(source)),
      at_(std::move(cursor)),
      now_(std::move(now)),
      options_(std::move(options)),
      storm_(options_.storm),
      first_install_(at_.boot_id.empty()),
      retry_(options_.retry_first) {}

bool KernelLogReader::poll(Duration wait, const OnWitness& on_witness) {
  if (!ensure_open(wait, on_witness)) {
    tell(storm_.drain(now_()), on_witness);
    return false;
  }
  source_->wait(bounded(wait));
  const bool more = read_batch(on_witness);
  tell(storm_.drain(now_()), on_witness);
  return more;
}

void KernelLogReader::flush(const OnWitness& on_witness) { tell(storm_.drain_all(), on_witness); }

KernelLogCursor KernelLogReader::cursor() const {
  KernelLogCursor out = at_;
  // What was counted but not told must be read again after a crash.
  if (const std::int64_t pending = storm_.oldest_pending_seq(); pending >= 0) {
    out.seq = std::min(out.seq, pending - 1);
  }
  return out;
}

void KernelLogReader::tell(std::vector<Witness> witnesses, const OnWitness& on_witness) {
  for (Witness& witness : witnesses) on_witness(std::move(witness));
}

/// A storm's count is due at the end of its window, whether more lines come or not.
Duration KernelLogReader::bounded(Duration wait) const {
  const auto due = storm_.due_at();
  if (!due) return wait;
  return std::clamp(*due - now_(), Duration{0}, wait);
}

bool KernelLogReader::ensure_open(Duration wait, const OnWitness& on_witness) {
  if (open_) return true;
  if (now_() < retry_at_) {
    source_->wait(bounded(std::min(wait, retry_at_ - now_())));
    if (now_() < retry_at_) return false;
  }
  const auto boot_id = source_->open();
  if (!boot_id) {
    lose(boot_id.error().message(), on_witness);
    return false;
  }
  open_ = true;
  last_of_open_ = -1;
  if (*boot_id != at_.boot_id) {
    flush(on_witness);  // counted under the old boot's name
    adopt_boot(*boot_id);
  }
  return true;
}

void KernelLogReader::adopt_boot(const std::string& boot_id) {
  at_ = {};
  at_.boot_id = boot_id;
}

/// The source answers: only then is it back, for a dead FUSE file may still open.
void KernelLogReader::note_alive(const OnWitness& on_witness) {
  retry_ = options_.retry_first;
  if (!lost_told_) return;
  lost_told_ = false;
  const std::string suffix = "/back@" + std::to_string(now_().us);
  on_witness(make_witness(WitnessKind::source_back, at_.seq + 1, suffix));
}

void KernelLogReader::lose(const std::string& reason, const OnWitness& on_witness) {
  source_->close();
  open_ = false;
  retry_at_ = now_() + retry_;
  retry_ = std::min(retry_ * 2, options_.retry_longest);
  if (lost_told_) return;
  lost_told_ = true;
  const std::string suffix = "/lost@" + std::to_string(now_().us);
  Witness witness = make_witness(WitnessKind::source_lost, at_.seq + 1, suffix);
  witness.reason = reason;
  log(LogLevel::warn, "kernel_log_lost", {{"source", options_.source}, {"reason", reason}});
  on_witness(std::move(witness));
}

bool KernelLogReader::read_batch(const OnWitness& on_witness) {
  for (int i = 0; i < options_.records_per_poll; ++i) {
    const RecordSource::Read read = source_->read();
    switch (read.state) {
      case RecordSource::State::record:
        note_alive(on_witness);
        handle(read.bytes, on_witness);
        break;
      case RecordSource::State::overrun: break;  // the next sequence number says how many
      case RecordSource::State::empty: note_alive(on_witness); return false;
      case RecordSource::State::lost: lose(read.reason, on_witness); return false;
    }
  }
  return true;
}

/// Whether the record was not handed over before. Sequence numbers only grow while a source stays
/// open, and every record up to the cursor is at most as late as the latest one read: whatever
/// breaks these rules comes from a ring that was numbered anew.
bool KernelLogReader::is_new(std::int64_t seq, std::int64_t usec) {
  if (seq <= last_of_open_) restart_numbering();
  last_of_open_ = seq;
  if (seq > at_.seq) return true;
  if (usec <= at_.kernel_usec) return false;
  restart_numbering();
  return true;
}

/// A lab's log server that was restarted, or a node's new boot seen through the same descriptor.
void KernelLogReader::restart_numbering() {
  const auto boot_id = source_->boot_id();
  if (boot_id && *boot_id != at_.boot_id) {
    adopt_boot(*boot_id);
    return;
  }
  at_.seq = -1;
  at_.epoch += 1;
  log(LogLevel::warn, "kernel_log_renumbered", {{"source", source_name()}});
}

void KernelLogReader::handle(const std::string& bytes, const OnWitness& on_witness) {
  const auto record = parse_kernel_record(bytes);
  if (!record) {
    // Its number is unknown: the next record's makes it a blind spot of one.
    if (!broken_told_) log(LogLevel::warn, "kernel_log_broken", {{"why", record.error().what}});
    broken_told_ = true;
    return;
  }
  tell(storm_.drain(now_()), on_witness);
  // Counted under numbers that a renumbered ring gives out again.
  if (record->seq <= last_of_open_) flush(on_witness);
  if (!is_new(record->seq, record->usec)) return;
  const std::int64_t expected = at_.seq + 1;
  if (record->seq > expected && !first_install_) {
    Witness blind = make_witness(WitnessKind::blind, expected, "/blind");
    blind.blind = record->seq - expected;
    blind.reason = "records were overwritten before they could be read";
    on_witness(std::move(blind));
  }
  first_install_ = false;
  at_.seq = record->seq;
  at_.kernel_usec = std::max(at_.kernel_usec, record->usec);
  auto event = find_kernel_event(*record);
  if (!event) return;
  Witness witness = make_witness(WitnessKind::event, record->seq, "");
  witness.provenance = provenance_of(*record);
  witness.kernel_usec = record->usec;
  witness.event = std::move(*event);
  if (storm_.admit(witness)) on_witness(std::move(witness));
}

std::string KernelLogReader::source_name() const {
  if (at_.epoch == 0) return options_.source;
  return options_.source + "." + std::to_string(at_.epoch);
}

Witness KernelLogReader::make_witness(WitnessKind kind, std::int64_t seq,
                                      const std::string& suffix) const {
  Witness witness;
  witness.source = source_name();
  witness.boot_id = at_.boot_id;
  witness.seq = seq;
  witness.id = at_.boot_id + "/" + witness.source + "/" + std::to_string(seq) + suffix;
  witness.kind = kind;
  witness.observed_at = now_();
  return witness;
}

}  // namespace tundish
