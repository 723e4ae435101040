// The job that holds a tenant's node for active checks, against stand-ins of Slurm's programs.
#include "runtime/agent/check_job.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

namespace tundish::agent {
namespace {
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

class CheckJobTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/check-job-XXXXXX";
    root_ = ::mkdtemp(name);
    old_path_ = std::getenv("PATH");
    fs::create_directory(root_ + "/bin");
    // What it would run is written down; `starts` begins it, as slurmd does.
    program("sbatch", "echo \"$@\" >" + root_ + "/asked; cat >" + root_ + "/script; echo 12");
    program("scancel", "echo \"$@\" >" + root_ + "/cancelled");
    program("scontrol", "test -e " + root_ + "/shown && state=PREEMPTED || state=COMPLETING\n: >" +
                            root_ + "/shown\n" +
                            "echo \"JobId=12 JobName=tundish-check JobState=$state Reason=None\"");
    ::setenv("PATH", (root_ + "/bin:" + old_path_).c_str(), 1);
    config_.run_dir = root_ + "/run";
    config_.etc_dir = root_ + "/etc";
    plan_.work = {"slurm", "n01"};
    plan_.gpus = 8;
    plan_.limit = minutes(10);
    plan_.patience = seconds(5);
  }
  void TearDown() override {
    ::setenv("PATH", old_path_.c_str(), 1);
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    fs::remove_all(root_);
  }
  void program(const std::string& name, const std::string& text) {
    const std::string path = root_ + "/bin/" + name;
    std::ofstream(path) << "#!/bin/sh\n" << text << "\n";
    fs::permissions(path, fs::perms::owner_all);
  }
  std::string read(const std::string& name) {
    std::ifstream file(root_ + "/" + name);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
  /// The job starts on the node as soon as its script is there.
  std::thread starts() {
    return std::thread([this] {
      const auto end = Clock::now() + std::chrono::seconds(5);
      while (read("script").find(".sock'\n") == std::string::npos && Clock::now() < end) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
      const std::string script = read("script");
      const auto at = script.find("--hold-check '") + 14;
      const std::string socket = script.substr(at, script.find('\'', at) - at);
      pid_ = ::fork();
      if (pid_ == 0) ::_exit(hold_check(socket));
    });
  }
  std::unique_ptr<CheckJob> begin(process::Leash& leash) {
    std::thread slurm = starts();
    auto job = CheckJob::begin(plan_, config_, leash);
    slurm.join();
    EXPECT_TRUE(job) << (job ? "" : job.error().message());
    return job ? std::move(*job) : nullptr;
  }
  int job_exit() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  std::string root_, old_path_;
  AgentConfig config_;
  CheckJobPlan plan_;
  pid_t pid_ = 0;
};

TEST_F(CheckJobTest, asks_for_the_whole_node_in_the_partition_that_gives_way) {
  process::Leash leash(seconds(60));
  const auto job = begin(leash);
  ASSERT_TRUE(job);
  EXPECT_EQ(job->id(), "12");
  const std::string asked = read("asked");
  for (const char* part :
       {"--partition=tundish-check", "--account=tundish-check", "--job-name=tundish-check",
        "--nodelist=n01", "--exclusive", "--no-requeue", "--gpus-per-node=8", "--time=12"}) {
    EXPECT_NE(asked.find(part), std::string::npos) << part << " in " << asked;
  }
  EXPECT_EQ(read("script").find("#!/bin/sh\nexec '/proc/" + std::to_string(::getpid()) + "/exe' "),
            0U)
      << "this very program, whatever lies in its place by now";
  EXPECT_FALSE(job->is_ended());
  EXPECT_EQ(leash.fault(), "");
}

TEST_F(CheckJobTest, the_job_ends_with_what_the_checks_found) {
  for (const auto how : {CheckJobEnd::passed, CheckJobEnd::failed, CheckJobEnd::unknown}) {
    process::Leash leash(seconds(60));
    fs::remove(root_ + "/script");
    const auto job = begin(leash);
    ASSERT_TRUE(job);
    job->end(how);
    job->end(CheckJobEnd::unknown);  // nothing more
    EXPECT_EQ(job_exit(), static_cast<int>(how));
    EXPECT_EQ(leash.fault(), "") << "we gave the node back ourselves";
  }
}

TEST_F(CheckJobTest, a_preempted_job_pulls_the_leash_and_waits_until_the_checks_are_dead) {
  process::Leash leash(seconds(60));
  const auto job = begin(leash);
  ASSERT_TRUE(job);
  const auto start = Clock::now();
  ::kill(pid_, SIGTERM);
  while (leash.fault().empty() && Clock::now() - start < std::chrono::seconds(5)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_LT(Clock::now() - start, std::chrono::milliseconds(500));
  EXPECT_NE(leash.fault().find("the engine wants the node"), std::string::npos);
  EXPECT_TRUE(job->is_ended());
  int status = 0;
  EXPECT_EQ(::waitpid(pid_, &status, WNOHANG), 0) << "it still holds the node";
  job->end(CheckJobEnd::unknown);
  EXPECT_EQ(job_exit(), 4);
  EXPECT_EQ(job->ended_why(), "Slurm ended job 12: PREEMPTED");
}

TEST_F(CheckJobTest, a_job_that_is_killed_pulls_the_leash_as_well) {
  process::Leash leash(seconds(60));
  const auto job = begin(leash);
  ASSERT_TRUE(job);
  ::kill(pid_, SIGKILL);
  for (int i = 0; i < 500 && leash.fault().empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_NE(leash.fault(), "");
}

TEST_F(CheckJobTest, a_job_outlives_no_agent) {
  process::Leash leash(seconds(60));
  auto job = begin(leash);
  ASSERT_TRUE(job);
  job.reset();
  EXPECT_EQ(job_exit(), 4);
}

TEST_F(CheckJobTest, a_job_that_does_not_start_is_cancelled) {
  plan_.patience = milliseconds(300);
  process::Leash leash(seconds(60));
  const auto job = CheckJob::begin(plan_, config_, leash);
  ASSERT_FALSE(job);
  EXPECT_EQ(job.error().code, Code::exhausted);
  EXPECT_EQ(read("cancelled"), "12\n");
  EXPECT_TRUE(fs::is_empty(config_.run_dir + "/tundish-check")) << "its socket is gone";
}

TEST_F(CheckJobTest, a_lease_that_ends_meanwhile_cancels_it_at_once) {
  process::Leash leash(seconds(60));
  std::thread revoke([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    leash.pull("the tenant withdrew its consent");
  });
  const auto start = Clock::now();
  const auto job = CheckJob::begin(plan_, config_, leash);
  revoke.join();
  ASSERT_FALSE(job);
  EXPECT_EQ(job.error().what, "the tenant withdrew its consent");
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(2));
  EXPECT_EQ(read("cancelled"), "12\n");
}

TEST_F(CheckJobTest, what_slurm_refuses_is_told_and_another_engine_is_refused) {
  program("sbatch", "echo 'sbatch: error: invalid account' >&2; exit 1");
  process::Leash leash(seconds(60));
  const auto refused = CheckJob::begin(plan_, config_, leash);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().what.find("invalid account"), std::string::npos);
  plan_.work.engine = "ray";
  const auto other = CheckJob::begin(plan_, config_, leash);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, Code::unsupported);
  plan_.work = {"slurm", "n01 --uid=0"};
  EXPECT_FALSE(CheckJob::begin(plan_, config_, leash)) << "no flag by way of a name";
}

}  // namespace
}  // namespace tundish::agent
