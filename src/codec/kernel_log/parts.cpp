// Lines of the rest of the node. Sources of the shapes: kernel/watchdog_hld.c,
// kernel/rcu/tree_stall.h, net/sunrpc/clnt.c, drivers/edac/edac_mc.c, drivers/pci/pcie/aer.c, mlx5
// events.c, lustre ptlrpc/import.c; checked 2026-11 from printed messages in public reports.
#include "codec/kernel_log/scan.hpp"
#include "codec/kernel_log/shapes.hpp"
#include "model/pci_address.hpp"

namespace tundish::kernel_log {
namespace {

KernelEvent make_event(KernelEventKind kind, std::string_view text) {
  KernelEvent event;
  event.kind = kind;
  event.detail = text;
  return event;
}

/// "watchdog: Watchdog detected hard LOCKUP on cpu 3"
std::optional<KernelEvent> parse_hard_lockup(std::string_view text) {
  std::string_view rest = text;
  if (!take(rest, "NMI watchdog: ")) take(rest, "watchdog: ");
  if (!take(rest, "Watchdog detected hard LOCKUP on cpu ")) return std::nullopt;
  KernelEvent event = make_event(KernelEventKind::hard_lockup, text);
  event.subject = "CPU " + std::string(take_until(rest, " ,\n"));
  return event;
}

/// "rcu: INFO: rcu_sched self-detected stall on CPU"; "... detected stalls on CPUs/tasks:"
std::optional<KernelEvent> parse_rcu(std::string_view text) {
  std::string_view rest = text;
  take(rest, "rcu: ");
  if (!take(rest, "INFO: rcu_")) return std::nullopt;
  if (!contains(rest, "self-detected stall on CPU") && !contains(rest, "detected stalls on CPU")) {
    return std::nullopt;
  }
  return make_event(KernelEventKind::rcu_stall, text);
}

std::optional<KernelEvent> parse_oops(std::string_view text) {
  for (const std::string_view words :
       {"BUG: unable to handle ", "BUG: kernel NULL pointer dereference", "kernel BUG at ",
        "Oops: ", "general protection fault", "Kernel panic - ", "Internal error: Oops"}) {
    if (starts_with(text, words)) return make_event(KernelEventKind::kernel_oops, text);
  }
  return std::nullopt;
}

/// "nfs: server 10.0.0.5 not responding, still trying"; "nfs: server 10.0.0.5 OK"
std::optional<KernelEvent> parse_nfs(std::string_view text) {
  std::string_view rest = text;
  if (!take(rest, "nfs: server ")) return std::nullopt;
  const std::string_view server = take_until(rest, " ");
  const bool silent = starts_with(rest, " not responding");
  if (!silent && rest != " OK") return std::nullopt;
  KernelEvent event =
      make_event(silent ? KernelEventKind::server_silent : KernelEventKind::server_back, text);
  event.subject = server;
  return event;
}

/// Words up to the next of " ;,)" after `words`.
std::string_view word_after(std::string_view text, std::string_view words) {
  const std::size_t at = text.find(words);
  if (at == std::string_view::npos) return {};
  std::string_view rest = text.substr(at + words.size());
  return take_until(rest, " ;,)\n");
}

/// "Lustre: fs-OST0001-osc-ffff: Connection to fs-OST0001 (at 10.0.0.5@o2ib) was lost; ...",
/// "...: Connection restored to 10.0.0.5@o2ib (...)", "...: This client was evicted by fs-OST0001".
std::optional<KernelEvent> parse_lustre(std::string_view text) {
  if (!starts_with(text, "Lustre: ") && !starts_with(text, "LustreError: ")) return std::nullopt;
  const auto make = [&](KernelEventKind kind, std::string_view subject) {
    KernelEvent event = make_event(kind, text);
    event.subject = subject;
    return event;
  };
  if (contains(text, "This client was evicted by ")) {
    return make(KernelEventKind::client_evicted, word_after(text, "evicted by "));
  }
  if (contains(text, ": Connection to ") && contains(text, " was lost")) {
    std::string_view server = word_after(text, " (at ");
    if (server.empty()) server = word_after(text, ": Connection to ");
    return make(KernelEventKind::server_silent, server);
  }
  if (contains(text, ": Connection restored to ")) {
    std::string_view server = word_after(text, " (at ");
    if (server.empty()) server = word_after(text, ": Connection restored to ");
    return make(KernelEventKind::server_back, server);
  }
  return std::nullopt;
}

/// "EDAC MC0: 1 CE memory read error on ...", "{1}[Hardware Error]: event severity: corrected".
std::optional<KernelEvent> parse_memory(std::string_view text) {
  std::string_view rest = text;
  if (take(rest, "EDAC MC")) {
    KernelEvent event = make_event(KernelEventKind::memory_error, text);
    event.subject = "mc" + std::string(take_until(rest, ":"));
    if (!take(rest, ": ") || !take_number(rest)) return std::nullopt;
    event.corrected = starts_with(rest, " CE ");
    if (!event.corrected && !starts_with(rest, " UE ")) return std::nullopt;
    return event;
  }
  if (starts_with(rest, "{")) {
    take_until(rest, "}");
    take(rest, "}");
  } else {
    take(rest, "mce: ");
  }
  if (!take(rest, "[Hardware Error]: ")) {
    // "Memory failure: 0x1234: recovery action for dirty page: Recovered"
    if (!starts_with(text, "Memory failure: 0x")) return std::nullopt;
    return make_event(KernelEventKind::memory_error, text);
  }
  const bool severity = take(rest, "event severity: ");
  if (!severity && !starts_with(rest, "Machine check events logged")) return std::nullopt;
  KernelEvent event = make_event(KernelEventKind::memory_error, text);
  event.corrected = !severity || starts_with(rest, "corrected");
  return event;
}

/// "DRIVER 0000:3a:00.0: REST" -> the address; empty when the line has no such beginning.
std::string_view take_driver(std::string_view& rest) {
  std::string_view probe = rest;
  if (take_until(probe, " ").empty() || !take(probe, " ")) return {};
  const std::string_view address = probe.substr(0, probe.find_first_of(" \n"));
  const bool shaped = address.size() >= 12 && address[4] == ':' && address[7] == ':';
  if (!shaped || !normalise_pci(address.substr(0, 12))) return {};
  probe.remove_prefix(12);
  rest = probe;
  return address.substr(0, 12);
}

/// "pcieport 0000:3a:00.0: AER: Corrected error received: 0000:3b:00.0"
std::optional<KernelEvent> parse_aer(std::string_view text, std::string_view rest,
                                     std::string_view address) {
  if (!take(rest, ": AER: ")) return std::nullopt;
  take(rest, "Multiple ");
  const bool corrected = take(rest, "Corrected ") || take(rest, "Correctable ");
  if (!corrected && !take(rest, "Uncorrected ") && !take(rest, "Uncorrectable ")) {
    return std::nullopt;
  }
  if (!contains(rest, "received")) return std::nullopt;
  KernelEvent event = make_event(KernelEventKind::pcie_error, text);
  event.corrected = corrected;
  event.severity = contains(rest, "(Fatal)")       ? SeverityWord::fatal
                   : contains(rest, "(Non-Fatal)") ? SeverityWord::non_fatal
                                                   : SeverityWord::unstated;
  std::string_view from = word_after(rest, "received: ");
  if (from.empty()) from = word_after(rest, "received from ");
  event.device = normalise_pci(from).value_or(normalise_pci(address).value_or(""));
  return event;
}

/// "mlx5_core 0000:5e:00.0: ... Detected insufficient power on the PCIe slot (27W)."; refused
/// registers are left out, since programs that read them cause the lines (gpud #1164).
std::optional<KernelEvent> parse_nic(std::string_view text, std::string_view rest,
                                     std::string_view address) {
  const bool bad = contains(rest, "insufficient power") || contains(rest, "igh temperature") ||
                   contains(rest, "Power budget exceeded") || contains(rest, "Cable error");
  if (!bad) return std::nullopt;
  KernelEvent event = make_event(KernelEventKind::nic_fault, text);
  event.device = normalise_pci(address).value_or("");
  return event;
}

/// "mlx5_core 0000:5e:00.0 eth0: Link down", "e1000e 0000:00:1f.6 eth0: NIC Link is Down"
std::optional<KernelEvent> parse_link(std::string_view text, std::string_view rest,
                                      std::string_view address) {
  if (!take(rest, " ")) return std::nullopt;
  const std::string_view interface = take_until(rest, ":");
  if (!take(rest, ": ") || contains(interface, " ")) return std::nullopt;
  const bool down = starts_with(rest, "Link down") || starts_with(rest, "NIC Link is Down");
  const bool up = starts_with(rest, "Link up") || starts_with(rest, "NIC Link is Up");
  if (!down && !up) return std::nullopt;
  KernelEvent event =
      make_event(down ? KernelEventKind::link_down : KernelEventKind::link_up, text);
  event.subject = interface;
  event.device = normalise_pci(address).value_or("");
  return event;
}

}  // namespace

std::optional<KernelEvent> parse_parts(std::string_view text) {
  if (auto event = parse_hard_lockup(text)) return event;
  if (auto event = parse_rcu(text)) return event;
  if (auto event = parse_oops(text)) return event;
  if (auto event = parse_nfs(text)) return event;
  if (auto event = parse_lustre(text)) return event;
  if (auto event = parse_memory(text)) return event;
  std::string_view rest = text;
  const std::string_view address = take_driver(rest);
  if (address.empty()) return std::nullopt;
  if (auto event = parse_aer(text, rest, address)) return event;
  if (starts_with(text, "mlx5_core ")) {
    if (auto event = parse_nic(text, rest, address)) return event;
  }
  return parse_link(text, rest, address);
}

}  // namespace tundish::kernel_log
