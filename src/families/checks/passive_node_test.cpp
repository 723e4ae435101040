// Tables of samples: network, storage, CPUs, memory and the system of a node.
#include "families/checks/sample_for_test.hpp"

namespace tundish::checks {
namespace {

using S = VerdictState;
using K = KernelEventKind;

struct Row {
  const char* check;
  const char* what;
  S expected;
  void (*change)(CheckSample&);
};

void add_event(CheckSample& s, K kind, const std::string& subject = "", std::int64_t seq = 0) {
  auto seen = event_of(s, kind, subject);
  seen.seq = seq;
  s.events->push_back(seen);
}
void age_event(CheckSample& s, K kind, Duration age) {
  add_event(s, kind);
  s.events->back().last_at = s.now - age;
}
HcaPort& port(CheckSample& s) { return s.hcas->at(0); }
void take_time(CheckSample& s, Duration took, MountState state = MountState::answered) {
  MountProbe probe;
  probe.target = "/data";
  probe.state = state;
  probe.took = took;
  s.mounts = {probe};
}

const Row rows[] = {
    {"ib_port", "down", S::fail, [](CheckSample& s) { port(s).state = "1: DOWN"; }},
    {"ib_port", "waits for the manager", S::unknown,
     [](CheckSample& s) { port(s).state = "2: INIT"; }},
    {"ib_port", "slow", S::fail, [](CheckSample& s) { port(s).rate_gbit = 200; }},
    {"ib_port", "rate not told", S::unknown, [](CheckSample& s) { port(s).rate_gbit.reset(); }},
    {"ib_port", "unread", S::unknown, [](CheckSample& s) { s.hcas.reset(); }},
    {"ib_counters", "link_downed", S::warn,
     [](CheckSample& s) { counter_in(s, "ib", "link_downed").grown = 1; }},
    {"ib_counters", "errors", S::fail,
     [](CheckSample& s) { counter_in(s, "ib", "port_rcv_errors").per_minute = 601; }},
    {"ib_counters", "symbols of an hour", S::fail,
     [](CheckSample& s) { counter_in(s, "ib", "symbol_error").grown = 242; }},
    {"ib_counters", "symbols of a good hour", S::ok,
     [](CheckSample& s) { counter_in(s, "ib", "symbol_error").grown = 240; }},
    {"ib_counters", "a total is no rate", S::ok,
     [](CheckSample& s) { counter_in(s, "ib", "port_rcv_errors").total = 1000000; }},
    {"ib_counters", "unread", S::unknown, [](CheckSample& s) { s.counters.reset(); }},
    {"ib_flap", "three drops", S::fail, [](CheckSample& s) { port(s).drops = 3; }},
    {"ib_flap", "two drops", S::ok, [](CheckSample& s) { port(s).drops = 2; }},
    {"ib_flap", "away 4 min", S::fail,
     [](CheckSample& s) { port(s).down_since = s.now - minutes(4); }},
    {"ib_flap", "away 3 min", S::ok,
     [](CheckSample& s) { port(s).down_since = s.now - minutes(3); }},
    {"ib_pkey", "another tenant's", S::fail, [](CheckSample& s) { port(s).pkeys = {0x102}; }},
    {"ib_pkey", "one too many", S::fail, [](CheckSample& s) { port(s).pkeys = {0x101, 0x102}; }},
    {"ib_pkey", "nobody says", S::unknown, [](CheckSample& s) { s.expect.pkeys.reset(); }},
    {"nic_device", "one without", S::fail,
     [](CheckSample& s) {
       HcaPort more = port(s);
       more.device = "mlx5_1";
       more.has_verbs = false;
       s.hcas->push_back(more);
     }},
    {"nic_device", "none has one", S::unknown, [](CheckSample& s) { port(s).has_verbs = false; }},
    {"ethernet_link", "down", S::warn,
     [](CheckSample& s) { s.nets->at(0).operstate = "down"; }},
    {"ethernet_link", "down on a node that serves nobody, though it is taken", S::ok,
     [](CheckSample& s) {
       s.expect.in_use = true;
       s.expect.services.clear();
       s.nets->at(0).operstate = "down";
     }},
    {"ethernet_link", "flaps", S::warn,
     [](CheckSample& s) { counter_in(s, "net", "carrier_changes").grown = 3; }},
    {"ethernet_link", "went once", S::ok,
     [](CheckSample& s) { counter_in(s, "net", "carrier_changes").grown = 2; }},
    {"ethernet_link", "unread", S::unknown, [](CheckSample& s) { s.nets.reset(); }},
    {"nic_firmware", "not the declared", S::warn,
     [](CheckSample& s) { s.expect.nic_firmware = "28.40"; }},
    {"nic_firmware", "complains", S::warn, [](CheckSample& s) { add_event(s, K::nic_fault); }},
    {"nic_firmware", "complained yesterday", S::ok,
     [](CheckSample& s) { age_event(s, K::nic_fault, hours(24)); }},
    {"nic_firmware", "not told", S::unknown, [](CheckSample& s) { port(s).firmware.clear(); }},
    {"mount_table", "gone", S::fail, [](CheckSample& s) { s.mount_table->clear(); }},
    {"mount_table", "read-only", S::fail,
     [](CheckSample& s) { s.mount_table->at(0).read_only = true; }},
    {"mount_table", "another type", S::fail,
     [](CheckSample& s) { s.mount_table->at(0).type = "tmpfs"; }},
    {"mount_table", "unread", S::unknown, [](CheckSample& s) { s.mount_table.reset(); }},
    {"storage_latency", "soon", S::ok, [](CheckSample& s) { take_time(s, seconds(5)); }},
    {"storage_latency", "late", S::warn, [](CheckSample& s) { take_time(s, milliseconds(5001)); }},
    {"storage_latency", "a hang is another check's, and no time", S::unknown,
     [](CheckSample& s) { take_time(s, seconds(10), MountState::hung); }},
    {"storage_latency", "no limit", S::unknown,
     [](CheckSample& s) {
       take_time(s, seconds(1));
       s.limits.clear();
     }},
    {"storage_latency", "not looked", S::unknown, [](CheckSample& s) { s.mounts.reset(); }},
    {"storage_server", "silent", S::fail,
     [](CheckSample& s) { add_event(s, K::server_silent, "srv", 10); }},
    {"storage_server", "back", S::ok,
     [](CheckSample& s) {
       add_event(s, K::server_silent, "srv", 10);
       add_event(s, K::server_back, "srv", 11);
     }},
    {"storage_server", "another one is back", S::fail,
     [](CheckSample& s) {
       add_event(s, K::server_silent, "srv", 10);
       add_event(s, K::server_back, "other", 11);
     }},
    {"storage_server", "forged", S::ok,
     [](CheckSample& s) {
       add_event(s, K::server_silent, "srv", 10);
       s.events->back().provenance = Provenance::userspace;
     }},
    {"storage_server", "evicted", S::warn,
     [](CheckSample& s) { add_event(s, K::client_evicted, "fs-OST0001"); }},
    {"storage_server", "import lost", S::fail,
     [](CheckSample& s) { s.storage = {{"fs-OST0001", "lustre", "DISCONN"}}; }},
    {"storage_server", "no log", S::unknown, [](CheckSample& s) { s.events.reset(); }},
    {"disk_space", "19 %", S::warn, [](CheckSample& s) { s.disks->at(0).free_mib = 19000; }},
    {"disk_space", "4 %", S::fail, [](CheckSample& s) { s.disks->at(0).free_mib = 4000; }},
    {"disk_space", "inodes", S::warn, [](CheckSample& s) { s.disks->at(0).inodes_free = 50; }},
    {"disk_space", "hangs", S::unknown,
     [](CheckSample& s) { s.disks->at(0).fault = "hangs: no answer within 10 s"; }},
    {"disk_errors", "now", S::fail, [](CheckSample& s) { add_event(s, K::io_error); }},
    {"disk_errors", "two days ago", S::ok,
     [](CheckSample& s) { age_event(s, K::io_error, hours(48)); }},
    {"md_array", "degraded", S::fail, [](CheckSample& s) { s.arrays->at(0).degraded = 1; }},
    {"md_array", "broken", S::fail, [](CheckSample& s) { s.arrays->at(0).state = "broken"; }},
    {"md_array", "none", S::ok, [](CheckSample& s) { s.arrays->clear(); }},
    {"md_array", "unread", S::unknown, [](CheckSample& s) { s.arrays.reset(); }},
    {"nvme_health", "dead", S::fail, [](CheckSample& s) { s.drives->at(0).state = "dead"; }},
    {"nvme_health", "warns", S::fail, [](CheckSample& s) { s.drives->at(0).critical_warning = 4; }},
    {"nvme_health", "spare used", S::fail,
     [](CheckSample& s) { s.drives->at(0).spare_percent = 5; }},
    {"nvme_health", "worn", S::warn, [](CheckSample& s) { s.drives->at(0).used_percent = 100; }},
    {"nvme_health", "no log", S::unknown,
     [](CheckSample& s) { s.drives->at(0).critical_warning.reset(); }},
    {"dram_ecc", "uncorrected", S::fail,
     [](CheckSample& s) { counter_in(s, "edac", "ue_count").total = 1; }},
    {"dram_ecc", "rate", S::warn,
     [](CheckSample& s) { counter_in(s, "edac", "ce_count").grown = 1001; }},
    {"dram_ecc", "line", S::fail, [](CheckSample& s) { add_event(s, K::memory_error, "mc0"); }},
    {"dram_ecc", "no EDAC", S::unknown,
     [](CheckSample& s) {
       std::erase_if(*s.counters, [](const auto& c) { return c.group == "edac"; });
     }},
    {"cpu_topology", "a CPU gone", S::fail, [](CheckSample& s) { s.cpu->cpus = 63; }},
    {"cpu_topology", "a module of 16 gone", S::fail,
     [](CheckSample& s) { s.cpu->memory_mib = 1870; }},
    {"cpu_topology", "kernel's share", S::ok, [](CheckSample& s) { s.cpu->memory_mib = 1900; }},
    {"cpu_topology", "shared machine", S::unknown, [](CheckSample& s) { s.cpu.reset(); }},
    {"kernel_lockup", "soft", S::warn, [](CheckSample& s) { add_event(s, K::soft_lockup); }},
    {"kernel_lockup", "hard", S::fail, [](CheckSample& s) { add_event(s, K::hard_lockup); }},
    {"kernel_lockup", "ends (NPD #673)", S::ok,
     [](CheckSample& s) { age_event(s, K::hard_lockup, hours(2)); }},
    {"d_state", "four minutes", S::warn,
     [](CheckSample& s) { s.processes->stuck = {{9, "python", "nvidia_ioctl", 240}}; }},
    {"d_state", "three minutes", S::ok,
     [](CheckSample& s) { s.processes->stuck = {{9, "python", "nvidia_ioctl", 180}}; }},
    {"d_state", "unread", S::unknown, [](CheckSample& s) { s.processes.reset(); }},
    {"pressure", "CPU", S::warn, [](CheckSample& s) { s.pressure->cpu_some = 6100; }},
    {"pressure", "kernel without PSI", S::unknown,
     [](CheckSample& s) { s.pressure = Pressure{}; s.pressure->fault = "no PSI"; }},
    {"process_limits", "files 80 %", S::warn, [](CheckSample& s) { s.processes->files = 80000; }},
    {"process_limits", "files 95 %", S::fail, [](CheckSample& s) { s.processes->files = 95000; }},
    {"process_limits", "zombies", S::warn, [](CheckSample& s) { s.processes->zombies = 1000; }},
    {"process_limits", "no limits told", S::unknown,
     [](CheckSample& s) { s.processes->files_most = 0; }},
    {"oom", "the node", S::warn,
     [](CheckSample& s) { add_event(s, K::oom); s.events->back().event.detail = "Out of memory"; }},
    {"oom", "a job", S::ok,
     [](CheckSample& s) {
       add_event(s, K::oom);
       s.events->back().event.detail = "Memory cgroup out of memory: Killed";
     }},
    {"clock_sync", "nobody", S::warn, [](CheckSample& s) { s.clock->synchronised = false; }},
    {"clock_sync", "10 h off (NPD #479)", S::warn,
     [](CheckSample& s) { s.clock->offset_us = hours(10).us; }},
    {"clock_sync", "unread", S::unknown, [](CheckSample& s) { s.clock.reset(); }},
    {"services", "down (NVSentinel #883)", S::fail, [](CheckSample& s) { s.services->clear(); }},
    {"services", "stopped", S::fail, [](CheckSample& s) { s.services->at(0).state = "T"; }},
    {"services", "unread", S::unknown, [](CheckSample& s) { s.services.reset(); }},
    {"cpu_temperature", "hot", S::warn, [](CheckSample& s) { s.sensors->at(0).celsius = 96; }},
    {"cpu_temperature", "none", S::unknown, [](CheckSample& s) { s.sensors->clear(); }},
    {"other_programs", "none here", S::ok, [](CheckSample& s) { s.foreign.reset(); }},
    {"other_programs", "one fails", S::fail,
     [](CheckSample& s) {
       Verdict told = make_verdict(S::fail, "gpud: Unhealthy");
       told.source = "gpud";
       s.foreign = {told};
     }},
};

TEST(PassiveNode, Tables) {
  for (const auto& row : rows) {
    CheckSample sample = whole_node();
    row.change(sample);
    const auto verdicts = judge_all(sample, {row.check});
    ASSERT_FALSE(verdicts.empty());
    EXPECT_EQ(worst_of(verdicts), row.expected)
        << row.check << ", " << row.what << ": " << verdicts[0].reason << verdicts[0].evidence;
  }
}

// A CPU hog on the node's CPUs: whatever waits may only look broken. What a device itself says
// stays true.
TEST(PassiveNode, AStarvedCheckIsUnknownAndNeverAFault) {
  CheckSample sample = whole_node();
  sample.pressure->run_queue_wait = 4500;
  MountProbe hung;
  hung.target = "/data";
  hung.state = MountState::hung;
  hung.step = "write";
  sample.mounts = {hung};
  sample.gpus->gpus[0].remap_failure = true;
  const auto mount = judge_all(sample, {"storage_mount"});
  EXPECT_EQ(mount[0].state, S::unknown);
  EXPECT_TRUE(mount[0].reason.starts_with("starved: ")) << mount[0].reason;
  EXPECT_EQ(worst_of(judge_all(sample, {"row_remap"})), S::fail);
  EXPECT_EQ(worst_of(judge_all(sample, {"pressure"})), S::warn);
  sample.pressure->run_queue_wait = 3000;
  EXPECT_EQ(judge_all(sample, {"storage_mount"})[0].state, S::fail);
  // The thread slept while its child got no CPU: the node's pressure says so.
  sample.pressure->cpu_some = 9500;
  EXPECT_TRUE(judge_all(sample, {"storage_mount"})[0].reason.starts_with("starved: "));
  sample.pressure->cpu_some = 100;
  sample.pressure->cpu_full = 3000;
  EXPECT_EQ(judge_all(sample, {"storage_mount"})[0].state, S::unknown);
}

// gpud PR 1245: NFS writeback spun for 3.5 days with the node Ready.
TEST(PassiveNode, AStackNamesThePart) {
  CheckSample sample = whole_node();
  sample.processes->stuck = {{9, "a", "nfs_wait_bit_killable", 300}, {10, "b", "nvidia_x", 400}};
  const auto verdicts = judge_all(sample, {"d_state"});
  ASSERT_EQ(verdicts.size(), 2U);
  EXPECT_EQ(verdicts[0].watches, Resource::gpu);
  EXPECT_EQ(verdicts[1].watches, Resource::storage_client);
}

// NVSentinel #1361: a port that the inventory does not have is no fault, whatever it shows.
TEST(PassiveNode, AnUnusedPartIsNoFault) {
  CheckSample sample = whole_node();
  sample.expect.hca_count = 0;
  port(sample).state = "1: DOWN";
  EXPECT_EQ(worst_of(judge_all(sample, {"ib_port"})), S::ok);
  sample.nets->push_back({"eth9", "02:00:00:00:00:99", "down", std::nullopt});
  EXPECT_EQ(worst_of(judge_all(sample, {"ethernet_link"})), S::ok);
}

// Blame tells new changes from old ones by it.
TEST(PassiveNode, AfterEachChangeOfACarrierItIsAnotherSentence) {
  CheckSample sample = whole_node();
  auto& counter = counter_in(sample, "net", "carrier_changes");
  counter.grown = 3;
  counter.total = 11;
  const auto before = judge_all(sample, {"ethernet_link"});
  EXPECT_EQ(judge_all(sample, {"ethernet_link"})[0].reason, before[0].reason);
  counter.total = 12;
  const auto after = judge_all(sample, {"ethernet_link"});
  EXPECT_EQ(after[0].state, S::warn);
  EXPECT_NE(after[0].reason, before[0].reason);
}

TEST(PassiveNode, ACheckThatThrowsIsUnknown) {
  Check broken;
  broken.name = "broken";
  broken.judge = [](const CheckSample&) -> Verdicts { throw std::runtime_error("boom"); };
  const auto verdicts = run_check(broken, whole_node());
  ASSERT_EQ(verdicts.size(), 1U);
  EXPECT_EQ(verdicts[0].state, S::unknown);
  broken.judge = [](const CheckSample&) { return Verdicts(5000, make_verdict(S::fail, "x")); };
  EXPECT_LE(run_check(broken, whole_node()).size(), 64U);
}

}  // namespace
}  // namespace tundish::checks
