#include "codec/kernel_log/event.hpp"

#include "codec/kernel_log/shapes.hpp"

namespace tundish {
namespace {

/// The kernel cuts records at 2 KiB or less; more than this is not from it, and memory is bounded.
constexpr std::size_t longest = 2048;

void make_printable(std::string_view text, KernelEvent& event) {
  event.text = escape_kernel_text(text);
  for (std::string* part :
       {&event.detail, &event.process, &event.mig, &event.block_device, &event.subject}) {
    *part = escape_kernel_text(*part);
  }
}

}  // namespace

std::optional<KernelEvent> parse_kernel_text(std::string_view text, KernelTextSource source) {
  text = text.substr(0, longest);
  std::optional<KernelEvent> event = kernel_log::parse_nvidia(text, source);
  if (!event) event = kernel_log::parse_nvswitch(text, source);
  if (!event) event = kernel_log::parse_amd(text);
  if (!event) event = kernel_log::parse_system(text);
  if (!event) event = kernel_log::parse_parts(text);
  if (!event) return std::nullopt;
  make_printable(text, *event);
  return event;
}

KernelEvent make_xid_event(std::string_view pci_name, int code, std::string_view message) {
  message = message.substr(0, longest);
  KernelEvent event = kernel_log::make_xid(pci_name, code, message);
  make_printable(message, event);
  return event;
}

Provenance provenance_of(const KernelRecord& record) {
  return record.facility == 0 ? Provenance::kernel : Provenance::userspace;
}

std::optional<KernelEvent> find_kernel_event(const KernelRecord& record) {
  std::optional<KernelEvent> event = parse_kernel_text(record.text);
  if (!event || provenance_of(record) == Provenance::kernel) return event;
  const bool has_code = event->code > 0;
  const bool has_device = !event->device.empty();
  bool full = true;
  switch (event->kind) {
    case KernelEventKind::xid:
    case KernelEventKind::sxid: full = has_code && has_device; break;
    case KernelEventKind::fallen_off_bus:
    case KernelEventKind::amd_fault:
    case KernelEventKind::gpu_identity:
    case KernelEventKind::other_gpu: full = has_device; break;
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
    case KernelEventKind::link_up: break;
  }
  return full ? event : std::nullopt;
}

}  // namespace tundish
