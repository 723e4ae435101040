#include "runtime/process/process.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/text.hpp"

namespace tundish::process {
namespace {

class ProcessTest : public testing::Test {
 protected:
  ProcessTest() {
    std::string name = "/tmp/tundish-process-XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~ProcessTest() override { std::filesystem::remove_all(folder_); }
  std::string file(const std::string& name) const { return folder_ + "/" + name; }
  static Command shell(const std::string& script) { return {.argv = {"sh", "-c", script}}; }
  /// The number that a child wrote to a file, once it is there.
  int wait_for_pid(const std::string& name) const {
    for (int i = 0; i < 300; ++i) {
      const auto text = read_file(file(name));
      const auto pid = text && text->ends_with('\n') ? parse_integer(trim(*text)) : std::nullopt;
      if (pid) return static_cast<int>(*pid);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ADD_FAILURE() << name << " was never written";
    return 0;
  }
  static bool is_soon_gone(int pid) {
    for (int i = 0; i < 300 && is_alive(pid); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return !is_alive(pid);
  }
  std::string folder_;
};

TEST_F(ProcessTest, keeps_both_outputs_and_the_exit_code) {
  const auto done = run(shell("echo out; echo first >&2; echo last >&2; exit 3"));
  ASSERT_TRUE(done);
  EXPECT_EQ(done->exit_code, 3);
  EXPECT_EQ(done->out, "out\n");
  EXPECT_EQ(done->err, "first\nlast\n");
  EXPECT_FALSE(done->ok());
  EXPECT_EQ(done->summary(), "exit 3: last");
}

TEST_F(ProcessTest, gives_input_environment_and_directory) {
  Command command = shell("cat; echo \"$FRUIT $HOME\"; pwd");
  command.input = std::string(1 << 20, 'x');
  command.env = {"FRUIT=fig", "HOME=/nowhere"};
  command.directory = folder_;
  const auto done = run(command);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->out, command.input + "fig /nowhere\n" + folder_ + "\n");
}

TEST_F(ProcessTest, input_that_nobody_reads_hurts_nobody) {
  Command command{.argv = {"true"}};
  command.input = std::string(4 << 20, 'x');
  const auto done = run(command);
  ASSERT_TRUE(done);
  EXPECT_TRUE(done->ok());
}

TEST_F(ProcessTest, a_missing_program_is_unsupported_and_named) {
  const auto missing = run({.argv = {"no-such-program-here"}});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Code::unsupported);
  EXPECT_NE(missing.error().message().find("no-such-program-here"), std::string::npos);
  const auto astray = run({.argv = {"true"}, .directory = "/no/such/directory"});
  ASSERT_FALSE(astray);
  EXPECT_EQ(astray.error().code, Code::invalid);
  EXPECT_EQ(run({}).error().code, Code::invalid);
}

TEST_F(ProcessTest, kills_the_whole_group_at_the_limit_also_when_sigterm_is_ignored) {
  Command command = shell(
      "trap '' TERM; sh -c 'trap \"\" TERM; echo $$ > grandchild; "
      "while :; do sleep 10; done' & while :; do sleep 10; done");
  command.directory = folder_;
  command.limit = milliseconds(300);
  const auto begin = std::chrono::steady_clock::now();
  const auto done = run(command);
  ASSERT_TRUE(done);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  EXPECT_TRUE(done->timed_out);
  EXPECT_FALSE(done->abandoned);
  EXPECT_EQ(done->signal, SIGKILL);
  EXPECT_EQ(done->exit_code, -1);
  EXPECT_FALSE(done->ok());
  EXPECT_TRUE(done->summary().starts_with("killed after ")) << done->summary();
  EXPECT_TRUE(is_soon_gone(wait_for_pid("grandchild")));
}

TEST_F(ProcessTest, a_flood_is_cut_and_does_not_block) {
  Command command = shell("yes | head -c 20000000; yes err | head -c 20000000 >&2");
  command.output_limit = 1000;
  const auto done = run(command);
  ASSERT_TRUE(done);
  EXPECT_TRUE(done->ok());
  EXPECT_EQ(done->out.size(), 1000U);
  EXPECT_EQ(done->err.size(), 1000U);
  Command endless = shell("yes");
  endless.limit = milliseconds(200);
  const auto killed = run(endless);
  ASSERT_TRUE(killed);
  EXPECT_TRUE(killed->timed_out);
}

TEST_F(ProcessTest, does_not_wait_for_a_grandchild_that_holds_the_pipes) {
  Command command = shell("sleep 20 & echo $! > sleeper; echo started");
  command.directory = folder_;
  const auto begin = std::chrono::steady_clock::now();
  const auto done = run(command);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->out, "started\n");
  EXPECT_TRUE(done->ok());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  EXPECT_TRUE(stop_process(wait_for_pid("sleeper"), seconds(1)));
}

TEST_F(ProcessTest, reports_the_signal_that_ended_a_child) {
  const auto done = run(shell("kill -SEGV $$"));
  ASSERT_TRUE(done);
  EXPECT_EQ(done->signal, SIGSEGV);
  EXPECT_EQ(done->exit_code, -1);
  EXPECT_FALSE(done->timed_out);
}

TEST_F(ProcessTest, a_child_inherits_no_descriptor) {
  const int leaked = fcntl(1, F_DUPFD, 77);  // without close-on-exec
  const auto done = run(shell("ls /proc/self/fd"));
  ::close(leaked);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->out, "0\n1\n2\n3\n");  // 3 is ls reading the folder
}

TEST_F(ProcessTest, runs_from_many_threads_at_once) {
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&right, i] {
      for (int n = 0; n < 10; ++n) {
        Command command{.argv = {"cat"}};
        command.input = std::to_string(i * 100 + n);
        const auto done = run(command);
        if (done && done->out == command.input) ++right;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(right, 80);
}

TEST_F(ProcessTest, a_daemon_has_its_own_session_log_and_pid_file) {
  // A number that the shell does not use itself.
  const int leaked = fcntl(1, F_DUPFD, 77);
  const auto pid = spawn_daemon(
      {.argv = {"sh", "-c", "echo hello $FRUIT; ls /proc/$$/fd; echo $$ > own; exec sleep 30"},
       .env = {"FRUIT=fig"},
       .log_file = file("log"),
       .pid_file = file("pid"),
       .directory = folder_});
  ::close(leaked);
  ASSERT_TRUE(pid) << pid.error().message();
  EXPECT_EQ(wait_for_pid("own"), *pid);
  EXPECT_TRUE(is_alive(*pid));
  EXPECT_NE(getsid(*pid), getsid(0));
  EXPECT_NE(getsid(*pid), *pid);  // no session leader: it never gains a terminal
  EXPECT_EQ(*read_file(file("pid")), std::to_string(*pid) + "\n");
  const std::string log = *read_file(file("log"));
  EXPECT_TRUE(log.starts_with("hello fig\n0\n1\n2\n")) << log;
  EXPECT_EQ(log.find(std::to_string(leaked)), std::string::npos) << log;
  EXPECT_TRUE(stop_process(*pid, seconds(2)));
  EXPECT_FALSE(is_alive(*pid));
}

TEST_F(ProcessTest, a_daemon_that_cannot_start_says_so) {
  const auto missing = spawn_daemon(
      {.argv = {"no-such-daemon"}, .env = {}, .log_file = "", .pid_file = "", .directory = ""});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Code::unsupported);
  EXPECT_NE(missing.error().what.find("no-such-daemon"), std::string::npos);
}

TEST_F(ProcessTest, stops_a_daemon_that_ignores_sigterm) {
  const auto pid = spawn_daemon(
      {.argv = {"sh", "-c", "trap '' TERM; echo $$ > up; while :; do sleep 0.05; done"},
       .env = {},
       .log_file = "",
       .pid_file = "",
       .directory = folder_});
  ASSERT_TRUE(pid);
  wait_for_pid("up");
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(stop_process(*pid, milliseconds(150)));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(150));
  EXPECT_FALSE(is_alive(*pid));
  EXPECT_TRUE(stop_process(*pid, milliseconds(1)));
}

TEST_F(ProcessTest, a_zombie_is_not_alive) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  EXPECT_TRUE(is_soon_gone(child));
  EXPECT_EQ(kill(child, 0), 0) << "it is still in the table, so the answer came from its state";
  EXPECT_FALSE(is_alive(0));
  EXPECT_FALSE(is_alive(-1));
  EXPECT_TRUE(is_alive(getpid()));
  EXPECT_TRUE(stop_process(child, seconds(1)));
}

TEST_F(ProcessTest, believes_a_pid_file_only_with_the_right_command_line) {
  const auto pid = spawn_daemon({.argv = {"sleep", "31.25"},
                                 .env = {},
                                 .log_file = "",
                                 .pid_file = file("pid"),
                                 .directory = ""});
  ASSERT_TRUE(pid);
  EXPECT_EQ(read_live_pid(file("pid"), "sleep 31.25"), *pid);
  EXPECT_EQ(read_live_pid(file("pid"), "slurmd"), 0);
  EXPECT_EQ(read_live_pid(file("absent"), ""), 0);
  EXPECT_TRUE(stop_process(*pid, seconds(2)));
  EXPECT_EQ(read_live_pid(file("pid"), "sleep"), 0);
}

TEST_F(ProcessTest, writes_files_whole_with_their_mode) {
  const mode_t mask = umask(0077);
  ASSERT_TRUE(write_file_atomic(file("a"), "one", 0664));
  umask(mask);
  ASSERT_TRUE(write_file_atomic(file("a"), "two", 0664));
  EXPECT_EQ(*read_file(file("a")), "two");
  struct stat info {};
  ASSERT_EQ(stat(file("a").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0664U);
  // Only the file itself is left behind.
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
  EXPECT_EQ(read_file(file("absent")).error().code, Code::not_found);
  EXPECT_EQ(write_file_atomic(file("no/folder"), "x").error().code, Code::not_found);
  std::filesystem::create_directory(file("d"));
  EXPECT_FALSE(write_file_atomic(file("d"), "x"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 2);
}

TEST_F(ProcessTest, a_reader_never_sees_half_a_file) {
  ASSERT_TRUE(write_file_atomic(file("f"), std::string(200000, 'a')));
  std::atomic<bool> is_over{false};
  std::thread writer([&] {
    for (int i = 0; i < 60; ++i) {
      EXPECT_TRUE(write_file_atomic(file("f"), std::string(200000, i % 2 == 0 ? 'b' : 'a')));
    }
    is_over = true;
  });
  int reads = 0;
  while (!is_over || reads == 0) {
    const auto text = read_file(file("f"));
    ++reads;
    ASSERT_TRUE(text);
    ASSERT_EQ(text->size(), 200000U);
    ASSERT_EQ(text->find_first_not_of((*text)[0]), std::string::npos);
  }
  writer.join();
}

}  // namespace
}  // namespace tundish::process
