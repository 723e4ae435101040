#include "runtime/agent/boot_events.hpp"

#include <algorithm>

#include "base/log.hpp"
#include "codec/json.hpp"
#include "codec/kernel_log/catalogue.hpp"
#include "runtime/process/process.hpp"

namespace tundish::agent {
namespace {

constexpr std::size_t events_limit = 512;

bool is_gpu_event(const KernelEvent& event) {
  switch (event.kind) {
    case KernelEventKind::xid:
    case KernelEventKind::sxid:
    case KernelEventKind::fallen_off_bus:
    case KernelEventKind::amd_fault:
    case KernelEventKind::other_gpu: return true;
    case KernelEventKind::oom:
    case KernelEventKind::hung_task:
    case KernelEventKind::soft_lockup:
    case KernelEventKind::io_error:
    case KernelEventKind::gpu_identity: return false;
  }
  return false;
}

/// The words that decide what a line means belong to its kind.
bool is_same_kind(const SampleEvent& seen, const Witness& witness) {
  const auto& a = seen.event;
  const auto& b = witness.event;
  return seen.provenance == witness.provenance && a.kind == b.kind && a.code == b.code &&
         a.device == b.device && a.severity == b.severity && a.reset == b.reset &&
         a.drain_reset == b.drain_reset && a.recovery_action == b.recovery_action &&
         a.follow_up == b.follow_up;
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
  if (!is_gpu_event(witness.event)) return changed;
  for (auto& seen : state_.events) {
    if (!is_same_kind(seen, witness)) continue;
    seen.repeat += witness.repeat;
    return changed;
  }
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
  state_.events.push_back(std::move(seen));
  return true;
}

Result<> BootEvents::note(const std::vector<Witness>& witnesses) {
  const std::lock_guard lock(mutex_);
  bool changed = false;
  for (const auto& witness : witnesses) changed = note_one(witness) || changed;
  if (!changed) return {};
  return save();
}

Result<> BootEvents::forget_device(const std::string& pci) {
  const std::lock_guard lock(mutex_);
  std::erase_if(state_.events, [&](const SampleEvent& seen) { return seen.event.device == pci; });
  return save();
}

Result<> BootEvents::save() const {
  return process::write_file_atomic(path_, render_json(state_), 0600);
}

Result<XidCatalogue> BootEvents::load_catalogue() const {
  const std::string xid_file = catalog_dir_ + "/xid.yaml";
  const std::string sxid_file = catalog_dir_ + "/sxid.yaml";
  const std::string xid = TRY(process::read_file(xid_file));
  const std::string sxid = TRY(process::read_file(sxid_file));
  return load_xid_catalogue({xid, xid_file}, {sxid, sxid_file});
}

void BootEvents::fill(CheckSample& sample, const std::string& boot_id) const {
  const auto catalogue = load_catalogue();
  const std::lock_guard lock(mutex_);
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
