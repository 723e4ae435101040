#include "runtime/agent/sys_files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/text.hpp"
#include "model/pci_address.hpp"

namespace tundish::agent {
namespace {
namespace fs = std::filesystem;

/// Counters that have limits in catalog/thresholds.yaml; the others would only cost reads, which on
/// some adapters are firmware commands (gpud #1164).
constexpr std::string_view ib_counters[] = {"link_downed",
                                            "excessive_buffer_overrun_errors",
                                            "local_link_integrity_errors",
                                            "symbol_error",
                                            "link_error_recovery",
                                            "port_rcv_errors",
                                            "port_xmit_discards"};
constexpr std::string_view hw_counters[] = {"rnr_nak_retry_err", "local_ack_timeout_err",
                                            "roce_slow_restart"};

/// One read without streams: hundreds of files are read at a look.
std::string read_text(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return "";
  char buffer[4096];
  const auto got = ::read(fd, buffer, sizeof buffer);
  ::close(fd);
  return got > 0 ? std::string(buffer, static_cast<std::size_t>(got)) : "";
}

std::string hex_of(const std::string& path) {
  std::string text = read_line(path);
  if (text.starts_with("0x")) text.erase(0, 2);
  return to_lower(text);
}

void add(std::vector<RawCounter>& out, std::string_view group, const std::string& device,
         std::string_view name, const std::optional<std::int64_t>& value) {
  if (!value || *value < 0) return;
  out.push_back({std::string(group), device, std::string(name), *value});
}

/// GPUs, accelerators, network adapters and NVMe drives. Source: PCI code and ID
/// assignment 1.11; checked 2026-11
bool is_watched(std::string_view pci_class) {
  return pci_class.starts_with("03") || pci_class.starts_with("12") ||
         pci_class.starts_with("02") || pci_class.starts_with("0108");
}

bool config_is_gone(const std::string& path) {
  const std::string head = read_text(path).substr(0, 4);
  return head.size() == 4 && head == std::string(4, '\xff');
}

void read_aer(const std::string& folder, const std::string& address,
              std::vector<RawCounter>& counters) {
  for (const auto& [file, name] :
       {std::pair("aer_dev_fatal", "fatal"), std::pair("aer_dev_nonfatal", "nonfatal"),
        std::pair("aer_dev_correctable", "correctable")}) {
    add(counters, "aer", address, name, parse_aer(read_text(folder + "/" + file)));
  }
}

/// ACS control of the bridges above a device: whether they send peer traffic up to the CPU. Root
/// alone reads so far into the configuration; nullopt when nobody tells.
std::optional<bool> acs_redirects(const std::string& device) {
  std::error_code failed;
  const fs::path real = fs::canonical(device, failed);
  if (failed) return std::nullopt;
  std::optional<bool> out;
  for (fs::path bridge = real.parent_path(); normalise_pci(bridge.filename().string());
       bridge = bridge.parent_path()) {
    if (const auto control = find_acs_control(read_text(bridge.string() + "/config"))) {
      // Request and completion redirect. Source: PCI Express 5.0, 7.7.8.3; checked 2026-11
      out = out.value_or(false) || (*control & 0x000c) != 0;
    }
  }
  return out;
}

std::vector<int> read_pkeys(const std::string& folder) {
  std::set<int> keys;
  for (const auto& name : list_folder(folder)) {
    const auto key = read_number(folder + "/" + name);
    // Bit 15 is full membership, 0x7fff the default.
    // Source: InfiniBand specification 1.4, 10.9.2; checked 2026-11
    const int base = static_cast<int>(key.value_or(0) & 0x7fff);
    if (base != 0 && base != 0x7fff) keys.insert(base);
  }
  return {keys.begin(), keys.end()};
}

}  // namespace

std::string read_line(const std::string& path) {
  const std::string text = read_text(path);
  return std::string(trim(std::string_view(text).substr(0, text.find('\n'))));
}

std::optional<std::int64_t> read_number(const std::string& path) {
  const std::string text = read_line(path);
  if (text.starts_with("0x")) return parse_integer(text.substr(2), 16);
  return parse_integer(text);
}

std::vector<std::string> list_folder(const std::string& path) {
  std::vector<std::string> out;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(path, failed)) {
    out.push_back(entry.path().filename().string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::optional<std::int64_t> parse_link_speed(std::string_view text) {
  const std::size_t end = text.find_first_not_of("0123456789.");
  if (end == 0 || end == std::string_view::npos || !text.substr(end).starts_with(" GT/s")) {
    return std::nullopt;
  }
  const std::string_view number = text.substr(0, end);
  const std::size_t dot = number.find('.');
  const auto whole = parse_integer(number.substr(0, dot));
  if (!whole || *whole > 1000) return std::nullopt;
  std::int64_t out = *whole * 1000;
  if (dot != std::string_view::npos && dot + 1 < number.size()) {
    const auto tenth = parse_integer(number.substr(dot + 1, 1));
    if (!tenth) return std::nullopt;
    out += *tenth * 100;
  }
  return out;
}

std::optional<std::int64_t> parse_rate(std::string_view text) {
  const std::size_t end = text.find_first_not_of("0123456789");
  if (end == std::string_view::npos || text.find(" Gb/sec") == std::string_view::npos) {
    return std::nullopt;
  }
  return parse_integer(text.substr(0, end));  // "2.5 Gb/sec" counts as 2
}

std::optional<std::int64_t> parse_aer(std::string_view text) {
  std::optional<std::int64_t> sum;
  for (const auto& line : split(text, '\n')) {
    const auto words = split(line, ' ');
    if (words.size() != 2) continue;
    const auto count = parse_integer(words[1]);
    if (!count || *count < 0 || *count > (std::int64_t{1} << 40)) continue;
    if (words[0].starts_with("TOTAL_ERR")) return count;
    sum = sum.value_or(0) + *count;
  }
  return sum;
}

std::optional<int> find_acs_control(std::string_view config) {
  const auto word_at = [&](std::size_t at) {
    return static_cast<int>(static_cast<unsigned char>(config[at])) |
           static_cast<int>(static_cast<unsigned char>(config[at + 1])) << 8;
  };
  // Id, then version (4 bits) and next offset (12). Source: PCI Express 5.0, 7.6.3; checked 2026-11
  constexpr int acs_capability = 0x000d;
  std::size_t at = 0x100;
  for (int i = 0; i < 64 && at >= 0x100 && at + 8 <= config.size(); ++i) {
    if (word_at(at) == acs_capability) return word_at(at + 6);
    at = static_cast<std::size_t>(word_at(at + 2) >> 4);
  }
  return std::nullopt;
}

std::vector<PciReading> read_pci(const std::string& sys, std::vector<RawCounter>& counters) {
  std::vector<PciReading> out;
  const std::string root = sys + "/bus/pci/devices";
  for (const auto& name : list_folder(root)) {
    const std::string folder = root + "/" + name;
    PciReading device;
    device.pci_class = hex_of(folder + "/class");
    const auto address = normalise_pci(name);
    // Functions beyond the first are audio, USB and management of the same card.
    if (!address || !name.ends_with(".0") || !is_watched(device.pci_class)) continue;
    device.address = *address;
    device.vendor = hex_of(folder + "/vendor");
    device.device = hex_of(folder + "/device");
    device.config_gone = config_is_gone(folder + "/config");
    device.speed_mt = parse_link_speed(read_line(folder + "/current_link_speed"));
    device.speed_max_mt = parse_link_speed(read_line(folder + "/max_link_speed"));
    device.width = read_number(folder + "/current_link_width");
    device.width_max = read_number(folder + "/max_link_width");
    // Virtual functions and emulated devices have no link of their own.
    const bool no_link = device.width.value_or(0) == 0 && !device.speed_max_mt;
    if (no_link && !device.config_gone && device.pci_class.substr(0, 2) != "03") continue;
    device.acs_redirects = acs_redirects(folder);
    read_aer(folder, device.address, counters);
    out.push_back(std::move(device));
  }
  return out;
}

std::vector<HcaPort> read_hcas(const std::string& sys, std::vector<RawCounter>& counters) {
  std::vector<HcaPort> out;
  const std::string root = sys + "/class/infiniband";
  std::set<std::string> openable;
  for (const auto& name : list_folder(sys + "/class/infiniband_verbs")) {
    openable.insert(read_line(sys + "/class/infiniband_verbs/" + name + "/ibdev"));
  }
  for (const auto& device : list_folder(root)) {
    const std::string firmware = read_line(root + "/" + device + "/fw_ver");
    const std::string board = read_line(root + "/" + device + "/board_id");
    for (const auto& number : list_folder(root + "/" + device + "/ports")) {
      const std::string folder = root + "/" + device + "/ports/" + number;
      HcaPort port{device, number, read_line(folder + "/state"), read_line(folder + "/phys_state")};
      port.link_layer = read_line(folder + "/link_layer");
      port.rate_gbit = parse_rate(read_line(folder + "/rate"));
      port.pkeys = read_pkeys(folder + "/pkeys");
      port.firmware = firmware;
      port.board = board;
      port.has_verbs = openable.contains(device);
      const std::string place = device + "/" + number;
      for (const auto name : ib_counters) {
        add(counters, "ib", place, name, read_number(folder + "/counters/" + std::string(name)));
      }
      for (const auto name : hw_counters) {
        add(counters, "ib", place, name, read_number(folder + "/hw_counters/" + std::string(name)));
      }
      out.push_back(std::move(port));
    }
  }
  return out;
}

std::vector<NetReading> read_nets(const std::string& sys, std::vector<RawCounter>& counters) {
  std::vector<NetReading> out;
  for (const auto& name : list_folder(sys + "/class/net")) {
    const std::string folder = sys + "/class/net/" + name;
    NetReading net;
    net.name = name;
    net.mac = to_lower(read_line(folder + "/address"));
    net.operstate = read_line(folder + "/operstate");
    if (net.mac.size() != 17 || net.mac == "00:00:00:00:00:00") continue;
    const auto speed = read_number(folder + "/speed");
    if (speed && *speed > 0) net.speed_mbit = speed;
    add(counters, "net", name, "carrier_changes", read_number(folder + "/carrier_changes"));
    out.push_back(std::move(net));
  }
  return out;
}

std::vector<ArrayReading> read_arrays(const std::string& sys) {
  std::vector<ArrayReading> out;
  for (const auto& name : list_folder(sys + "/block")) {
    const std::string folder = sys + "/block/" + name + "/md";
    const std::string state = read_line(folder + "/array_state");
    if (!name.starts_with("md") || state.empty() || state == "clear") continue;
    out.push_back({name, state, read_number(folder + "/degraded").value_or(0),
                   read_line(folder + "/sync_action")});
  }
  return out;
}

std::vector<NvmeReading> read_drives(const std::string& sys) {
  std::vector<NvmeReading> out;
  for (const auto& name : list_folder(sys + "/class/nvme")) {
    const std::string state = read_line(sys + "/class/nvme/" + name + "/state");
    if (state.empty()) continue;
    NvmeReading drive;
    drive.name = name;
    drive.state = state;
    out.push_back(std::move(drive));
  }
  return out;
}

std::vector<SensorReading> read_sensors(const std::string& sys) {
  std::vector<SensorReading> out;
  for (const auto& chip : list_folder(sys + "/class/hwmon")) {
    const std::string folder = sys + "/class/hwmon/" + chip;
    const std::string name = read_line(folder + "/name");
    for (const auto& file : list_folder(folder)) {
      if (!file.starts_with("temp") || !file.ends_with("_input")) continue;
      const std::string base = folder + "/" + file.substr(0, file.size() - 6);
      const auto milli = read_number(base + "_input");
      if (!milli) continue;
      SensorReading sensor;
      sensor.chip = name.empty() ? chip : name;
      sensor.label = read_line(base + "_label");
      if (sensor.label.empty()) sensor.label = file.substr(0, file.size() - 6);
      sensor.celsius = *milli / 1000;
      if (const auto critical = read_number(base + "_crit")) sensor.critical = *critical / 1000;
      out.push_back(std::move(sensor));
    }
  }
  return out;
}

void read_edac(const std::string& sys, std::vector<RawCounter>& counters) {
  const std::string root = sys + "/devices/system/edac/mc";
  for (const auto& name : list_folder(root)) {
    if (!name.starts_with("mc")) continue;
    for (const char* const counter : {"ce_count", "ue_count"}) {
      add(counters, "edac", name, counter, read_number(root + "/" + name + "/" + counter));
    }
  }
}

SysLook look_at_sys(const std::string& sys) {
  SysLook out;
  std::error_code ignored;
  if (fs::exists(sys + "/bus/pci/devices", ignored)) {
    out.pci = read_pci(sys, out.counters);
  } else {
    out.faults["pci"] = "the kernel shows no PCI bus";
  }
  out.hcas = read_hcas(sys, out.counters);  // no folder: no HCA driver is loaded, there is none
  if (fs::exists(sys + "/class/net", ignored)) {
    out.nets = read_nets(sys, out.counters);
  } else {
    out.faults["nets"] = "the kernel shows no interfaces";
  }
  if (fs::exists(sys + "/block", ignored)) {
    out.arrays = read_arrays(sys);
  } else {
    out.faults["arrays"] = "the kernel shows no block devices";
  }
  out.drives = read_drives(sys);
  out.sensors = read_sensors(sys);
  read_edac(sys, out.counters);
  return out;
}

}  // namespace tundish::agent
