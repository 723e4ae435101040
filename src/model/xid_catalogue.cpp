#include "model/xid_catalogue.hpp"

#include <algorithm>

namespace tundish {
namespace {

const XidEntry* find_in(const XidTable& table, int code) {
  const auto at = std::find_if(table.entries.begin(), table.entries.end(),
                               [&](const XidEntry& entry) { return entry.code == code; });
  return at == table.entries.end() ? nullptr : &*at;
}

XidEntry unknown(int code, std::string name) {
  XidEntry entry;
  entry.code = code;
  entry.name = std::move(name);
  return entry;
}

/// 94 and 95: the driver says whether the GPU needs a reset now, once drained, or not at all.
void apply_reset_words(const KernelEvent& event, XidEntry& entry) {
  if (event.reset == ResetWord::yes) {
    entry.action = FaultAction::reset;
    entry.when_idle = FaultAction::none;
    entry.device_lost = true;
    entry.decoy = false;
    return;
  }
  if (event.reset == ResetWord::unstated && event.drain_reset == ResetWord::unstated) return;
  if (event.reset == ResetWord::no) {
    entry.action = FaultAction::app;
    entry.device_lost = false;
  }
  if (event.drain_reset == ResetWord::yes) {
    entry.when_idle = FaultAction::reset;
  } else if (event.drain_reset == ResetWord::no) {
    entry.when_idle = FaultAction::none;
  }
}

/// 154: never the only source, so it asks for an action but never takes a job's GPU away.
void apply_recovery_action(const KernelEvent& event, XidEntry& entry) {
  if (!event.recovery_action) {
    entry.action = FaultAction::none;
    entry.name += ", not readable";
    return;
  }
  switch (*event.recovery_action) {
    case 0:
      entry.action = FaultAction::none;
      entry.fault_class = FaultClass::informational;
      return;
    case 1: entry.action = FaultAction::reset; return;
    case 2: entry.action = FaultAction::reboot; return;
    case 3:
      entry.action = FaultAction::fabric;
      entry.fault_class = FaultClass::fabric;
      return;
    case 4:
      entry.action = FaultAction::app;
      entry.when_idle = FaultAction::reset;
      return;
    case 5:
      entry.action = FaultAction::fabric;
      entry.fault_class = FaultClass::fabric;
      entry.scope = FaultScope::fabric;
      return;
    default: entry.action = FaultAction::none; entry.fault_class = FaultClass::ambiguous;
  }
}

XidEntry classify_xid(const XidCatalogue& catalogue, const KernelEvent& event) {
  const XidEntry* found = catalogue.find(event.code);
  if (found == nullptr) return unknown(event.code, "unknown XID");
  XidEntry entry = *found;
  if (event.code == 94 || event.code == 95) apply_reset_words(event, entry);
  if (event.code == 154) apply_recovery_action(event, entry);
  if (event.code == 74 && event.detail.find("fatal error detected") != std::string::npos) {
    entry.device_lost = true;
  }
  return entry;
}

XidEntry classify_sxid(const XidCatalogue& catalogue, const KernelEvent& event) {
  const XidEntry* found = catalogue.find_sxid(event.code);
  XidEntry entry = found != nullptr ? *found : unknown(event.code, "unknown SXid");
  const bool fatal = event.severity == SeverityWord::fatal;
  if (found == nullptr && fatal) {
    entry.fault_class = FaultClass::fabric;
    entry.action = FaultAction::fabric;
    entry.scope = FaultScope::port;
  }
  if (fatal) return entry;
  entry.device_lost = false;
  if (event.follow_up) {
    entry.action = FaultAction::none;
    entry.fault_class = FaultClass::informational;
  } else if (entry.action == FaultAction::reset || entry.action == FaultAction::reboot) {
    entry.action = FaultAction::trend;
  }
  return entry;
}

XidEntry classify_amd(const KernelEvent& event) {
  XidEntry entry = unknown(0, "amd_fault");
  if (event.severity == SeverityWord::fatal) {
    entry.fault_class = FaultClass::hardware;
    entry.action = FaultAction::reset;
    entry.on_repeat = FaultAction::reboot;
    entry.device_lost = true;
  } else if (event.severity == SeverityWord::non_fatal) {
    entry.fault_class = FaultClass::informational;
    entry.action = FaultAction::trend;
  }
  return entry;
}

}  // namespace

const XidEntry* XidCatalogue::find(int code) const { return find_in(xid, code); }
const XidEntry* XidCatalogue::find_sxid(int code) const { return find_in(sxid, code); }

XidEntry XidCatalogue::classify(const KernelEvent& event) const {
  switch (event.kind) {
    case KernelEventKind::xid: return classify_xid(*this, event);
    case KernelEventKind::sxid: return classify_sxid(*this, event);
    case KernelEventKind::fallen_off_bus: {
      // The driver's probe says in words what XID 79 says by number.
      const XidEntry* entry = find(79);
      return entry != nullptr ? *entry : unknown(79, "GPU has fallen off the bus");
    }
    case KernelEventKind::amd_fault: return classify_amd(event);
    case KernelEventKind::other_gpu: return unknown(0, "GPU named in unknown words");
    case KernelEventKind::oom:
    case KernelEventKind::hung_task:
    case KernelEventKind::soft_lockup:
    case KernelEventKind::io_error:
    case KernelEventKind::hard_lockup:
    case KernelEventKind::rcu_stall:
    case KernelEventKind::kernel_oops:
    case KernelEventKind::server_silent:
    case KernelEventKind::server_back:
    case KernelEventKind::client_evicted:
    case KernelEventKind::memory_error:
    case KernelEventKind::pcie_error:
    case KernelEventKind::nic_fault:
    case KernelEventKind::link_down:
    case KernelEventKind::link_up:
    case KernelEventKind::gpu_identity: break;
  }
  XidEntry entry = unknown(0, "not a GPU fault");
  entry.fault_class = FaultClass::informational;
  return entry;
}

}  // namespace tundish
