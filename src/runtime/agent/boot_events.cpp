#include "runtime/agent/boot_events.hpp"

#include <sys/stat.h>

#include <algorithm>

#include "base/log.hpp"
#include "codec/json.hpp"
#include "codec/kernel_log/catalogue.hpp"
#include "model/gpu_fault.hpp"
#include "runtime/process/process.hpp"

namespace tundish::agent {
namespace {

constexpr std::size_t events_limit = 512;

/// Of events that concern no GPU; they never push one out that does.
constexpr std::size_t other_limit = 128;
/// A repeat is written down when the last one is so much older.
constexpr Duration repeat_pause = seconds(30);

std::string stamp_of(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return "";
  return std::to_string(info.st_mtim.tv_sec) + "." + std::to_string(info.st_mtim.tv_nsec);
}

bool is_paired(KernelEventKind kind) {
  return kind == KernelEventKind::server_silent || kind == KernelEventKind::server_back;
}

/// The words that decide what a line means belong to its kind.
bool is_same_kind(const SampleEvent& seen, const Witness& witness) {
  const auto& a = seen.event;
  const auto& b = witness.event;
  return seen.provenance == witness.provenance && a.kind == b.kind && a.code == b.code &&
         a.device == b.device && a.severity == b.severity && a.reset == b.reset &&
         a.drain_reset == b.drain_reset && a.recovery_action == b.recovery_action &&
         a.follow_up == b.follow_up && a.block_device == b.block_device && a.subject == b.subject &&
         a.corrected == b.corrected;
}

bool is_known(const XidCatalogue& catalogue, const KernelEvent& event) {
  if (event.kind == KernelEventKind::xid) return catalogue.find(event.code) != nullptr;
  if (event.kind == KernelEventKind::sxid) {
    return catalogue.find_sxid(event.code) != nullptr || event.severity == SeverityWord::fatal;
  }
  return event.kind == KernelEventKind::fallen_off_bus || event.kind == KernelEventKind::amd_fault;
}

/// A non-fatal SXid, an informational line or one about the application costs no node.
bool is_harmless(const XidEntry& entry) {
  if (entry.decoy) return true;
  if (entry.device_lost) return false;
  return entry.action == FaultAction::none || entry.action == FaultAction::trend;
}

}  // namespace

BootEvents::BootEvents(std::string path, std::string catalog_dir)
    : path_(std::move(path)), catalog_dir_(std::move(catalog_dir)) {
  const auto text = process::read_file(path_);
  if (!text) return;
  if (const auto parsed = parse_json(*text, state_, Unknown::keep_out); !parsed) {
    log(LogLevel::error, "boot_events_unreadable", {{"why", parsed.error().message()}});
  }
}

/// The oldest of the events that concern no GPU gives way.
BootEvents::Room BootEvents::make_room() {
  std::size_t others = 0;
  auto oldest = state_.events.end();
  for (auto it = state_.events.begin(); it != state_.events.end(); ++it) {
    if (is_gpu_fault(it->event)) continue;
    ++others;
    if (oldest == state_.events.end() || it->last_at < oldest->last_at) oldest = it;
  }
  if (others >= other_limit) {
    state_.events.erase(oldest);
    return Room::made;
  }
  return state_.events.size() < events_limit ? Room::made : Room::none;
}

bool BootEvents::note_one(const Witness& witness) {
  bool changed = false;
  if (witness.boot_id != state_.boot_id) {
    state_ = {};
    state_.boot_id = witness.boot_id;
    changed = true;
  }
  switch (witness.kind) {
    case WitnessKind::blind: state_.blind_records += witness.blind; return true;
    case WitnessKind::source_lost: state_.source_lost = true; return true;
    case WitnessKind::source_back: state_.source_lost = false; return true;
    case WitnessKind::event: break;
  }
  if (witness.event.kind == KernelEventKind::gpu_identity) return changed;
  const bool gpu = is_gpu_fault(witness.event);
  for (auto& seen : state_.events) {
    if (!is_same_kind(seen, witness)) continue;
    seen.repeat += witness.repeat;
    const bool newer = witness.observed_at - seen.last_at >= repeat_pause;
    seen.last_at = std::max(seen.last_at, witness.observed_at);
    // What comes and goes is paired by its newest line.
    if (!gpu) seen.seq = std::max(seen.seq, witness.seq);
    return changed || (newer && !gpu) || is_paired(witness.event.kind);
  }
  if (!gpu && make_room() == Room::none) return changed;
  if (state_.events.size() >= events_limit) {
    // Made-up ones give way to those of the kernel.
    const auto it = std::find_if(state_.events.begin(), state_.events.end(), [](const auto& seen) {
      return seen.provenance == Provenance::userspace;
    });
    ++state_.forgotten;
    if (witness.provenance == Provenance::userspace || it == state_.events.end()) return changed;
    state_.events.erase(it);
  }
  SampleEvent seen;
  seen.seq = witness.seq;
  seen.provenance = witness.provenance;
  seen.event = witness.event;
  seen.repeat = witness.repeat;
  seen.first_at = seen.last_at = witness.observed_at;
  state_.events.push_back(std::move(seen));
  return true;
}

Result<> BootEvents::note(const std::vector<Witness>& witnesses) {
  const std::lock_guard lock(mutex_);
  bool changed = false;
  for (const auto& witness : witnesses) changed = note_one(witness) || changed;
  if (!changed) return {};
  ++noted_;
  return save();
}

std::int64_t BootEvents::noted() const {
  const std::lock_guard lock(mutex_);
  return noted_;
}

Result<> BootEvents::forget_device(const std::string& pci) {
  const std::lock_guard lock(mutex_);
  std::erase_if(state_.events, [&](const SampleEvent& seen) { return seen.event.device == pci; });
  ++noted_;
  return save();
}

Result<> BootEvents::save() const {
  return process::write_file_atomic(path_, render_json(state_), 0600);
}

/// Read anew only when a file changed: the passive checks ask every half minute.
Result<XidCatalogue> BootEvents::load_catalogue() const {
  const std::string xid_file = catalog_dir_ + "/xid.yaml";
  const std::string sxid_file = catalog_dir_ + "/sxid.yaml";
  const std::string stamp = stamp_of(xid_file) + " " + stamp_of(sxid_file);
  if (catalogue_ && stamp == catalogue_stamp_) return *catalogue_;
  const std::string xid = TRY(process::read_file(xid_file));
  const std::string sxid = TRY(process::read_file(sxid_file));
  catalogue_ = TRY(load_xid_catalogue({xid, xid_file}, {sxid, sxid_file}));
  catalogue_stamp_ = stamp;
  return *catalogue_;
}

void BootEvents::fill(CheckSample& sample, const std::string& boot_id) const {
  const std::lock_guard lock(mutex_);
  const auto catalogue = load_catalogue();
  if (!catalogue) {
    sample.events_fault = "no catalogue of codes: " + catalogue.error().message();
    return;
  }
  if (state_.source_lost) {
    sample.events_fault = "the kernel log cannot be read";
    return;
  }
  if (!state_.boot_id.empty() && state_.boot_id != boot_id) {
    // Nothing was witnessed in this boot: the state is the old boot's.
    sample.events.emplace();
    return;
  }
  sample.blind_records = state_.blind_records;
  sample.events = state_.events;
  for (auto& seen : *sample.events) {
    seen.in_catalogue = is_known(*catalogue, seen.event);
    seen.decoy = seen.in_catalogue && is_harmless(catalogue->classify(seen.event));
  }
}

}  // namespace tundish::agent
