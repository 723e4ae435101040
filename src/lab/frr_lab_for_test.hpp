#pragma once
// A small lab whose switches run FRR, for tests. Needs root. lab_test.cpp makes the test program
// act as `tundish`.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>

#include "codec/json.hpp"
#include "lab/lab.hpp"
#include "lab/namespaces.hpp"
#include "runtime/process/process.hpp"

namespace tundish::lab {

inline bool eventually(const std::function<bool()>& holds, int limit_ms = 15000) {
  for (int waited = 0; waited < limit_ms; waited += 50) {
    if (holds()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return false;
}

class FrrLab : public testing::Test {
 protected:
  static void SetUpTestSuite() { start(2); }

  static void start(int racks) {
    if (!can_run()) return;
    spec = {};
    spec.racks = racks;
    const std::string base = "/tmp/tundish-frr-test-" + std::to_string(::getpid());
    spec.name = "frr" + std::to_string(::getpid());
    spec.root = base + "/lab";
    spec.bin_dir = base + "/bin";
    spec.nodes = 2;
    spec.service_nodes = 0;
    spec.login_nodes = 0;
    spec.spines = 1;
    spec.post_delay_ms = 50;
    spec.fabric = FabricKind::frr;
    ASSERT_TRUE(make_folder(spec.bin_dir));
    std::filesystem::create_symlink(std::filesystem::read_symlink("/proc/self/exe"),
                                    spec.bin_dir + "/tundish");
    for (const char* const name : {"/tundishd", "/tundish-agent"}) {
      ASSERT_TRUE(
          process::write_file_atomic(spec.bin_dir + name, "#!/bin/sh\nexec sleep 100000\n", 0755));
    }
    const auto done = lab_up(spec, {});
    ASSERT_TRUE(done) << done.error().message();
  }

  static void TearDownTestSuite() {
    if (!can_run()) return;
    const auto done = lab_down(spec, KeepLogs::no);
    EXPECT_TRUE(done) << done.error().message();
    std::filesystem::remove_all(std::filesystem::path(spec.root).parent_path());
  }

  static bool can_run() { return ::geteuid() == 0 && std::filesystem::exists("/usr/lib/frr/bgpd"); }

  void SetUp() override {
    if (!can_run()) GTEST_SKIP() << "needs root and FRR";
  }

  static std::string call(const std::string& path, const std::string& body) {
    const auto done = call_lab(paths_of(spec), {body.empty() ? "GET" : "POST", path, body});
    return done ? *done : "error: " + done.error().message();
  }

  static LabSwitchStatus status(const std::string& name) {
    LabSwitchStatus found;
    EXPECT_TRUE(parse_json(call("/switches/" + name, ""), found));
    return found;
  }

  /// On a node or a switch, by its console.
  static RunResponse in(const std::string& name, const std::string& script) {
    RunRequest request{name, {"sh", "-c", script}, 20};
    RunResponse response;
    const auto body = call("/run", render_json(request));
    EXPECT_TRUE(parse_json(body, response)) << body;
    return response;
  }

  /// As tundishd would: by ssh from the lab's root network, with the lab's key.
  static std::string ssh(const std::string& address, const std::string& script) {
    const LabPaths paths = paths_of(spec);
    process::Command command;
    command.argv = {"nsenter",
                    "-t",
                    std::to_string(find_supervisor(paths)),
                    "-n",
                    "ssh",
                    "-i",
                    paths.switch_key(),
                    "-o",
                    "BatchMode=yes",
                    "-o",
                    "ConnectTimeout=5",
                    "-o",
                    "UserKnownHostsFile=" + paths.switch_known_hosts(),
                    "-o",
                    "StrictHostKeyChecking=yes",
                    "root@" + address,
                    script};
    const auto output = process::run(command);
    return output ? output->out + output->err : output.error().message();
  }

  static bool has_neighbors(const std::string& name, const std::string& count) {
    const auto shown = in(name,
                          "vtysh -c 'show bgp l2vpn evpn summary json' | "
                          "jq '[.peers[] | select(.state == \"Established\")] | length'");
    return shown.out == count + "\n";
  }

  static std::string carrier(const std::string& node) {
    return in(node, "cat /sys/class/net/eth0/carrier").out;
  }

  static inline LabSpec spec;
};

}  // namespace tundish::lab
