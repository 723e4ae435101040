#include <algorithm>

#include "codec/kernel_log/scan.hpp"
#include "codec/kernel_log/shapes.hpp"
#include "model/pci_address.hpp"

namespace tundish::kernel_log {
namespace {

/// Linux TASK_COMM_LEN is 16 with its zero: the driver prints at most 15 bytes of name.
constexpr std::size_t longest_name = 15;

/// "PCI:0000:3b:00 GPU-I:05 GPU-CI:00"
void read_place(std::string_view place, KernelEvent& event) {
  const std::string_view address = take_until(place, " ");
  if (const auto device = normalise_pci(address)) event.device = *device;
  place = trim(place);
  if (starts_with(place, "GPU-I:")) event.mig = place;
}

/// Reads "pid=..., name=..., " and returns what certainly is the driver's own text. The name may
/// hold commas and words such as "RST: Yes", but is short: the last separator within its longest
/// extent is at or behind the true one, so nothing that a tenant wrote remains.
std::string_view skip_process(std::string_view detail, KernelEvent& event) {
  if (!take(detail, "pid=")) return detail;
  std::string_view pid = take_until(detail, ",");
  if (const auto number = take_number(pid); number && pid.empty()) event.pid = *number;
  take(detail, ",");
  detail = detail.substr(std::min(detail.find_first_not_of(' '), detail.size()));
  if (!take(detail, "name=")) return detail;
  event.process = detail.substr(0, std::min({detail.find(", "), longest_name, detail.size()}));
  const std::size_t end = detail.substr(0, longest_name + 2).rfind(", ");
  if (end == std::string_view::npos) return {};
  return detail.substr(end + 2);
}

ResetWord yes_or_no(std::string_view text) {
  if (starts_with(text, "Yes")) return ResetWord::yes;
  if (starts_with(text, "No")) return ResetWord::no;
  return ResetWord::unstated;
}

/// "RST: No, D-RST: Yes"
void read_reset_words(std::string_view words, KernelEvent& event) {
  constexpr std::string_view drain = "D-RST: ";
  constexpr std::string_view plain = "RST: ";
  if (const std::size_t at = words.rfind(drain); at != std::string_view::npos) {
    event.drain_reset = yes_or_no(words.substr(at + drain.size()));
    words = words.substr(0, at);
  }
  if (const std::size_t at = words.rfind(plain); at != std::string_view::npos) {
    event.reset = yes_or_no(words.substr(at + plain.size()));
  }
}

/// "... changed from 0x0 (None) to 0x1 (GPU Reset Required)"; the number may be missing.
void read_recovery_action(std::string_view words, KernelEvent& event) {
  const std::size_t at = words.rfind(" to ");
  if (at == std::string_view::npos) return;
  std::string_view target = words.substr(at + 4);
  if (take(target, "0x")) {
    const std::string_view digits = take_until(target, " (,.");
    const auto number = parse_integer(digits, 16);
    if (number && *number >= 0 && *number <= 0xffff) {
      event.recovery_action = static_cast<int>(*number);
    }
    return;
  }
  // Drivers differ in wording; "drain and reset" must be asked before plain "reset".
  static constexpr std::pair<std::string_view, int> phrases[] = {
      {"none", 0},   {"imex", 5}, {"drain and reset", 4}, {"drain p2p", 3}, {"reboot", 2},
      {"pf flr", 1}, {"reset", 1}};
  const std::string lower = to_lower(target);
  for (const auto& [phrase, number] : phrases) {
    if (!contains(lower, phrase)) continue;
    event.recovery_action = number;
    return;
  }
}

void read_parent(std::string_view words, KernelEvent& event) {
  constexpr std::string_view phrase = "caused by previous Xid ";
  const std::size_t at = words.rfind(phrase);
  if (at == std::string_view::npos) return;
  words.remove_prefix(at + phrase.size());
  event.parent_code = take_number(words).value_or(0);
}

/// NVLink5 (144-150): "NETIR_LINK_EVT Fatal XC0 i0 Link 08 (...)". The words are kept as registers;
/// the sub-code is not decoded here: its bit pattern depends on the driver's branch.
void read_nvlink5_severity(std::string_view words, KernelEvent& event) {
  take_until(words, " ");
  take(words, " ");
  const std::string word = to_lower(take_until(words, " "));
  if (word == "fatal") event.severity = SeverityWord::fatal;
  if (word == "nonfatal" || word == "non-fatal") event.severity = SeverityWord::non_fatal;
}

void read_message(std::string_view detail, KernelEvent& event) {
  event.detail = detail;
  const std::string_view words = skip_process(detail, event);
  read_parent(words, event);
  if (event.code == 94 || event.code == 95) read_reset_words(words, event);
  if (event.code == 154) read_recovery_action(words, event);
  if (event.code == 74 || (event.code >= 144 && event.code <= 150)) read_link(words, event);
  if (event.code >= 144 && event.code <= 150) read_nvlink5_severity(words, event);
  read_registers(words, event);
}

/// After "Xid": " (PCI:0000:3b:00): 79, ..." or whatever else a cut line left. The code is the
/// number right behind the first "): ", because later ones may belong to a process name.
KernelEvent parse_xid(std::string_view rest) {
  KernelEvent event;
  event.kind = KernelEventKind::xid;
  if (take(rest, " (")) {
    const std::string_view place = take_until(rest, "),");
    if (rest.empty()) {
      event.detail = place;  // the line was cut inside the brackets: half an address is none
      return event;
    }
    read_place(place, event);
    if (!take(rest, "): ")) {
      event.detail = rest;
      return event;
    }
  } else if (!take(rest, ": ")) {
    event.detail = rest;
    return event;
  }
  std::string_view after = rest;
  const auto code = take_number(after);
  if (!code || (!after.empty() && !contains(", .\n", after.substr(0, 1)))) {
    event.detail = rest;
    return event;
  }
  event.code = *code;
  take(after, ",");
  read_message(trim(after), event);
  return event;
}

KernelEvent about_gpu(KernelEventKind kind, std::string_view address, std::string_view detail) {
  KernelEvent event;
  event.kind = kind;
  event.device = normalise_pci(address).value_or("");
  event.detail = detail;
  return event;
}

/// After "GPU ": identity, "0000:18:00.0: GPU has fallen off the bus." or other news of a GPU.
std::optional<KernelEvent> parse_gpu_line(std::string_view rest) {
  if (take(rest, "at ")) {
    const std::size_t end = rest.find(": ");
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view uuid = trim(rest.substr(end + 2));
    return about_gpu(KernelEventKind::gpu_identity, rest.substr(0, end), uuid);
  }
  if (take(rest, "Board Serial Number:")) {
    KernelEvent event = about_gpu(KernelEventKind::gpu_identity, {}, trim(rest));
    event.follow_up = true;  // belongs to the "GPU at" line before it
    return event;
  }
  const std::size_t end = rest.find(": ");
  if (end == std::string_view::npos || !normalise_pci(rest.substr(0, end))) return std::nullopt;
  const std::string_view words = trim(rest.substr(end + 2));
  const auto kind = contains(words, "fallen off the bus") ? KernelEventKind::fallen_off_bus
                                                          : KernelEventKind::other_gpu;
  return about_gpu(kind, rest.substr(0, end), words);
}

/// After "The NVIDIA GPU ": the probe's three lines, one record in kmsg (newlines perhaps still
/// written as \x0a), three in a journal. "is not supported by ..." starts the same way.
KernelEvent parse_probe(std::string_view rest) {
  const std::string_view address = take_until(rest, " \n\\");
  const auto kind = contains(rest, "fallen off the bus") ? KernelEventKind::fallen_off_bus
                                                         : KernelEventKind::other_gpu;
  return about_gpu(kind, address, trim(rest));
}

}  // namespace

void read_registers(std::string_view words, KernelEvent& event) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] != '(' && words[i] != '{') continue;
    std::string_view group = words.substr(i + 1);
    group = take_until(group, ")}({");
    std::vector<std::string> found;
    bool all = true;
    while (!group.empty() && all) {
      group.remove_prefix(std::min(group.find_first_not_of(" ,"), group.size()));
      const std::string_view word = take_until(group, " ,");
      if (word.empty()) break;
      all = word.size() > 2 && word.size() <= 18 && starts_with(word, "0x") &&
            word.find_first_not_of("0123456789abcdefABCDEF", 2) == std::string_view::npos;
      if (all) found.emplace_back(word);
    }
    if (!all || found.size() < 2) continue;
    event.registers = std::move(found);
    return;
  }
}

void read_link(std::string_view words, KernelEvent& event) {
  std::size_t at = words.find("Link ");
  if (at == std::string_view::npos) at = words.find("link ");
  if (at == std::string_view::npos) return;
  words.remove_prefix(at + 5);
  if (starts_with(words, "-1"))
    event.link = -1;
  else
    event.link = take_number(words);
}

std::optional<KernelEvent> parse_nvidia(std::string_view text, KernelTextSource source) {
  const bool prefixed = take(text, "NVRM: ");
  if (!prefixed && source != KernelTextSource::journald) return std::nullopt;
  if (starts_with(text, "Xid (") || starts_with(text, "Xid:") || (prefixed && text == "Xid") ||
      (prefixed && starts_with(text, "Xid "))) {
    return parse_xid(text.substr(3));
  }
  if (take(text, "GPU ")) return parse_gpu_line(text);
  if (take(text, "The NVIDIA GPU ")) return parse_probe(text);
  if (!prefixed) return std::nullopt;
  if (contains(text, "fallen off the bus")) {
    return about_gpu(KernelEventKind::fallen_off_bus, {}, text);
  }
  if (contains(text, "RmInitAdapter failed") || contains(text, "rm_init_adapter failed")) {
    return about_gpu(KernelEventKind::other_gpu, {}, text);
  }
  return std::nullopt;
}

KernelEvent make_xid(std::string_view pci_name, int code, std::string_view message) {
  KernelEvent event;
  event.kind = KernelEventKind::xid;
  event.code = code;
  event.device = normalise_pci(pci_name).value_or("");
  read_message(trim(message), event);
  return event;
}

}  // namespace tundish::kernel_log
