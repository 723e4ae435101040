#pragma once
// What sysfs shows of a node's parts, below a root that tests give as a folder. No state: counters
// are what they show now.
#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/check_sample.hpp"

namespace tundish::agent {

/// One counter as the kernel shows it.
struct RawCounter {
  std::string group;
  std::string device;
  std::string name;
  std::int64_t value = 0;
  void fields(Fields& f) {
    f(1, "group", group, "ib, aer, edac, net, pcie, nvlink or ecc");
    f(2, "device", device, "as in CounterReading");
    f(3, "name", name, "as in CounterReading");
    f(4, "value", value, "what it shows");
  }
};

/// Everything that one pass over sysfs gives; `faults` says why a member is absent.
struct SysLook {
  std::optional<std::vector<PciReading>> pci;
  std::optional<std::vector<HcaPort>> hcas;
  std::optional<std::vector<NetReading>> nets;
  std::optional<std::vector<ArrayReading>> arrays;
  std::optional<std::vector<NvmeReading>> drives;
  std::optional<std::vector<SensorReading>> sensors;
  std::vector<RawCounter> counters;
  std::map<std::string, std::string> faults;
  Duration waited;
  void fields(Fields& f) {
    f(1, "pci", pci, "GPUs, HCAs and drives");
    f(2, "hcas", hcas, "ports of HCAs");
    f(3, "nets", nets, "interfaces");
    f(4, "arrays", arrays, "software RAID");
    f(5, "drives", drives, "NVMe controllers");
    f(6, "sensors", sensors, "hwmon");
    f(7, "counters", counters, "of all of them");
    f(8, "faults", faults, "why a member is absent");
    f(9, "waited", waited, "microseconds that the reader was ready and did not run");
  }
};

/// First line without spaces around it; empty when it cannot be read.
std::string read_line(const std::string& path);
/// A whole number of the first line, also written as 0x...; nullopt for anything else.
std::optional<std::int64_t> read_number(const std::string& path);
/// Names in a folder, sorted; empty when there is no such folder.
std::vector<std::string> list_folder(const std::string& path);

/// "32.0 GT/s PCIe" in 10^6 transfers; nullopt for "Unknown".
std::optional<std::int64_t> parse_link_speed(std::string_view text);
/// "400 Gb/sec (4X NDR)" -> 400.
std::optional<std::int64_t> parse_rate(std::string_view text);
/// "RxErr 0\nBadTLP 3\nTOTAL_ERR_COR 3\n": the total, or the sum where there is none.
std::optional<std::int64_t> parse_aer(std::string_view text);

/// The control word of the ACS capability in a device's configuration; nullopt: it has none, or
/// less than the extended space could be read.
std::optional<int> find_acs_control(std::string_view config);

std::vector<PciReading> read_pci(const std::string& sys, std::vector<RawCounter>& counters);
std::vector<HcaPort> read_hcas(const std::string& sys, std::vector<RawCounter>& counters);
std::vector<NetReading> read_nets(const std::string& sys, std::vector<RawCounter>& counters);
std::vector<ArrayReading> read_arrays(const std::string& sys);
/// State only; the health log needs a command to the drive.
std::vector<NvmeReading> read_drives(const std::string& sys);
std::vector<SensorReading> read_sensors(const std::string& sys);
void read_edac(const std::string& sys, std::vector<RawCounter>& counters);

SysLook look_at_sys(const std::string& sys);

}  // namespace tundish::agent
