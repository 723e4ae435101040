// The kernel's files of a node, as folders.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "runtime/agent/health_memory.hpp"
#include "runtime/agent/nvme_log.hpp"
#include "runtime/agent/probe.hpp"
#include "runtime/agent/proc_files.hpp"
#include "runtime/agent/sys_files.hpp"

namespace tundish::agent {
namespace {
namespace fs = std::filesystem;

class NodeFiles : public testing::Test {
 protected:
  void SetUp() override {
    root_ = testing::TempDir() + "node_files_" + std::to_string(::getpid());
    fs::remove_all(root_);
  }
  void TearDown() override { fs::remove_all(root_); }
  void put(const std::string& path, const std::string& text) {
    fs::create_directories(fs::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }
  void put_gpu(const std::string& address, const std::string& config) {
    const std::string folder = "/bus/pci/devices/" + address;
    put(folder + "/class", "0x030200\n");
    put(folder + "/vendor", "0x10de\n");
    put(folder + "/device", "0x2330\n");
    put(folder + "/config", config);
    put(folder + "/current_link_speed", "32.0 GT/s PCIe\n");
    put(folder + "/max_link_speed", "32.0 GT/s PCIe\n");
    put(folder + "/current_link_width", "8\n");
    put(folder + "/max_link_width", "16\n");
    put(folder + "/aer_dev_fatal", "Undefined 0\nTOTAL_ERR_FATAL 2\n");
  }
  std::string root_;
};

std::int64_t value_of(const std::vector<RawCounter>& counters, const std::string& name) {
  for (const auto& counter : counters) {
    if (counter.name == name) return counter.value;
  }
  return -1;
}

TEST_F(NodeFiles, a_probe_of_a_mount_trips_over_nobodys_file) {
  put("/data/.tundish-probe-" + std::to_string(::getpid()), "of another node");
  put("/data/" + probe_file_name(), "of a probe that was ended while the storage hung");
  EXPECT_EQ(use_mount(root_ + "/data").state, MountState::answered);
  EXPECT_TRUE(fs::exists(root_ + "/data/.tundish-probe-" + std::to_string(::getpid())));
  EXPECT_FALSE(fs::exists(root_ + "/data/" + probe_file_name())) << "and leaves none";
}

TEST_F(NodeFiles, PciDevices) {
  put_gpu("0000:3b:00.0", std::string("\xde\x10\x30\x23", 4));
  put_gpu("0000:4b:00.0", std::string(64, '\xff'));
  put_gpu("0000:3b:00.1", "audio");
  put("/bus/pci/devices/0000:00:1f.0/class", "0x060100\n");
  const auto look = look_at_sys(root_);
  ASSERT_TRUE(look.pci);
  ASSERT_EQ(look.pci->size(), 2U);
  EXPECT_EQ(look.pci->at(0).address, "0000:3b:00");
  EXPECT_EQ(look.pci->at(0).vendor, "10de");
  EXPECT_EQ(look.pci->at(0).width, 8);
  EXPECT_EQ(look.pci->at(0).width_max, 16);
  EXPECT_EQ(look.pci->at(0).speed_max_mt, 32000);
  EXPECT_FALSE(look.pci->at(0).config_gone);
  EXPECT_TRUE(look.pci->at(1).config_gone);
  EXPECT_EQ(value_of(look.counters, "fatal"), 2);
}

TEST_F(NodeFiles, AcsIsReadFromTheBridgesAbove) {
  std::string config(4096, '\0');
  config[0x100] = 1;  // advanced error reporting, next at 0x148
  config[0x103] = 0x14;
  config[0x102] = static_cast<char>(0x81);
  config[0x148] = 0x0d;
  config[0x14e] = 0x1d;
  EXPECT_EQ(find_acs_control(config), 0x1d);
  EXPECT_FALSE(find_acs_control(config.substr(0, 64)));
  EXPECT_FALSE(find_acs_control(std::string(4096, '\0')));
  EXPECT_FALSE(find_acs_control(std::string(4096, '\xff')));
  const std::string bridge = "/devices/pci0000:3a/0000:3a:00.0";
  put(bridge + "/config", config);
  put_gpu("x", "");
  fs::create_directories(root_ + bridge);
  fs::rename(root_ + "/bus/pci/devices/x", root_ + bridge + "/0000:3b:00.0");
  fs::create_symlink(root_ + bridge + "/0000:3b:00.0", root_ + "/bus/pci/devices/0000:3b:00.0");
  const auto look = look_at_sys(root_);
  ASSERT_EQ(look.pci->size(), 1U);
  EXPECT_EQ(look.pci->at(0).acs_redirects, true);
}

TEST_F(NodeFiles, WhatIsNotThereIsSaid) {
  const auto look = look_at_sys(root_);
  EXPECT_FALSE(look.pci);
  EXPECT_TRUE(look.faults.contains("pci"));
  EXPECT_TRUE(look.faults.contains("nets"));
  ASSERT_TRUE(look.hcas);  // no HCA driver: there is none
  EXPECT_TRUE(look.hcas->empty());
}

TEST_F(NodeFiles, Hcas) {
  const std::string port = "/class/infiniband/mlx5_0/ports/1";
  put("/class/infiniband/mlx5_0/fw_ver", "28.39.1002\n");
  put("/class/infiniband/mlx5_0/board_id", "MT_1\n");
  put(port + "/state", "4: ACTIVE\n");
  put(port + "/phys_state", "5: LinkUp\n");
  put(port + "/rate", "400 Gb/sec (4X NDR)\n");
  put(port + "/pkeys/0", "0x7fff\n");
  put(port + "/pkeys/1", "0x8101\n");
  put(port + "/pkeys/2", "0x0000\n");
  put(port + "/counters/link_downed", "3\n");
  put(port + "/hw_counters/rnr_nak_retry_err", "7\n");
  put("/class/infiniband_verbs/uverbs0/ibdev", "mlx5_0\n");
  const auto look = look_at_sys(root_);
  ASSERT_EQ(look.hcas->size(), 1U);
  const HcaPort& seen = look.hcas->at(0);
  EXPECT_EQ(seen.rate_gbit, 400);
  EXPECT_EQ(seen.pkeys, std::vector<int>{0x101});
  EXPECT_EQ(seen.firmware, "28.39.1002");
  EXPECT_TRUE(seen.has_verbs);
  EXPECT_EQ(value_of(look.counters, "link_downed"), 3);
  EXPECT_EQ(value_of(look.counters, "rnr_nak_retry_err"), 7);
}

TEST_F(NodeFiles, TheRestOfSysfs) {
  put("/class/net/eth0/address", "02:00:00:00:00:0A\n");
  put("/class/net/eth0/operstate", "up\n");
  put("/class/net/eth0/carrier_changes", "4\n");
  put("/class/net/lo/address", "00:00:00:00:00:00\n");
  put("/block/md0/md/array_state", "clean\n");
  put("/block/md0/md/degraded", "1\n");
  put("/block/sda/size", "1\n");
  put("/class/nvme/nvme0/state", "live\n");
  put("/class/hwmon/hwmon0/name", "coretemp\n");
  put("/class/hwmon/hwmon0/temp1_input", "50000\n");
  put("/class/hwmon/hwmon0/temp1_crit", "100000\n");
  put("/devices/system/edac/mc/mc0/ce_count", "5\n");
  put("/devices/system/edac/mc/mc0/ue_count", "garbage\n");
  const auto look = look_at_sys(root_);
  ASSERT_EQ(look.nets->size(), 1U);
  EXPECT_EQ(look.nets->at(0).mac, "02:00:00:00:00:0a");
  ASSERT_EQ(look.arrays->size(), 1U);
  EXPECT_EQ(look.arrays->at(0).degraded, 1);
  ASSERT_EQ(look.drives->size(), 1U);
  ASSERT_EQ(look.sensors->size(), 1U);
  EXPECT_EQ(look.sensors->at(0).celsius, 50);
  EXPECT_EQ(look.sensors->at(0).critical, 100);
  EXPECT_EQ(value_of(look.counters, "ce_count"), 5);
  EXPECT_EQ(value_of(look.counters, "ue_count"), -1);  // no number is no counter
}

TEST_F(NodeFiles, Processes) {
  const std::string tail = " 1 1 0 0 -1 0 0 0 0 0 0 0 0 0 20 0 3 0 77 0 0";
  put("/10/stat", "10 (slurmd) S" + tail);
  put("/11/stat", "11 (a) Z) D" + tail);
  put("/11/wchan", "nfs_wait_bit_killable");
  put("/12/stat", "12 (gone) Z" + tail);
  put("/sys/fs/file-nr", "1000\t0\t100000\n");
  put("/sys/kernel/pid_max", "32768\n");
  put("/sys/kernel/threads-max", "60000\n");
  std::map<std::int64_t, WaitingTask> waiting;
  const WatchedNames names{{"slurmd", "nvidia-fabricmanager"}};
  const Instant now{hours(1).us};
  auto first = look_at_processes(root_, names, waiting, now);
  EXPECT_TRUE(first.counts.stuck.empty());  // seen once: every disk read looks so
  EXPECT_EQ(first.counts.zombies, 1);
  EXPECT_EQ(first.counts.files, 1000);
  EXPECT_EQ(first.counts.files_most, 100000);
  EXPECT_EQ(first.counts.tasks_most, 32768);
  ASSERT_EQ(first.services.size(), 1U);
  EXPECT_TRUE(first.services[0].running);
  const auto second = look_at_processes(root_, names, waiting, now + minutes(5));
  ASSERT_EQ(second.counts.stuck.size(), 1U);
  EXPECT_EQ(second.counts.stuck[0].seconds, 300);
  EXPECT_EQ(second.counts.stuck[0].wait_channel, "nfs_wait_bit_killable");
  // The pid is used again by another task.
  put("/11/stat", "11 (b) D 1 1 0 0 -1 0 0 0 0 0 0 0 0 0 20 0 3 0 99 0 0");
  EXPECT_TRUE(look_at_processes(root_, names, waiting, now + minutes(6)).counts.stuck.empty());
}

TEST_F(NodeFiles, Pressure) {
  EXPECT_EQ(parse_pressure("some avg10=1.53 avg60=0\nfull avg10=0.07 avg60=0\n", "some"), 153);
  EXPECT_EQ(parse_pressure("some avg10=1.53 avg60=0\nfull avg10=0.07 avg60=0\n", "full"), 7);
  EXPECT_EQ(parse_pressure("some avg10=100 avg60=0\n", "some"), 10000);
  EXPECT_FALSE(parse_pressure("some avg10=x avg60=0\n", "some"));
  EXPECT_FALSE(parse_pressure("", "some"));
  EXPECT_EQ(parse_run_queue_wait("12345 7000000 3\n"), 7000);
  EXPECT_FALSE(parse_run_queue_wait("12345"));
}

TEST_F(NodeFiles, TheOwnWaitIsAShareOfTheLook) {
  put("/thread-self/schedstat", "100 0 1\n");
  put("/stat", "cpu  100 0 100 800 0 0 0 0 0 0\n");
  put("/pressure/cpu", "some avg10=40.00 avg60=0 avg300=0 total=1\n");
  PressureMeter meter(root_, "");
  (void)meter.read(Instant{1});
  meter.begin(Instant{seconds(10).us});
  put("/thread-self/schedstat", "100 500000000 2\n");
  put("/stat", "cpu  150 0 100 800 0 0 0 50 0 0\n");
  const auto seen = meter.read(Instant{seconds(11).us});
  EXPECT_EQ(seen.run_queue_wait, 5000);
  EXPECT_EQ(seen.steal, 5000);
  EXPECT_EQ(seen.cpu_some, 4000);
  EXPECT_FALSE(seen.io_full);
  EXPECT_FALSE(seen.fault.empty());
}

// Seen in the lab on a busy machine: 15 of 30 ms are no lack of CPU.
TEST_F(NodeFiles, MillisecondsOfWaitingAreNoLack) {
  put("/thread-self/schedstat", "100 0 1\n");
  PressureMeter meter(root_, "");
  meter.begin(Instant{seconds(10).us});
  put("/thread-self/schedstat", "100 15000000 2\n");
  EXPECT_EQ(meter.read(Instant{seconds(10).us + 30000}).run_queue_wait, 150);
}

TEST_F(NodeFiles, LustreImports) {
  put("/fs/lustre/osc/fs-OST0001-osc-ffff/import",
      "import:\n    name: fs-OST0001\n    target: fs-OST0001_UUID\n    state: DISCONN\n");
  const auto clients = read_storage(root_);
  ASSERT_EQ(clients.size(), 1U);
  EXPECT_EQ(clients[0].target, "fs-OST0001_UUID");
  EXPECT_EQ(clients[0].state, "DISCONN");
}

TEST(NvmeLog, HealthPage) {
  std::string page(512, '\0');
  page[0] = 4;
  page[3] = 90;
  page[4] = 10;
  page[5] = 120;
  page[161] = 1;
  NvmeReading drive;
  ASSERT_TRUE(parse_nvme_health(page, drive));
  EXPECT_EQ(drive.critical_warning, 4);
  EXPECT_EQ(drive.spare_percent, 90);
  EXPECT_EQ(drive.used_percent, 120);
  EXPECT_EQ(drive.media_errors, 256);
  EXPECT_FALSE(parse_nvme_health("short", drive));
}

TEST_F(NodeFiles, ATrendThatIsForgottenBeginsAnew) {
  const Instant now{hours(1000).us};
  HealthMemory memory(root_ + "/health.json", "boot1");
  (void)memory.add({{"net", "eth0", "carrier_changes", 5}, {"ib", "mlx5_0/1", "errors", 5}}, now);
  memory.forget("net");
  const auto seen = memory.add(
      {{"net", "eth0", "carrier_changes", 9}, {"ib", "mlx5_0/1", "errors", 9}}, now + minutes(1));
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0].grown, 4) << "the others stay";
  EXPECT_FALSE(seen[1].grown);
}

// A port that had come back was found "down for 240 s" by the agent of the next boot: its return
// was not on disk yet.
TEST_F(NodeFiles, WhatAPortDidIsOnDiskAtOnceAndABootIsNoLoss) {
  fs::create_directories(root_);
  const std::string file = root_ + "/health.json";
  const Instant now{hours(1000).us};
  std::vector<HcaPort> ports(1);
  ports[0].device = "mlx5_0";
  ports[0].port = "1";
  const auto look = [&](HealthMemory& memory, const char* state, Instant at) {
    ports[0].state = state;
    memory.look_at_ports(ports, at);
    EXPECT_TRUE(memory.save(at, minutes(10)));
    return ports[0].down_since;
  };
  HealthMemory first(file, "boot1");
  EXPECT_EQ(look(first, "1: DOWN", now), now);
  EXPECT_FALSE(look(first, "4: ACTIVE", now + minutes(1)).is_set());
  EXPECT_EQ(ports[0].drops, 0) << "it had not been up before";
  HealthMemory restarted(file, "boot1");
  EXPECT_EQ(look(restarted, "1: DOWN", now + minutes(4)), now + minutes(4));
  EXPECT_FALSE(look(restarted, "4: ACTIVE", now + minutes(5)).is_set());
  EXPECT_EQ(ports[0].drops, 1);
  EXPECT_EQ(look(restarted, "1: DOWN", now + minutes(6)), now + minutes(6));
  HealthMemory rebooted(file, "boot2");
  EXPECT_EQ(look(rebooted, "1: DOWN", now + minutes(9)), now + minutes(9));
  EXPECT_FALSE(look(rebooted, "4: ACTIVE", now + minutes(10)).is_set());
  EXPECT_EQ(ports[0].drops, 1) << "losses stay, the boot is none";
}

TEST_F(NodeFiles, TrendsSurviveARestartAndEndWithABoot) {
  fs::create_directories(root_);
  const std::string file = root_ + "/health.json";
  const Instant now{hours(1000).us};
  const std::vector<RawCounter> before = {{"ib", "mlx5_0/1", "link_downed", 5}};
  {
    HealthMemory memory(file, "boot1");
    EXPECT_FALSE(memory.add(before, now).at(0).grown);
    ASSERT_TRUE(memory.save(now, minutes(10)));
  }
  const std::vector<RawCounter> after = {{"ib", "mlx5_0/1", "link_downed", 7}};
  HealthMemory again(file, "boot1");
  const auto seen = again.add(after, now + minutes(1));
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0].grown, 2);
  EXPECT_EQ(seen[0].device, "mlx5_0/1");
  HealthMemory rebooted(file, "boot2");
  EXPECT_FALSE(rebooted.add(after, now + minutes(1)).at(0).grown);
  std::ofstream(file) << "{broken";
  HealthMemory broken(file, "boot1");
  EXPECT_FALSE(broken.add(after, now + minutes(1)).at(0).grown);
}

}  // namespace
}  // namespace tundish::agent
