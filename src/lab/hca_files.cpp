#include "lab/hca_files.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "lab/namespaces.hpp"

namespace tundish::lab {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t shown_pkeys = 16;  // at least, of a table that is longer

/// 0x0002c90301000100 as sysfs writes it: 0002:c903:0100:0100.
std::string colons(const std::string& guid) {
  std::string out;
  for (std::size_t i = 2; i < guid.size(); ++i) {
    if (i > 2 && (i - 2) % 4 == 0) out += ':';
    out += guid[i];
  }
  return out;
}

/// Source: Linux drivers/infiniband/core/sysfs.c, state_show and phys_state_show; checked 2026-11.
std::string state_line(HcaLink link) {
  switch (link) {
    case HcaLink::down: return "1: DOWN\n";
    case HcaLink::init: return "2: INIT\n";
    case HcaLink::armed: return "3: ARMED\n";
    case HcaLink::active: return "4: ACTIVE\n";
  }
  return "";
}

std::string hex_line(int number) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%x\n", static_cast<unsigned>(number));
  return text;
}

std::string port_folder(const std::string& sysclass, const LabHca& hca) {
  return sysclass + "/infiniband/" + hca.name + "/ports/1";
}

/// Those that passive checks judge; nothing in the lab counts, injected errors do.
Result<> write_counters(const std::string& port) {
  TRY_VOID(make_folder(port + "/counters"));
  TRY_VOID(make_folder(port + "/hw_counters"));
  for (const char* const name :
       {"symbol_error", "link_error_recovery", "link_downed", "port_rcv_errors",
        "port_xmit_discards", "local_link_integrity_errors", "excessive_buffer_overrun_errors"}) {
    TRY_VOID(write_text(port + "/counters/" + name, "0\n"));
  }
  for (const char* const name :
       {"rnr_nak_retry_err", "local_ack_timeout_err", "roce_slow_restart"}) {
    TRY_VOID(write_text(port + "/hw_counters/" + name, "0\n"));
  }
  return {};
}

Result<> replace_text(const std::string& sysclass, const std::string& path,
                      const std::string& text) {
  const std::string staged = sysclass + ".new";  // beside the folder that the node sees
  TRY_VOID(write_text(staged, text));
  std::error_code failed;
  fs::rename(staged, path, failed);
  if (failed) {
    return make_error(Code::unavailable, "cannot replace " + path + ": " + failed.message());
  }
  return {};
}

}  // namespace

std::string_view link_name(HcaLink link) {
  switch (link) {
    case HcaLink::down: return "down";
    case HcaLink::init: return "init";
    case HcaLink::armed: return "armed";
    case HcaLink::active: return "active";
  }
  return "";
}

/// Shapes of the files: Linux Documentation/ABI/stable/sysfs-class-infiniband.
Result<> prepare_hcas(const std::string& sysclass, const LabNode& node) {
  TRY_VOID(make_folder(sysclass + "/infiniband"));
  for (const auto& hca : node.hcas) {
    const std::string folder = sysclass + "/infiniband/" + hca.name;
    const std::string port = port_folder(sysclass, hca);
    std::error_code ignored;
    if (fs::exists(port + "/link_layer", ignored)) continue;
    TRY_VOID(make_folder(port + "/gids"));
    TRY_VOID(make_folder(port + "/pkeys"));
    TRY_VOID(write_text(folder + "/node_type", "1: CA\n"));
    TRY_VOID(write_text(folder + "/node_guid", colons(hca.node_guid) + "\n"));
    TRY_VOID(write_text(port + "/rate", "400 Gb/sec (4X NDR)\n"));
    TRY_VOID(write_text(folder + "/fw_ver", "28.39.1002\n"));
    TRY_VOID(write_text(folder + "/board_id", "MT_0000000838\n"));
    TRY_VOID(write_counters(port));
    TRY_VOID(make_folder(sysclass + "/infiniband_verbs/uverbs-" + hca.name));
    TRY_VOID(
        write_text(sysclass + "/infiniband_verbs/uverbs-" + hca.name + "/ibdev", hca.name + "\n"));
    TRY_VOID(write_text(port + "/gids/0", "fe80:0000:0000:0000:" + colons(hca.guid) + "\n"));
    HcaState state;
    if (hca.ib_switch.empty()) state.link = HcaLink::active;  // no fabric is behind it
    TRY_VOID(write_hca_state(sysclass, hca, state));
    TRY_VOID(write_text(port + "/link_layer", "InfiniBand\n"));
  }
  return {};
}

Result<> write_hca_state(const std::string& sysclass, const LabHca& hca, const HcaState& state) {
  const std::string port = port_folder(sysclass, hca);
  auto keys = state.pkeys;
  while (keys.size() > shown_pkeys && keys.back() == "0x0000") keys.pop_back();
  if (!hca.ib_switch.empty()) keys.resize(std::max(keys.size(), shown_pkeys), "0x0000");
  for (std::size_t i = 0; i < keys.size(); ++i) {
    TRY_VOID(replace_text(sysclass, port + "/pkeys/" + std::to_string(i), keys[i] + "\n"));
  }
  std::error_code ignored;
  for (std::size_t i = keys.size(); fs::remove(port + "/pkeys/" + std::to_string(i), ignored);) ++i;
  TRY_VOID(replace_text(sysclass, port + "/lid", hex_line(state.lid)));
  TRY_VOID(replace_text(sysclass, port + "/phys_state",
                        state.link == HcaLink::down ? "2: Polling\n" : "5: LinkUp\n"));
  return replace_text(sysclass, port + "/state", state_line(state.link));
}

}  // namespace tundish::lab
