#include "codec/kernel_log/event.hpp"

#include "codec/kernel_log/shapes.hpp"

namespace tundish {

std::optional<KernelEvent> parse_kernel_text(std::string_view text, KernelTextSource source) {
  // The kernel cuts records at about 1 KiB; more than this is not from it, and memory is bounded.
  constexpr std::size_t longest = 4096;
  text = text.substr(0, longest);
  std::optional<KernelEvent> event = kernel_log::parse_nvidia(text, source);
  if (!event) event = kernel_log::parse_nvswitch(text, source);
  if (!event) event = kernel_log::parse_amd(text);
  if (!event) event = kernel_log::parse_system(text);
  if (!event) return std::nullopt;
  event->text = escape_kernel_text(text);
  event->detail = escape_kernel_text(event->detail);
  event->process = escape_kernel_text(event->process);
  event->mig = escape_kernel_text(event->mig);
  event->block_device = escape_kernel_text(event->block_device);
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
    case KernelEventKind::io_error: break;
  }
  return full ? event : std::nullopt;
}

}  // namespace tundish
