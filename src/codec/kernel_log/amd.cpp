#include "codec/kernel_log/scan.hpp"
#include "codec/kernel_log/shapes.hpp"
#include "model/pci_address.hpp"

namespace tundish::kernel_log {
namespace {

struct Phrase {
  std::string_view words;
  SeverityWord severity;
};

/// Order matters: "uncorrectable" holds "correctable". A reset that began says nothing yet; one
/// that failed leaves the device undefined (ROCm/ROCm #3766).
constexpr Phrase phrases[] = {
    {"uncorrectable hardware error", SeverityWord::fatal},
    {"GPU reset begin!", SeverityWord::unstated},
    {"GPU reset succeeded", SeverityWord::non_fatal},
    {"failed with error", SeverityWord::fatal},
    {"GPU reset end with ret = 0", SeverityWord::non_fatal},
    {"GPU reset end with ret", SeverityWord::fatal},
    {"Accelerator Check Architecture events logged", SeverityWord::unstated},
    {"aca entry[", SeverityWord::unstated},
    {"timeout, signaled seq=", SeverityWord::unstated},
    {" correctable hardware error", SeverityWord::non_fatal},
};

std::optional<KernelEvent> match(std::string_view device, std::string_view words) {
  for (const Phrase& phrase : phrases) {
    if (!contains(words, phrase.words)) continue;
    if (phrase.words == "failed with error" && !contains(words, "GPU reset(")) continue;
    KernelEvent event;
    event.kind = KernelEventKind::amd_fault;
    event.severity = phrase.severity;
    event.device = device;
    event.detail = words;
    return event;
  }
  return std::nullopt;
}

}  // namespace

std::optional<KernelEvent> parse_amd(std::string_view text) {
  if (starts_with(text, "[Hardware Error]: Accelerator Check Architecture")) {
    return match({}, text);
  }
  if (starts_with(text, "aca entry[")) return match({}, text);
  if (!take(text, "amdgpu ")) return std::nullopt;
  const std::size_t end = text.find(": ");
  if (end == std::string_view::npos) return std::nullopt;
  const auto device = normalise_pci(text.substr(0, end));
  std::string_view words = text.substr(end + 2);
  take(words, "amdgpu: ");
  return match(device.value_or(""), words);
}

}  // namespace tundish::kernel_log
