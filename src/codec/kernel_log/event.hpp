#pragma once
// Kernel log text -> KernelEvent. Pure and total: every byte string gets an answer.
#include <optional>
#include <string_view>

#include "codec/kernel_log/record.hpp"
#include "model/kernel_event.hpp"

namespace tundish {

/// journald moves the "NVRM: " of a user-space record into SYSLOG_IDENTIFIER, so only its messages
/// may lack it; in /dev/kmsg a line without it is somebody quoting.
enum class KernelTextSource { kmsg, journald };

/// Every shape is anchored at the start of the record: a line that quotes one is nothing. What the
/// line says is taken from the driver's own part of it, never from the name of the process.
std::optional<KernelEvent> parse_kernel_text(std::string_view text,
                                             KernelTextSource source = KernelTextSource::kmsg);

/// The tracepoint nvidia:nvidia_dev_xid: its fields are already apart.
KernelEvent make_xid_event(std::string_view pci_name, int code, std::string_view message);

/// Facility 0 is the kernel; all else was written through /dev/kmsg or a syslog socket.
Provenance provenance_of(const KernelRecord& record);

/// The event of a record. From user space only a line with a readable device and code counts; from
/// the kernel a cut or unknown line still counts, with the device unknown.
std::optional<KernelEvent> find_kernel_event(const KernelRecord& record);

}  // namespace tundish
