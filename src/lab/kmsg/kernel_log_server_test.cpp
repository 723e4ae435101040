#include "lab/kmsg/kernel_log_server.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

#include "runtime/agent/record_source.hpp"

namespace tundish::lab {
namespace {

using Clock = std::chrono::steady_clock;

class Fd {
 public:
  explicit Fd(int fd) : fd_(fd) {}
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { close(fd_); }
  int get() const { return fd_; }

 private:
  int fd_;
};

class KernelLogServerTest : public testing::Test {
 protected:
  void SetUp() override {
    if (access("/dev/fuse", R_OK | W_OK) != 0) GTEST_SKIP() << "no /dev/fuse here";
    char name[] = "/tmp/tundish-kmsg-XXXXXX";
    directory_ = mkdtemp(name);
    auto server = KernelLogServer::mount(directory_);
    ASSERT_TRUE(server) << server.error().message();
    server_ = std::move(*server);
    ASSERT_TRUE(server_->add_node("n01"));
    ASSERT_TRUE(server_->add_node("n02"));
  }
  void TearDown() override {
    server_.reset();
    if (!directory_.empty()) {
      EXPECT_EQ(rmdir(directory_.c_str()), 0) << "still mounted?";
    }
  }

  std::string path(const std::string& node) const { return directory_ + "/" + node; }
  int open_log(int flags, const std::string& node = "n01") const {
    const int fd = open(path(node).c_str(), flags | O_CLOEXEC);
    EXPECT_GE(fd, 0) << node;
    return fd;
  }
  void append(std::string_view text) { ASSERT_TRUE(server_->append("n01", 4, text)); }

  std::string directory_;
  std::unique_ptr<KernelLogServer> server_;
};

// One read(): the record without its time stamp, or the errno in words.
std::string take(int fd, std::size_t size = 8192) {
  std::vector<char> buffer(size);
  const ssize_t got = read(fd, buffer.data(), size);
  if (got < 0) return std::string("errno ") + strerrorname_np(errno);
  std::string line(buffer.data(), static_cast<std::size_t>(got));
  const std::size_t usec = line.find(',', line.find(',') + 1) + 1;
  return line.erase(usec, line.find(',', usec) - usec);
}

short poll_now(int fd, int limit_ms) {
  pollfd watched{.fd = fd, .events = POLLIN | POLLPRI, .revents = 0};
  return poll(&watched, 1, limit_ms) == 0 ? short{0} : watched.revents;
}

TEST_F(KernelLogServerTest, every_open_starts_at_the_oldest_and_reads_one_record_at_a_time) {
  append("first");
  append("second\nline");
  const Fd a(open_log(O_RDONLY | O_NONBLOCK));
  const Fd b(open_log(O_RDONLY | O_NONBLOCK));
  EXPECT_EQ(take(a.get()), "4,0,,-;first\n");
  EXPECT_EQ(take(a.get()), "4,1,,-;second\\x0aline\n");
  EXPECT_EQ(take(a.get()), "errno EAGAIN");
  EXPECT_EQ(take(b.get()), "4,0,,-;first\n");
  const Fd other(open_log(O_RDONLY | O_NONBLOCK, "n02"));
  EXPECT_EQ(take(other.get()), "errno EAGAIN");
}

TEST_F(KernelLogServerTest, a_users_write_never_reads_as_the_kernels) {
  const Fd fd(open_log(O_RDWR | O_NONBLOCK));
  ASSERT_EQ(write(fd.get(), "<4>fake Xid\n", 12), 12);
  append("real Xid");
  EXPECT_EQ(take(fd.get()), "12,0,,-;fake Xid\n");
  EXPECT_EQ(take(fd.get()), "4,1,,-;real Xid\n");
  const std::string shell = "echo '<30>from a shell' > " + path("n01");
  ASSERT_EQ(system(shell.c_str()), 0);
  EXPECT_EQ(take(fd.get()), "30,2,,-;from a shell\n");
}

TEST_F(KernelLogServerTest, long_writes_and_short_buffers_are_invalid) {
  const Fd fd(open_log(O_RDWR | O_NONBLOCK));
  const std::string text(1025, 'x');
  EXPECT_EQ(write(fd.get(), text.data(), 1025), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(write(fd.get(), text.data(), 1024), 1024);
  append("next");
  EXPECT_EQ(take(fd.get(), 10), "errno EINVAL");
  EXPECT_EQ(take(fd.get()), "4,1,,-;next\n") << "the kernel drops the record that did not fit";
}

TEST_F(KernelLogServerTest, a_record_that_no_buffer_holds_does_not_blind_the_agent) {
  append("before");
  append(std::string(20000, 'x'));
  append("behind");
  const auto source = make_kmsg_source({path("n01")});
  ASSERT_TRUE(source->open());
  EXPECT_TRUE(source->read().bytes.ends_with("before\n"));
  EXPECT_EQ(source->read().state, RecordSource::State::overrun);
  EXPECT_TRUE(source->read().bytes.ends_with("behind\n"));
}

TEST_F(KernelLogServerTest, an_overrun_is_epipe_once_and_poll_says_so) {
  append("old");
  const Fd fd(open_log(O_RDONLY | O_NONBLOCK));
  for (int i = 0; i < 5000; ++i) append("filler");
  EXPECT_EQ(poll_now(fd.get(), 0), POLLIN | POLLPRI | POLLERR);
  EXPECT_EQ(take(fd.get()), "errno EPIPE");
  EXPECT_EQ(take(fd.get()), "4,905,,-;filler\n");
  EXPECT_EQ(poll_now(fd.get(), 0), POLLIN);
}

TEST_F(KernelLogServerTest, seeks_move_the_cursor) {
  append("zero");
  append("one");
  const Fd fd(open_log(O_RDWR | O_NONBLOCK));
  ASSERT_GT(lseek(fd.get(), 0, SEEK_END), 0);
  EXPECT_EQ(take(fd.get()), "errno EAGAIN");
  append("two");
  EXPECT_EQ(take(fd.get()), "4,2,,-;two\n");
  ASSERT_EQ(lseek(fd.get(), 0, SEEK_SET), 0);
  EXPECT_EQ(take(fd.get()), "4,0,,-;zero\n");
  ASSERT_EQ(write(fd.get(), "<4>three\n", 9), 9);
  EXPECT_EQ(take(fd.get()), "4,1,,-;one\n") << "a write moves the offset, not the cursor";
  ASSERT_EQ(lseek(fd.get(), 0, SEEK_DATA), 0);
  EXPECT_EQ(take(fd.get()), "4,0,,-;zero\n");
  EXPECT_EQ(lseek(fd.get(), 0, SEEK_HOLE), -1);
}

TEST_F(KernelLogServerTest, a_blocking_read_is_woken_by_the_next_record) {
  const Fd fd(open_log(O_RDONLY));
  std::string got;
  std::thread reader([&] { got = take(fd.get()); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  append("wake");
  reader.join();
  EXPECT_EQ(got, "4,0,,-;wake\n");
}

TEST_F(KernelLogServerTest, poll_is_woken_and_quickly) {
  const Fd fd(open_log(O_RDONLY | O_NONBLOCK));
  EXPECT_EQ(poll_now(fd.get(), 20), 0);
  std::vector<double> delays_us;
  for (int i = 0; i < 200; ++i) {
    Clock::time_point seen;
    short events = 0;
    std::thread reader([&] {
      events = poll_now(fd.get(), 5000);
      seen = Clock::now();
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const Clock::time_point sent = Clock::now();
    append("record");
    reader.join();
    ASSERT_EQ(events, POLLIN);
    ASSERT_EQ(take(fd.get()), "4," + std::to_string(i) + ",,-;record\n");
    delays_us.push_back(std::chrono::duration<double, std::micro>(seen - sent).count());
  }
  std::sort(delays_us.begin(), delays_us.end());
  RecordProperty("poll_wake_us_p50", std::to_string(delays_us[100]));
  RecordProperty("poll_wake_us_p99", std::to_string(delays_us[197]));
  EXPECT_LT(delays_us[100], 5000) << "typical is below 0.1 ms";
}

TEST_F(KernelLogServerTest, a_killed_blocked_reader_is_gone_at_once) {
  const pid_t reader = fork();
  if (reader == 0) {
    const int fd = open(path("n01").c_str(), O_RDONLY);
    char buffer[8192];
    _exit(read(fd, buffer, sizeof(buffer)) < 0 ? 1 : 0);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const Clock::time_point killed = Clock::now();
  ASSERT_EQ(kill(reader, SIGKILL), 0);
  int status = 0;
  while (waitpid(reader, &status, WNOHANG) == 0) {
    ASSERT_LT(Clock::now() - killed, std::chrono::seconds(3)) << "reader hangs in the kernel";
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_TRUE(WIFSIGNALED(status));
  append("the node goes on");
  const Fd fd(open_log(O_RDONLY | O_NONBLOCK));
  EXPECT_EQ(take(fd.get()), "4,0,,-;the node goes on\n");
}

TEST_F(KernelLogServerTest, a_boot_empties_the_log_and_numbers_from_zero) {
  append("before");
  append("before");
  const Fd fd(open_log(O_RDONLY | O_NONBLOCK));
  EXPECT_EQ(take(fd.get()), "4,0,,-;before\n");
  ASSERT_TRUE(server_->boot("n01"));
  EXPECT_EQ(take(fd.get()), "errno EAGAIN");
  append("after");
  EXPECT_EQ(take(fd.get()), "4,0,,-;after\n");
}

TEST_F(KernelLogServerTest, names_are_checked) {
  EXPECT_EQ(server_->add_node("n01").error().code, Code::conflict);
  EXPECT_EQ(server_->add_node("a/b").error().code, Code::invalid);
  EXPECT_EQ(server_->append("n77", 4, "x").error().code, Code::not_found);
  EXPECT_EQ(server_->boot("n77").error().code, Code::not_found);
  EXPECT_EQ(KernelLogServer::mount("/nonexistent/tundish").error().code, Code::unavailable);
}

TEST_F(KernelLogServerTest, the_end_of_the_server_is_seen_by_its_readers) {
  const Fd fd(open_log(O_RDONLY));
  std::string got;
  std::thread reader([&] { got = take(fd.get()); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  server_.reset();
  reader.join();
  EXPECT_EQ(got, "errno ENODEV");
  EXPECT_EQ(take(fd.get()), "errno ENOTCONN");
}

}  // namespace
}  // namespace tundish::lab
