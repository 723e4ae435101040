// A real lab of three nodes on this machine: namespaces, cables, BMCs, switches. Needs root.
#include "lab/lab.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <thread>

#include "base/text.hpp"
#include "codec/json.hpp"
#include "lab/namespaces.hpp"
#include "lab/node_init.hpp"
#include "lab/supervisor.hpp"
#include "lab/switch_init.hpp"
#include "runtime/process/process.hpp"

namespace tundish::lab {
namespace {
namespace fs = std::filesystem;

/// The lab starts `<bin_dir>/tundish lab ...`; here that is a link to this test program.
class ActAsTundish : public testing::Environment {
 public:
  void SetUp() override {
    const auto text = process::read_file("/proc/self/cmdline");
    if (!text) return;
    const auto args = split(*text, '\0');
    if (args.size() < 5 || args[1] != "lab") return;
    if (args[2] == "supervise") ::_exit(supervise_main(args[4]));
    if (args[2] == "node-init") ::_exit(node_init_main(args));
    if (args[2] == "switch-init") ::_exit(switch_init_main(args));
    if (args[2] == "exec" && args.size() > 7) {
      const LabExec exec{args[4], {args[6], args[7]}, std::stoi(args[5])};
      const Error failed = lab_enter({args[3]}, exec);
      ::_exit(failed.what.empty() ? 1 : 99);
    }
  }
};
const auto* const environment = testing::AddGlobalTestEnvironment(new ActAsTundish);

const char* const agent_script = R"sh(#!/bin/sh
echo "agent $(cat /proc/sys/kernel/random/boot_id)"
[ -e /run/orphan.pid ] || { setsid sleep 100000 & echo $! >/run/orphan.pid; }
echo $$ >/run/agent.pid
exec sleep 100000
)sh";
const char* const daemon_script = "#!/bin/sh\nexec sleep 100000\n";

bool eventually(const std::function<bool()>& holds, int limit_ms = 10000) {
  for (int waited = 0; waited < limit_ms; waited += 20) {
    if (holds()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return false;
}

/// Mounts, processes and groups of the lab that the machine still shows.
std::string leftovers(const LabSpec& spec) {
  const std::string root = paths_of(spec).root;
  std::string found;
  const auto mounts = process::read_file("/proc/self/mounts");
  if (mounts && mounts->find(root) != std::string::npos) found += "mount below " + root + "; ";
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
    const auto command = process::read_file(entry.path().string() + "/cmdline");
    if (command && command->find(root) != std::string::npos) {
      found += "process " + entry.path().filename().string() + " " + *command + "; ";
    }
  }
  for (const auto& entry : fs::directory_iterator("/sys/fs/cgroup", ignored)) {
    const auto folder = entry.path() / cgroup_name(spec);
    if (fs::exists(folder, ignored)) found += "group " + folder.string() + "; ";
  }
  return found;
}

int parent_of(int pid) {
  const auto text = process::read_file("/proc/" + std::to_string(pid) + "/status");
  const auto at = text ? text->find("PPid:\t") : std::string::npos;
  if (at == std::string::npos) return 0;
  return static_cast<int>(std::strtol(text->c_str() + at + 6, nullptr, 10));
}

int count_network_namespaces() {
  process::Command command;
  command.argv = {"lsns", "-t", "net", "-n", "-o", "NS"};
  const auto output = process::run(command);
  return output ? static_cast<int>(split(trim(output->out), '\n').size()) : -1;
}

class LabTest : public testing::Test {
 protected:
  static std::string base() { return "/tmp/tundish-lab-test-" + std::to_string(::getpid()); }

  static LabSpec make_spec() {
    LabSpec spec;
    spec.name = "test" + std::to_string(::getpid());
    spec.root = base() + "/lab";
    spec.bin_dir = base() + "/bin";
    spec.nodes = 2;
    spec.login_nodes = 0;
    spec.post_delay_ms = 50;
    return spec;
  }

  static void SetUpTestSuite() {
    if (::geteuid() != 0) return;
    spec = make_spec();
    networks_before = count_network_namespaces();
    ASSERT_TRUE(make_folder(spec.bin_dir));
    fs::create_symlink(fs::read_symlink("/proc/self/exe"), spec.bin_dir + "/tundish");
    ASSERT_TRUE(process::write_file_atomic(spec.bin_dir + "/tundish-agent", agent_script, 0755));
    ASSERT_TRUE(process::write_file_atomic(spec.bin_dir + "/tundishd", daemon_script, 0755));
    up();
  }

  static void up() {
    const auto done = lab_up(spec, {{"nodes/n01/disk/etc/tundish/agent.yaml", {"x: 1\n", 0600}}});
    ASSERT_TRUE(done) << done.error().message();
  }

  static void TearDownTestSuite() {
    if (::geteuid() != 0) return;
    const auto done = lab_down(spec, KeepLogs::no);
    EXPECT_TRUE(done) << done.error().message();
    fs::remove_all(base());
  }

  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root: a lab makes namespaces and mounts";
  }

  static std::string call(const std::string& path, const std::string& body) {
    const auto done = call_lab(paths_of(spec), {body.empty() ? "GET" : "POST", path, body});
    if (!done) return "error: " + done.error().message();
    return *done;
  }

  static LabNodeStatus node(const std::string& name) {
    LabNodeStatus status;
    EXPECT_TRUE(parse_json(call("/nodes/" + name, ""), status));
    return status;
  }

  static RunResponse in_node(const std::string& name, const std::string& script) {
    RunRequest request{name, {"sh", "-c", script}, 20};
    RunResponse response;
    const auto body = call("/run", render_json(request));
    EXPECT_TRUE(parse_json(body, response)) << body;
    return response;
  }

  /// curl in the lab's root network, where BMCs and switches live.
  static std::string fetch(std::vector<std::string> args) {
    process::Command command;
    command.argv = {"nsenter",
                    "-t",
                    std::to_string(find_supervisor(paths_of(spec))),
                    "-n",
                    "curl",
                    "-s",
                    "-m",
                    "10",
                    "-w",
                    "\n%{http_code}"};
    command.argv.insert(command.argv.end(), args.begin(), args.end());
    const auto output = process::run(command);
    return output ? output->out : output.error().message();
  }

  static std::string redfish(int index, std::vector<std::string> args) {
    const auto password = process::read_file(paths_of(spec).bmc_password());
    args.push_back("-u");
    args.push_back("admin:" + std::string(trim(*password)));
    args[0] = "http://10.88.1." + std::to_string(index) + ":8000/redfish/v1/" + args[0];
    return fetch(args);
  }

  static void set_port(const std::string& port, const std::string& segment) {
    const std::string leaf = port[0] == '1' ? "10.88.2.1" : "10.88.2.2";
    const auto answer = fetch({"-X", "PUT", "-d", R"({"segment":")" + segment + "\"}",
                               "http://" + leaf + ":8080/ports/" + port.substr(2)});
    EXPECT_NE(answer.find("200"), std::string::npos) << answer;
  }

  /// A closed port answers with a reset, which crosses the network twice; silence is no path.
  static bool reaches(const std::string& from, const std::string& address) {
    const auto tried = in_node(from, "timeout 1 bash -c ': </dev/tcp/" + address + "/9' 2>&1");
    return tried.out.find("refused") != std::string::npos;
  }

  static bool wait_running(const std::string& name, int boots) {
    return eventually([&] {
      const auto status = node(name);
      return status.phase == "running" && status.boots == boots;
    });
  }

  static inline LabSpec spec;
  static inline int networks_before = 0;
};

TEST_F(LabTest, NodeIsAMachineOfItsOwn) {
  const auto status = node("n01");
  EXPECT_EQ(status.phase, "running") << status.failure;
  EXPECT_TRUE(status.problems.empty()) << status.problems.front();
  const auto facts = in_node(
      "n01",
      "hostname; cat /proc/sys/kernel/random/boot_id; cat /etc/tundish/agent.yaml; ls /dev/nvidia*;"
      "pwd; ls /sys/class/net /sys/class/infiniband; cat /sys/class/dmi/id/product_serial;"
      "cat /sys/class/infiniband/mlx5_7/ports/1/state; ip -br addr; ls -A /root /home");
  EXPECT_EQ(facts.exit_code, 0) << facts.err;
  for (const std::string part : {"n01", status.boot_id.c_str(), "x: 1", "/dev/nvidia7", "oob0",
                                 "TND24-00001", "4: ACTIVE", "10.88.0.11/16"}) {
    EXPECT_NE(facts.out.find(part), std::string::npos) << part << " in " << facts.out;
  }
  EXPECT_NE(in_node("n02", "cat /etc/machine-id").out, in_node("n01", "cat /etc/machine-id").out);
  EXPECT_EQ(in_node("n01", "ls -A " + spec.root).out, "");
  EXPECT_NE(in_node("svc01", "ls /sys/class/net").out.find("eth7"), std::string::npos);
}

TEST_F(LabTest, QuotaAndPressureAreTheNodesOwn) {
  const auto seen =
      in_node("n01",
              "cd /sys/fs/cgroup; cat cpu/cpu.cfs_quota_us cpu.max 2>/dev/null; "
              "cat unified/cpu.pressure cpu.pressure 2>/dev/null; cat /proc/self/cgroup");
  EXPECT_NE(seen.out.find("100000"), std::string::npos) << seen.out;
  EXPECT_NE(seen.out.find("some avg10"), std::string::npos) << seen.out;
  EXPECT_EQ(seen.out.find("tundish-"), std::string::npos) << "its own group is the root it sees";
}

TEST_F(LabTest, ProgramsEnterANodeFromOutside) {
  process::Command command;
  command.argv = {spec.bin_dir + "/tundish", "lab", "exec", spec.root, "n02", "65534", "id", "-u"};
  const auto as_nobody = process::run(command);
  ASSERT_TRUE(as_nobody);
  EXPECT_NE(as_nobody->out.find("65534"), std::string::npos) << as_nobody->out << as_nobody->err;
  command.argv = {spec.bin_dir + "/tundish", "lab", "exec", spec.root, "n02", "0", "uname", "-n"};
  const auto as_root = process::run(command);
  ASSERT_TRUE(as_root);
  EXPECT_NE(as_root->out.find("n02"), std::string::npos) << as_root->out << as_root->err;
}

TEST_F(LabTest, RebootInsideTheNodeIsAReboot) {
  const int boots = node("n02").boots;
  in_node("n02", "python3 -c 'import ctypes; ctypes.CDLL(None).reboot(0x1234567)' || reboot -f");
  EXPECT_TRUE(wait_running("n02", boots + 1));
}

TEST_F(LabTest, NodeCannotChangeTheMachine) {
  const std::string probe = "/usr/share/tundish-probe";
  EXPECT_EQ(in_node("n01", "echo x >" + probe).exit_code, 0);
  EXPECT_FALSE(fs::exists(probe));
  EXPECT_NE(in_node("n02", "cat " + probe).exit_code, 0);
  EXPECT_NE(in_node("n01", "echo 1 >/proc/sys/kernel/panic").exit_code, 0);
  EXPECT_NE(in_node("n01", "mknod /tmp/disk b 254 0").exit_code, 0);
  EXPECT_NE(in_node("n01", "dmesg -S").exit_code, 0) << "syslog(2) reaches the machine's ring";
}

TEST_F(LabTest, KernelLogsAreApart) {
  call("/fault", R"({"node":"n01","line":"NVRM: Xid (PCI:0000:19:00): 79, fell off","level":3})");
  call("/fault", R"({"node":"n01","line":"quoted by a user","facility":"user"})");
  const auto own = in_node("n01", "timeout 1 cat /dev/kmsg").out;
  EXPECT_NE(own.find("3,0,"), std::string::npos) << own;
  EXPECT_NE(own.find("Xid (PCI:0000:19:00): 79"), std::string::npos) << own;
  EXPECT_NE(own.find("12,1,"), std::string::npos) << own;
  EXPECT_EQ(in_node("n02", "timeout 1 cat /dev/kmsg").out, "");
}

TEST_F(LabTest, NodesMeetOnlyInOneSegment) {
  in_node("n01", "ip addr add 10.1.0.1/24 dev eth0");
  in_node("n02", "ip addr add 10.1.0.2/24 dev eth0");
  EXPECT_FALSE(reaches("n01", "10.1.0.2"));
  set_port("1/swp1", "tenant-a");
  set_port("2/swp1", "tenant-b");
  EXPECT_FALSE(reaches("n01", "10.1.0.2"));
  set_port("2/swp1", "tenant-a");
  // An earlier question that nobody answered is asked again only after a second.
  EXPECT_TRUE(eventually([] { return reaches("n01", "10.1.0.2"); }));
  const auto ports = fetch({"http://10.88.2.1:8080/ports"});
  EXPECT_NE(ports.find(R"("node":"n01","interface":"eth0","link":"up","segment":"tenant-a",)"
                       R"("observed_segment":"tenant-a")"),
            std::string::npos)
      << ports;
  set_port("2/swp1", "");
  EXPECT_FALSE(reaches("n01", "10.1.0.2"));
  EXPECT_EQ(in_node("n02", "cat /sys/class/net/eth0/carrier").out, "0\n");
}

/// What a call out of band comes to: 124 when nobody answered in time, also not with a refusal.
TEST_F(LabTest, OutOfBandANodeReachesTheAgentsPortAndNothingElse) {
  const auto calls = [](const std::string& from, const std::string& address, int port) {
    return in_node(from, "timeout 2 bash -c 'exec 3<>/dev/tcp/" + address + "/" +
                             std::to_string(port) + "' 2>/dev/null")
        .exit_code;
  };
  constexpr int silent = 124;
  EXPECT_NE(calls("n01", "10.88.0.1", agent_port), silent);
  EXPECT_NE(calls("n02", "10.88.0.1", agent_port), silent) << "n02 is there to be reached";
  EXPECT_EQ(calls("n01", "10.88.0.1", 22), silent);
  EXPECT_EQ(calls("n01", "10.88.0.12", 22), silent) << "another node";
  EXPECT_EQ(calls("n01", "10.88.1.1", 8000), silent) << "its own BMC";
  EXPECT_EQ(calls("n01", "10.88.1.2", 8000), silent);
  EXPECT_EQ(calls("n01", "10.88.2.1", 8080), silent) << "a switch";
  EXPECT_FALSE(reaches("n01", "10.88.0.1")) << "nor by ping";
}

TEST_F(LabTest, PowerCycleByBmcGivesANewBootAndKeepsTheSegment) {
  set_port("1/swp1", "kept");
  in_node("n01", "echo stays >/var/kept; echo goes >/run/lost");
  const auto before = node("n01");
  EXPECT_NE(fetch({"http://10.88.1.1:8000/redfish/v1/Systems/1"}).find("401"), std::string::npos);
  EXPECT_NE(redfish(1, {"Systems/1"}).find(R"("PowerState":"On")"), std::string::npos);
  const auto reset =
      redfish(1, {"Systems/1/Actions/ComputerSystem.Reset", "-d", R"({"ResetType":"PowerCycle"})"});
  EXPECT_NE(reset.find("204"), std::string::npos) << reset;
  ASSERT_TRUE(wait_running("n01", before.boots + 1));
  EXPECT_NE(node("n01").boot_id, before.boot_id);
  EXPECT_EQ(in_node("n01", "cat /var/kept").out, "stays\n");
  EXPECT_NE(in_node("n01", "cat /run/lost").exit_code, 0);
  EXPECT_EQ(in_node("n01", "timeout 1 cat /dev/kmsg").out, "");
  const auto ports = fetch({"http://10.88.2.1:8080/ports/swp1"});
  EXPECT_NE(ports.find(R"("observed_segment":"kept")"), std::string::npos) << ports;
  set_port("1/swp1", "");
}

TEST_F(LabTest, BmcThatOnlyPromises) {
  call("/bmc", R"({"node":"n02","mode":"ignore"})");
  const std::vector<std::string> off = {"Systems/1/Actions/ComputerSystem.Reset", "-d",
                                        R"({"ResetType":"ForceOff"})"};
  EXPECT_NE(redfish(2, off).find("204"), std::string::npos);
  EXPECT_NE(redfish(2, {"Systems/1"}).find(R"("PowerState":"On")"), std::string::npos);
  call("/bmc", R"({"node":"n02","mode":"normal"})");
  const int boots = node("n02").boots;
  EXPECT_NE(redfish(2, off).find("204"), std::string::npos);
  EXPECT_NE(redfish(2, {"Systems/1"}).find(R"("PowerState":"Off")"), std::string::npos);
  EXPECT_TRUE(eventually([&] { return node("n02").phase == "off"; }));
  call("/power", R"({"node":"n02","action":"on"})");
  EXPECT_TRUE(wait_running("n02", boots + 1));
}

TEST_F(LabTest, AgentComesBackAndItsChildrenSurvive) {
  ASSERT_TRUE(eventually([&] { return in_node("n01", "cat /run/agent.pid").exit_code == 0; }));
  const auto agent = in_node("n01", "cat /run/agent.pid").out;
  const auto orphan = in_node("n01", "cat /run/orphan.pid").out;
  call("/agent", R"({"node":"n01","action":"kill"})");
  EXPECT_TRUE(eventually([&] { return in_node("n01", "cat /run/agent.pid").out != agent; }));
  EXPECT_EQ(in_node("n01", "kill -0 " + orphan).exit_code, 0);
  call("/agent", R"({"node":"n01","action":"stop"})");
  const auto stopped = in_node("n01", "cat /run/agent.pid").out;
  EXPECT_TRUE(eventually([&] { return in_node("n01", "kill -0 " + stopped).exit_code != 0; }));
  call("/agent", R"({"node":"n01","action":"start"})");
  EXPECT_TRUE(eventually([&] { return in_node("n01", "cat /run/agent.pid").out != stopped; }));
}

TEST_F(LabTest, DaemonIsKeptRunningUntilStopped) {
  const auto status = [] { return *lab_status(paths_of(spec)); };
  EXPECT_TRUE(status().daemon_running);
  const int starts = status().daemon_starts;
  call("/daemon", R"({"action":"kill"})");
  EXPECT_TRUE(eventually([&] { return status().daemon_starts == starts + 1; }));
  call("/daemon", R"({"action":"stop"})");
  EXPECT_FALSE(status().daemon_running);
  call("/daemon", R"({"action":"start"})");
  EXPECT_TRUE(status().daemon_running);
}

TEST_F(LabTest, ZKillingTheSupervisorLeavesNothing) {
  EXPECT_FALSE(lab_up(spec, {})) << "a second lab of the name must be refused";
  const int pid = find_supervisor(paths_of(spec));
  ASSERT_GT(pid, 1);
  EXPECT_FALSE(leftovers(spec).empty()) << "the check must see a running lab";
  ASSERT_EQ(::kill(pid, SIGKILL), 0);
  EXPECT_TRUE(eventually([&] { return leftovers(spec).empty(); })) << leftovers(spec);
  EXPECT_TRUE(eventually([&] { return count_network_namespaces() == networks_before; }));
  EXPECT_TRUE(lab_down(spec, KeepLogs::yes));
  EXPECT_TRUE(fs::exists(paths_of(spec).log()));
  up();
  const int again = find_supervisor(paths_of(spec));
  EXPECT_EQ(::kill(parent_of(again), SIGKILL), 0);
  EXPECT_EQ(::kill(again, SIGKILL), 0);
  EXPECT_TRUE(lab_down(spec, KeepLogs::yes));
  EXPECT_TRUE(eventually([&] { return leftovers(spec).empty(); })) << leftovers(spec);
  up();
  EXPECT_TRUE(lab_down(spec, KeepLogs::no));
  EXPECT_TRUE(eventually([&] { return leftovers(spec).empty(); })) << leftovers(spec);
  EXPECT_FALSE(fs::exists(spec.root));
  EXPECT_TRUE(lab_down(spec, KeepLogs::no));
}

/// The default data centre must be up within ten seconds. Source: the demo's budget.
TEST(LabSize, FifteenNodesStartInTenSeconds) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root: a lab makes namespaces and mounts";
  const std::string base = "/tmp/tundish-lab-size-" + std::to_string(::getpid());
  LabSpec spec;
  spec.name = "size" + std::to_string(::getpid());
  spec.root = base + "/lab";
  spec.bin_dir = base + "/bin";
  ASSERT_TRUE(make_folder(spec.bin_dir));
  fs::create_symlink(fs::read_symlink("/proc/self/exe"), spec.bin_dir + "/tundish");
  ASSERT_TRUE(process::write_file_atomic(spec.bin_dir + "/tundish-agent", agent_script, 0755));
  ASSERT_TRUE(process::write_file_atomic(spec.bin_dir + "/tundishd", daemon_script, 0755));
  const auto start = std::chrono::steady_clock::now();
  const auto ms = [&start] {
    const auto passed = std::chrono::steady_clock::now() - start;
    return std::chrono::duration_cast<std::chrono::milliseconds>(passed).count();
  };
  const auto done = lab_up(spec, {});
  const auto up_ms = ms();
  EXPECT_TRUE(done) << done.error().message();
  const auto status = lab_status(paths_of(spec));
  EXPECT_TRUE(lab_down(spec, KeepLogs::no));
  const auto down_ms = ms() - up_ms;
  fs::remove_all(base);
  ASSERT_TRUE(status);
  for (const auto& node : status->nodes) EXPECT_EQ(node.phase, "running") << node.failure;
  EXPECT_LT(up_ms, 10000);
  EXPECT_EQ(leftovers(spec), "");
  std::printf("15 nodes: up %lld ms, down %lld ms\n", static_cast<long long>(up_ms),
              static_cast<long long>(down_ms));
}

}  // namespace
}  // namespace tundish::lab
