// Any bytes as a record and as a text: no crash, and what comes out keeps its promises.
#include <algorithm>
#include <string_view>

#include "base/check.hpp"
#include "codec/kernel_log/event.hpp"
#include "model/pci_address.hpp"

namespace {

using namespace tundish;

bool printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

void examine(const KernelEvent& event) {
  check(printable(event.text) && printable(event.detail) && printable(event.process) &&
            printable(event.mig) && printable(event.block_device) && printable(event.subject),
        "texts that a tenant chose leave as printable ASCII");
  check(event.code >= 0 && event.parent_code >= 0, "codes are not negative");
  check(event.device.empty() || normalise_pci(event.device) == event.device,
        "a device is unknown or in its one spelling");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const auto source : {KernelTextSource::kmsg, KernelTextSource::journald}) {
    if (const auto event = parse_kernel_text(bytes, source)) examine(*event);
  }
  examine(make_xid_event("0000:3b:00.0", 94, bytes));
  check(unescape_kernel_text(escape_kernel_text(bytes)) == bytes, "escapes undo each other");
  if (const auto record = parse_kernel_record(bytes)) {
    check(record->seq >= 0 && record->usec >= 0 && record->level < 8, "header fields in range");
    if (const auto event = find_kernel_event(*record)) examine(*event);
  }
  return 0;
}
