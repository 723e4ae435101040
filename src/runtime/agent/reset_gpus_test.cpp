// The reset of GPUs with a tool, a probe and a /proc of the test's own: who holds a GPU is let go
// or named, and nothing is left switched. The reports: docs/health-issues.md.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "runtime/agent/verbs.hpp"

namespace tundish::agent {
namespace {
namespace fs = std::filesystem;

class ResetGpus : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/tundish-reset-XXXXXX";
    folder_ = ::mkdtemp(name);
    fs::create_directories(folder_ + "/proc/driver/nvidia/gpus/0000:3b:00.0");
    write("proc/driver/nvidia/gpus/0000:3b:00.0/information",
          "Model:  GPU\nDevice Minor:  3\nBus Location:  0000:3b:00.0\n");
    // The daemon has the GPU open for as long as persistence mode is on, as on a real node.
    script("tool", "echo \"$*\" >> " + folder_ + "/calls\n"
                   "held=" + folder_ + "/proc/100/fd/7\n"
                   "case \"$1 $2\" in\n"
                   "'-pm 0') rm -f $held ;;\n"
                   "'-pm 1') ln -sf /dev/nvidia3 $held ;;\n"
                   "*) if [ -e " + folder_ + "/stuck ]; then echo 'In use by another client';"
                   " exit 255; fi ;;\n"
                   "esac\n");
    tells_persistence("true");
    holds("100", "nvidia-persiste");
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& content) const {
    std::ofstream(folder_ + "/" + name) << content;
  }
  void script(const std::string& name, const std::string& body) const {
    write(name, "#!/bin/sh\n" + body);
    ASSERT_EQ(::chmod((folder_ + "/" + name).c_str(), 0755), 0);
  }
  /// What a look at the driver answers.
  void tells_persistence(const std::string& mode) const {
    script("probe", "echo 'json {\"gpus\":[{\"index\":0,\"pci\":\"0000:3b:00\",\"lost\":false,"
                    "\"recovery_action\":0,\"persistence\":" + mode + "}]}'\n");
  }
  void holds(const std::string& pid, const std::string& program) const {
    fs::create_directories(folder_ + "/proc/" + pid + "/fd");
    write("proc/" + pid + "/comm", program + "\n");
    fs::create_symlink("/dev/nvidia3", folder_ + "/proc/" + pid + "/fd/7");
  }
  std::string calls() const {
    std::ifstream in(folder_ + "/calls");
    std::ostringstream out;
    out << in.rdbuf();
    return out.str();
  }
  Result<VerbNote> reset() const {
    AgentConfig config;
    config.gpu_tool = folder_ + "/tool";
    config.proc_dir = folder_ + "/proc";
    GatherOptions options;
    options.probe_program = folder_ + "/probe";
    Gatherer gatherer(options);
    BootEvents events(folder_ + "/events.json", folder_);
    VerbTools tools{config, {}, gatherer, events, nullptr, [] { return Instant{}; }};
    VerbCall call;
    call.verb = Verb::reset_gpus;
    call.devices = {"0000:3b:00"};
    call.limit_ms = 60000;
    return verb_reset_gpus(call, tools);
  }

  std::string folder_;
};

TEST_F(ResetGpus, what_persistence_mode_holds_is_let_go_and_taken_again) {
  const auto done = reset();
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_EQ(calls(), "-pm 0 -i 0000:3b:00.0\n--gpu-reset -i 0000:3b:00.0\n-pm 1 -i 0000:3b:00.0\n");
}

TEST_F(ResetGpus, what_was_off_stays_off) {
  tells_persistence("false");
  fs::remove_all(folder_ + "/proc/100");
  ASSERT_TRUE(reset());
  EXPECT_EQ(calls(), "--gpu-reset -i 0000:3b:00.0\n");
}

TEST_F(ResetGpus, whoever_else_holds_the_gpu_is_named_and_nothing_is_reset) {
  holds("200", "nv-hostengine");
  const auto refused = reset();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::conflict);
  EXPECT_NE(refused.error().message().find("nv-hostengine, process 200, holds GPU 0000:3b:00"),
            std::string::npos)
      << refused.error().message();
  EXPECT_EQ(calls(), "-pm 0 -i 0000:3b:00.0\n-pm 1 -i 0000:3b:00.0\n");
}

TEST_F(ResetGpus, a_reset_that_fails_leaves_persistence_as_it_was) {
  write("stuck", "");
  const auto refused = reset();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::conflict);
  EXPECT_TRUE(calls().ends_with("-pm 1 -i 0000:3b:00.0\n")) << calls();
}

}  // namespace
}  // namespace tundish::agent
