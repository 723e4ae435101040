#include "runtime/process/leash.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <thread>

#include "base/text.hpp"
#include "runtime/process/strays.hpp"

namespace tundish::process {
namespace {

using Clock = std::chrono::steady_clock;

Command shell(const std::string& script, Duration limit = seconds(30)) {
  Command command;
  command.argv = {"/bin/sh", "-c", script};
  command.limit = limit;
  return command;
}

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// The process of that number is gone, or a zombie that nobody fetched yet.
bool is_gone(int pid) { return ::kill(pid, 0) != 0 || !is_alive(pid); }

TEST(Leash, a_program_runs_as_without_one) {
  const Leash leash(seconds(20));
  const auto ran = run_leashed(shell("echo out; echo err >&2; exit 3"), leash);
  ASSERT_TRUE(ran) << ran.error().message();
  EXPECT_EQ(ran->output.exit_code, 3);
  EXPECT_EQ(ran->output.out, "out\n");
  EXPECT_EQ(ran->output.err, "err\n");
  EXPECT_TRUE(ran->preempted.empty());
  EXPECT_FALSE(ran->output.abandoned);
  const auto killed = run_leashed(shell("kill -SEGV $$"), leash);
  ASSERT_TRUE(killed);
  EXPECT_EQ(killed->output.signal, SIGSEGV);
}

TEST(Leash, what_is_not_installed_is_told_as_that) {
  const Leash leash(seconds(20));
  Command command;
  command.argv = {"no-such-program-anywhere"};
  const auto ran = run_leashed(command, leash);
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().code, Code::unsupported);
}

// Children, grandchildren that detached themselves, and those that ignore every signal they can.
constexpr const char* family =
    "echo $$; sleep 600 & echo $!; "
    "setsid sh -c 'trap \"\" TERM INT HUP; echo $$; exec sleep 600' & "
    "sh -c 'setsid sleep 600 & echo $!' ; wait";

TEST(Leash, pulling_it_kills_the_whole_tree_within_a_second) {
  Leash leash(seconds(60));
  auto pulled = Clock::now();
  std::thread puller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
    pulled = Clock::now();
    leash.pull("placement took the node");
  });
  const auto ran = run_leashed(shell(family), leash);
  const double took = since(pulled);
  puller.join();
  ASSERT_TRUE(ran) << ran.error().message();
  EXPECT_EQ(ran->preempted, "placement took the node");
  EXPECT_LT(took, 1.0);
  EXPECT_FALSE(ran->output.abandoned);
  std::vector<int> pids;
  for (const auto& line : split(ran->output.out, '\n')) {
    if (const auto pid = parse_integer(line)) pids.push_back(static_cast<int>(*pid));
  }
  ASSERT_EQ(pids.size(), 4U) << ran->output.out;
  for (const int pid : pids) EXPECT_TRUE(is_gone(pid)) << pid;
}

TEST(Leash, another_one_that_began_later_does_not_keep_it) {
  Leash first(seconds(60));
  Leash second(seconds(60));
  Result<LeashedOutput> one = make_error(Code::internal, "never"), other = one;
  std::thread early([&] { one = run_leashed(shell("sleep 600"), first); });
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  std::thread late([&] { other = run_leashed(shell("sleep 600"), second); });
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const auto pulled = Clock::now();
  first.pull("placement took the node");
  early.join();
  EXPECT_LT(since(pulled), 0.8);
  ASSERT_TRUE(one);
  EXPECT_FALSE(one->output.abandoned);
  second.pull("over");
  late.join();
}

/// As an agent that is killed in the middle of a check: it can do nothing any more.
TEST(Leash, whoever_holds_it_is_killed_and_nothing_is_left) {
  int told[2];
  ASSERT_EQ(::pipe(told), 0);
  const pid_t holder = ::fork();
  ASSERT_GE(holder, 0);
  if (holder == 0) {
    const std::string to = "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(told[1]);
    const Leash leash(seconds(60));
    (void)run_leashed(shell("exec >" + to + "; " + family), leash);
    ::_exit(0);
  }
  ::close(told[1]);
  std::string text;
  char buffer[256];
  while (std::count(text.begin(), text.end(), '\n') < 4) {
    const auto got = ::read(told[0], buffer, sizeof buffer);
    if (got <= 0) break;
    text.append(buffer, static_cast<std::size_t>(got));
  }
  std::vector<int> pids;
  for (const auto& line : split(text, '\n')) {
    if (const auto pid = parse_integer(line)) pids.push_back(static_cast<int>(*pid));
  }
  EXPECT_EQ(pids.size(), 4U) << text;
  for (const int pid : pids) EXPECT_TRUE(is_alive(pid)) << pid;
  const auto killed = Clock::now();
  ::kill(holder, SIGKILL);
  ::waitpid(holder, nullptr, 0);
  const auto any_left = [&] {
    return !std::all_of(pids.begin(), pids.end(), [](int pid) { return is_gone(pid); });
  };
  while (any_left() && since(killed) < 5) ::usleep(5000);
  EXPECT_FALSE(any_left());
  EXPECT_LT(since(killed), 1.0);
  ::close(told[0]);
}

TEST(Leash, a_program_dies_with_its_keeper) {
  const Leash leash(seconds(60));
  const auto start = Clock::now();
  const auto ran = run_leashed(shell("echo $$; kill -9 $PPID; sleep 600"), leash);
  ASSERT_TRUE(ran) << ran.error().message();
  EXPECT_LT(since(start), 2.0);
  EXPECT_TRUE(ran->output.abandoned) << "nobody can tell what became of it";
  EXPECT_EQ(ran->output.exit_code, -1);
  ::usleep(50000);
  EXPECT_TRUE(is_gone(static_cast<int>(parse_integer(trim(ran->output.out)).value_or(1))));
}

/// Workers that a program started outlive a keeper that is killed; whoever holds the leash sees it.
TEST(Leash, the_workers_of_a_program_go_when_its_keeper_is_killed) {
  const Leash leash(seconds(60));
  const auto ran = run_leashed(
      shell("setsid sleep 600 >/dev/null 2>&1 & echo $!; kill -9 $PPID; sleep 600"), leash);
  ASSERT_TRUE(ran) << ran.error().message();
  ::usleep(50000);
  EXPECT_TRUE(is_gone(static_cast<int>(parse_integer(trim(ran->output.out)).value_or(1))));
}

/// Nobody was left to see it: the next agent ends them.
TEST(Leash, what_is_left_of_a_dead_agent_and_its_keeper_is_found_by_the_next_one) {
  const pid_t left = ::fork();
  ASSERT_GE(left, 0);
  if (left == 0) {
    const char* const argv[] = {"sleep", "600", nullptr};
    const std::string mark(leashed_mark);
    const char* const env[] = {mark.c_str(), nullptr};
    ::execve("/bin/sleep", const_cast<char**>(argv), const_cast<char**>(env));
    ::_exit(127);
  }
  std::thread kept([] {
    const Leash leash(milliseconds(700));
    const auto ran = run_leashed(shell("sleep 0.4; echo whole"), leash);
    EXPECT_TRUE(ran && ran->output.out == "whole\n") << "it has its keeper";
  });
  ::usleep(200000);
  EXPECT_GE(kill_strays(), 1);
  EXPECT_EQ(::waitpid(left, nullptr, 0), left);
  kept.join();
}

TEST(Leash, one_that_nobody_extends_runs_out) {
  Leash leash(milliseconds(300));
  const auto start = Clock::now();
  const auto ran = run_leashed(shell("sleep 30"), leash);
  ASSERT_TRUE(ran);
  EXPECT_NE(ran->preempted.find("ran out"), std::string::npos);
  EXPECT_LT(since(start), 1.5);
  const auto never = run_leashed(shell("echo ran"), leash);
  ASSERT_TRUE(never);
  EXPECT_FALSE(never->preempted.empty());
  EXPECT_TRUE(never->output.out.empty()) << "it is not even started";
}

TEST(Leash, one_that_is_extended_holds) {
  Leash leash(milliseconds(400));
  std::thread keeper([&] {
    for (int i = 0; i < 10; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      leash.extend(milliseconds(400));
    }
  });
  const auto ran = run_leashed(shell("sleep 0.9; echo done"), leash);
  keeper.join();
  ASSERT_TRUE(ran);
  EXPECT_EQ(ran->output.out, "done\n");
}

TEST(Leash, what_hangs_is_killed_at_its_limit_and_leaves_nothing) {
  const Leash leash(seconds(60));
  const auto ran = run_leashed(shell("setsid sleep 600 & echo $!; sleep 600", milliseconds(400)),
                               leash);
  ASSERT_TRUE(ran);
  EXPECT_TRUE(ran->output.timed_out);
  EXPECT_TRUE(ran->preempted.empty());
  EXPECT_TRUE(is_gone(static_cast<int>(parse_integer(trim(ran->output.out)).value_or(1))));
}

TEST(Leash, what_a_program_leaves_behind_goes_with_it) {
  const Leash leash(seconds(60));
  const auto ran = run_leashed(shell("setsid sleep 600 >/dev/null 2>&1 & echo $!"), leash);
  ASSERT_TRUE(ran);
  EXPECT_EQ(ran->output.exit_code, 0);
  EXPECT_TRUE(is_gone(static_cast<int>(parse_integer(trim(ran->output.out)).value_or(1))));
}

TEST(Leash, a_flood_is_bounded) {
  const Leash leash(seconds(60));
  Command command = shell("yes tundish", milliseconds(500));
  command.output_limit = 1000;
  const auto ran = run_leashed(command, leash);
  ASSERT_TRUE(ran);
  EXPECT_TRUE(ran->output.timed_out);
  EXPECT_EQ(ran->output.out.size(), 1000U);
}

}  // namespace
}  // namespace tundish::process
