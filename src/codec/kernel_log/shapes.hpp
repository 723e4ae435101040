#pragma once
// The families of kernel lines, one function each; each looks at the start of the record only.
#include <optional>
#include <string_view>

#include "codec/kernel_log/event.hpp"

namespace tundish::kernel_log {

/// "NVRM: Xid ...", identities, GPUs off the bus. `text` starts with "NVRM: " unless journald.
std::optional<KernelEvent> parse_nvidia(std::string_view text, KernelTextSource source);
/// An XID whose place and code were told apart from its message.
KernelEvent make_xid(std::string_view pci_name, int code, std::string_view message);
/// "nvidia-nvswitch3: SXid (...): ..."
std::optional<KernelEvent> parse_nvswitch(std::string_view text, KernelTextSource source);
std::optional<KernelEvent> parse_amd(std::string_view text);
/// OOM kills, hung tasks, soft lockups, file system and block errors.
std::optional<KernelEvent> parse_system(std::string_view text);
/// What blame needs beside GPUs: lockups, storage servers, memory, PCIe, network adapters.
std::optional<KernelEvent> parse_parts(std::string_view text);

/// Fills registers from the first bracketed group of two or more 0x words.
void read_registers(std::string_view words, KernelEvent& event);
/// Fills link from "link N" or "Link N".
void read_link(std::string_view words, KernelEvent& event);

}  // namespace tundish::kernel_log
