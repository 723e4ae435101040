// Tables of samples: for every check at least one ok, one fail and every way to be unknown.
#include <gtest/gtest.h>

#include <cerrno>
#include <set>

#include "families/checks/check.hpp"

namespace tundish::checks {
namespace {

GpuReading gpu_at(int index) {
  GpuReading gpu;
  gpu.index = index;
  gpu.uuid = "GPU-" + std::to_string(index);
  gpu.serial = "S" + std::to_string(index);
  gpu.pci = "0000:" + std::to_string(index) + "b:00";
  gpu.lost = false;
  gpu.ecc_uncorrected = 0;
  gpu.remap_pending = false;
  gpu.remap_failure = false;
  gpu.recovery_action = 0;
  return gpu;
}

SampleEvent xid(int code) {
  SampleEvent seen;
  seen.event.kind = KernelEventKind::xid;
  seen.event.code = code;
  seen.event.device = "0000:3b:00";
  seen.in_catalogue = true;
  return seen;
}

CheckSample healthy() {
  CheckSample sample;
  sample.now = Instant{42};
  sample.expect.gpu_count = 2;
  sample.expect.gpus = {{"GPU-0", "S0"}, {"GPU-1", "S1"}};
  sample.expect.nic_macs = {"02:00:00:00:00:0A"};
  sample.expect.hca_count = 1;
  sample.gpus = GpuSnapshot{"570", {gpu_at(0), gpu_at(1)}};
  sample.hardware.emplace();
  sample.hardware->nic_macs = {"02:00:00:00:00:0a", "02:00:00:00:00:0b"};
  sample.events.emplace();
  sample.mounts.emplace();
  sample.hcas = std::vector<HcaPort>{{"mlx5_0", "1", "4: ACTIVE", "5: LinkUp"}};
  return sample;
}

MountProbe mount_in(MountState state) {
  MountProbe probe;
  probe.target = "/home";
  probe.state = state;
  probe.step = "write";
  return probe;
}

struct Row {
  const char* check;
  const char* what;
  VerdictState expected;
  void (*change)(CheckSample&);
};

using S = VerdictState;
const Row rows[] = {
    {"gpu_count", "healthy", S::ok, [](CheckSample&) {}},
    {"gpu_count", "one lost", S::fail, [](CheckSample& s) { s.gpus->gpus[1].lost = true; }},
    {"gpu_count", "one gone", S::fail, [](CheckSample& s) { s.gpus->gpus.pop_back(); }},
    {"gpu_count", "one too many", S::fail,
     [](CheckSample& s) { s.gpus->gpus.push_back(gpu_at(2)); }},
    {"gpu_count", "silent", S::unknown, [](CheckSample& s) { s.gpus->gpus[1].lost.reset(); }},
    {"gpu_count", "error 999", S::unknown,
     [](CheckSample& s) { s.gpus->gpus[1].nvml_error = 999; }},
    {"gpu_count", "no driver", S::unknown, [](CheckSample& s) { s.gpus.reset(); }},
    {"gpu_count", "none expected", S::ok,
     [](CheckSample& s) {
       s.gpus.reset();
       s.expect.gpu_count = 0;
     }},
    {"gpu_count", "unexpected", S::fail, [](CheckSample& s) { s.expect.gpu_count = 0; }},
    {"gpu_identity", "healthy", S::ok, [](CheckSample&) {}},
    {"gpu_identity", "swapped board", S::fail,
     [](CheckSample& s) { s.gpus->gpus[1].serial = "X"; }},
    {"gpu_identity", "other GPU", S::fail, [](CheckSample& s) { s.gpus->gpus[1].uuid = "GPU-9"; }},
    {"gpu_identity", "surplus", S::fail, [](CheckSample& s) { s.gpus->gpus.push_back(gpu_at(2)); }},
    {"gpu_identity", "order changed", S::ok,
     [](CheckSample& s) { std::swap(s.gpus->gpus[0], s.gpus->gpus[1]); }},
    {"gpu_identity", "nothing on record", S::ok, [](CheckSample& s) { s.expect.gpus.clear(); }},
    {"gpu_identity", "no UUID", S::unknown, [](CheckSample& s) { s.gpus->gpus[0].uuid.reset(); }},
    {"gpu_identity", "twins", S::unknown,
     [](CheckSample& s) {
       s.expect.gpus.clear();
       s.gpus->gpus[1] = gpu_at(0);
     }},
    {"gpu_identity", "no driver", S::unknown, [](CheckSample& s) { s.gpus.reset(); }},
    {"gpu_identity", "empty list", S::unknown,
     [](CheckSample& s) {
       s.expect.gpus.clear();
       s.gpus->gpus.clear();
     }},
    {"ecc", "healthy", S::ok, [](CheckSample&) {}},
    {"ecc", "uncorrected", S::fail, [](CheckSample& s) { s.gpus->gpus[0].ecc_uncorrected = 1; }},
    {"ecc", "no counter", S::unknown,
     [](CheckSample& s) { s.gpus->gpus[0].ecc_uncorrected.reset(); }},
    {"ecc", "lost", S::unknown, [](CheckSample& s) { s.gpus->gpus[0].lost = true; }},
    {"ecc", "empty list", S::unknown, [](CheckSample& s) { s.gpus->gpus.clear(); }},
    {"ecc", "no driver", S::unknown, [](CheckSample& s) { s.gpus.reset(); }},
    {"xid_since_boot", "none", S::ok, [](CheckSample&) {}},
    {"xid_since_boot", "79", S::fail, [](CheckSample& s) { s.events = {xid(79)}; }},
    {"xid_since_boot", "decoy", S::ok,
     [](CheckSample& s) {
       s.events = {xid(13)};
       s.events->at(0).decoy = true;
     }},
    {"xid_since_boot", "user space", S::ok,
     [](CheckSample& s) {
       s.events = {xid(79)};
       s.events->at(0).provenance = Provenance::userspace;
     }},
    {"xid_since_boot", "unknown code", S::warn,
     [](CheckSample& s) {
       s.events = {xid(999)};
       s.events->at(0).in_catalogue = false;
     }},
    {"xid_since_boot", "oom", S::ok,
     [](CheckSample& s) {
       s.events = {xid(0)};
       s.events->at(0).event.kind = KernelEventKind::oom;
     }},
    {"xid_since_boot", "blind, vouched", S::warn, [](CheckSample& s) { s.blind_records = 5; }},
    {"xid_since_boot", "blind, no driver", S::unknown,
     [](CheckSample& s) {
       s.blind_records = 5;
       s.gpus.reset();
     }},
    {"xid_since_boot", "blind, not told", S::unknown,
     [](CheckSample& s) {
       s.blind_records = 5;
       s.gpus->gpus[0].recovery_action.reset();
     }},
    {"xid_since_boot", "no log", S::unknown, [](CheckSample& s) { s.events.reset(); }},
    {"nic_present", "healthy", S::ok, [](CheckSample&) {}},
    {"nic_present", "missing", S::fail, [](CheckSample& s) { s.hardware->nic_macs.clear(); }},
    {"nic_present", "a port that is down is there", S::ok,
     [](CheckSample& s) { s.hcas->at(0).state = "1: DOWN"; }},
    {"nic_present", "HCA gone", S::fail, [](CheckSample& s) { s.hcas->clear(); }},
    {"nic_present", "no hardware", S::unknown, [](CheckSample& s) { s.hardware.reset(); }},
    {"nic_present", "HCAs unread", S::unknown, [](CheckSample& s) { s.hcas.reset(); }},
    {"nic_present", "none declared", S::unknown,
     [](CheckSample& s) {
       s.expect.nic_macs.clear();
       s.expect.hca_count = 0;
     }},
    {"storage_mount", "none, of a free node", S::ok, [](CheckSample&) {}},
    {"storage_mount", "none, and a tenant holds it", S::unknown,
     [](CheckSample& s) { s.expect.in_use = true; }},
    {"storage_latency", "none, and a tenant holds it", S::unknown,
     [](CheckSample& s) { s.expect.in_use = true; }},
    {"mount_table", "none, and a tenant holds it", S::unknown,
     [](CheckSample& s) { s.expect.in_use = true; }},
    {"services", "none, and a tenant holds it", S::unknown,
     [](CheckSample& s) { s.expect.in_use = true; }},
    {"gpu_answers", "answers", S::ok, [](CheckSample&) {}},
    {"gpu_answers", "hangs", S::fail,
     [](CheckSample& s) {
       s.gpus.reset();
       s.faults["gpus"] = s.gpus_fault = "timeout: the GPU driver hangs in step query";
     }},
    {"gpu_answers", "no library, which is no hang", S::unknown,
     [](CheckSample& s) {
       s.gpus.reset();
       s.gpus_fault = "unsupported: no libnvidia-ml.so.1";
     }},
    {"storage_mount", "answers", S::ok,
     [](CheckSample& s) { s.mounts = {mount_in(MountState::answered)}; }},
    {"storage_mount", "absent", S::fail,
     [](CheckSample& s) { s.mounts = {mount_in(MountState::absent)}; }},
    {"storage_mount", "hung", S::fail,
     [](CheckSample& s) { s.mounts = {mount_in(MountState::hung)}; }},
    {"storage_mount", "read-only", S::fail,
     [](CheckSample& s) {
       s.mounts = {mount_in(MountState::answered)};
       s.mounts->at(0).read_only = true;
     }},
    {"storage_mount", "I/O error", S::fail,
     [](CheckSample& s) {
       s.mounts = {mount_in(MountState::failed)};
       s.mounts->at(0).error_number = EIO;
     }},
    {"storage_mount", "root squash", S::unknown,
     [](CheckSample& s) {
       s.mounts = {mount_in(MountState::failed)};
       s.mounts->at(0).error_number = EACCES;
     }},
    {"storage_mount", "probe broke", S::unknown,
     [](CheckSample& s) {
       s.mounts = {mount_in(MountState::failed)};
       s.mounts->at(0).step = "probe";
     }},
    {"storage_mount", "not looked", S::unknown, [](CheckSample& s) { s.mounts.reset(); }},
    {"no_such_check", "typing error", S::unknown, [](CheckSample&) {}},
};

TEST(Checks, Tables) {
  for (const auto& row : rows) {
    CheckSample sample = healthy();
    row.change(sample);
    const auto verdicts = judge_all(sample, {row.check});
    ASSERT_EQ(verdicts.size(), 1U);
    EXPECT_EQ(verdicts[0].state, row.expected)
        << row.check << ", " << row.what << ": " << verdicts[0].reason << verdicts[0].evidence;
    EXPECT_FALSE(verdicts[0].reason.empty()) << row.check << ", " << row.what;
    EXPECT_EQ(verdicts[0].check, row.check);
    EXPECT_EQ(verdicts[0].at.us, 42);
  }
}

// What the inventory does not ask for needs no proof; everything else does.
TEST(Checks, AnEmptySampleProvesNothing) {
  CheckSample empty;
  empty.expect.gpu_count = 8;
  empty.expect.hca_count = 8;
  empty.expect.exports = {{"srv:/x", "/data", "nfs"}};
  empty.expect.services = {"slurmd"};
  empty.expect.cpus = 8;
  for (const auto& verdict : judge_all(empty, {"*"})) {
    if (verdict.check == "other_programs" || verdict.check == "gpu_leftover") continue;
    EXPECT_EQ(verdict.state, VerdictState::unknown) << verdict.check << ": " << verdict.reason;
  }
}

TEST(Checks, EveryCheckIsDescribedAndNamedOnce) {
  std::set<std::string_view> names;
  for (const Check* check : tundish::all_checks()) {
    EXPECT_FALSE(check->doc.empty() || check->source.empty() || check->cost.empty()) << check->name;
    EXPECT_FALSE(check->needs.empty()) << check->name;
    EXPECT_TRUE(names.insert(check->name).second) << check->name;
    EXPECT_TRUE(check->watches != Resource::unknown || check->name == "other_programs")
        << check->name;
    if (check->kind != CheckKind::passive) continue;
    EXPECT_GE(check->every, seconds(30)) << check->name;
  }
}

TEST(Checks, ThoseThatGateAreRunWhenNobodyNamesAny) {
  const auto verdicts = judge_all(healthy(), {});
  std::set<std::string> names;
  for (const auto& verdict : verdicts) names.insert(verdict.check);
  EXPECT_EQ(names, (std::set<std::string>{"ecc", "gpu_count", "gpu_identity", "ib_port",
                                          "nic_present", "storage_mount", "xid_since_boot"}));
}

// After a repair what showed the fault is asked for by name, beside what every node must pass.
TEST(Checks, NamedOnesAreRunBesideThoseThatGate) {
  CheckSample sample = healthy();
  std::multiset<std::string> names;
  for (const auto& verdict : judge_all(sample, {"serve", "row_remap", "ecc", "no_such"})) {
    names.insert(verdict.check);
  }
  EXPECT_EQ(names, (std::multiset<std::string>{"ecc", "gpu_count", "gpu_identity", "ib_port",
                                               "nic_present", "no_such", "row_remap",
                                               "storage_mount", "xid_since_boot"}))
      << "each once, and the one with a veto in full";
}

// A driver that does not tell its recovery action must not keep a node out; one that asks for it
// must.
TEST(Checks, AVetoCountsOnlyWhenItFails) {
  CheckSample sample = healthy();
  const auto fails = [&](const char* name) {
    for (const auto& verdict : judge_all(sample, {})) {
      if (verdict.check == name) return verdict.state == VerdictState::fail;
    }
    return false;
  };
  sample.gpus->gpus[0].recovery_action.reset();
  EXPECT_FALSE(fails("recovery_action"));
  sample.gpus->gpus[1].recovery_action = 1;
  EXPECT_TRUE(fails("recovery_action"));
}

}  // namespace
}  // namespace tundish::checks
