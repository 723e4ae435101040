#include "codec/kernel_log/scan.hpp"
#include "codec/kernel_log/shapes.hpp"
#include "model/pci_address.hpp"

namespace tundish::kernel_log {
namespace {

/// The first word behind the code is the verdict; a "Fatal" further on is part of a description.
SeverityWord severity_word(std::string_view detail) {
  if (starts_with(detail, "Fatal,")) return SeverityWord::fatal;
  if (starts_with(detail, "Non-fatal,")) return SeverityWord::non_fatal;
  return SeverityWord::unstated;
}

bool take_switch_name(std::string_view& text) {
  std::string_view rest = text;
  if (!take(rest, "nvidia-nvswitch") || !take_number(rest) || !take(rest, ": ")) return false;
  text = rest;
  return true;
}

}  // namespace

std::optional<KernelEvent> parse_nvswitch(std::string_view text, KernelTextSource source) {
  if (!take_switch_name(text) && source != KernelTextSource::journald) return std::nullopt;
  if (!take(text, "SXid")) return std::nullopt;
  KernelEvent event;
  event.kind = KernelEventKind::sxid;
  event.detail = text;
  if (!take(text, " (")) return event;
  const std::string_view place = take_until(text, "),");
  if (text.empty()) return event;
  event.device = normalise_pci(place).value_or("");
  std::string_view after = text;
  if (!take(after, "): ")) return event;
  const auto code = take_number(after);
  if (!code || !take(after, ",")) return event;
  event.code = *code;
  const std::string_view detail = trim(after);
  event.detail = detail;
  event.severity = severity_word(detail);
  event.follow_up = starts_with(detail, "Severity ") || starts_with(detail, "Data {");
  read_link(detail, event);
  read_registers(detail, event);
  return event;
}

}  // namespace tundish::kernel_log
