// Two ranks that find each other, and what becomes of one whose other is gone. The words are those
// that MPICH 4.0.2 was seen to say.
#include "runtime/agent/pair_manager.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

namespace tundish::agent {
namespace {

std::string say(PairBoard& board, int rank, const std::string& line) {
  const auto answers = board.take(rank, line);
  EXPECT_TRUE(answers) << line;
  return answers ? answers->to.at(static_cast<std::size_t>(rank)) : "";
}

TEST(PairBoard, a_rank_learns_who_it_is_and_how_many_there_are) {
  PairBoard board;
  EXPECT_EQ(say(board, 1, "cmd=initack pmiid=1"),
            "cmd=initack\ncmd=set size=2\ncmd=set rank=1\ncmd=set debug=0\n");
  EXPECT_EQ(say(board, 1, "cmd=init pmi_version=1 pmi_subversion=1"),
            "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n");
  EXPECT_EQ(say(board, 0, "cmd=get kvsname=kvs_0 key=PMI_process_mapping"),
            "cmd=get_result rc=0 msg=success value=(vector,(0,2,1))\n");
}

TEST(PairBoard, what_one_puts_the_other_gets) {
  PairBoard board;
  EXPECT_EQ(say(board, 0, "cmd=get kvsname=kvs_0 key=a"),
            "cmd=get_result rc=-1 msg=key_not_found value=unknown\n");
  EXPECT_EQ(say(board, 1, "cmd=put kvsname=kvs_0 key=a value=2F=x"),
            "cmd=put_result rc=0 msg=success\n");
  EXPECT_EQ(say(board, 0, "cmd=get kvsname=kvs_0 key=a"),
            "cmd=get_result rc=0 msg=success value=2F=x\n");
}

TEST(PairBoard, a_barrier_opens_for_both_and_closes_again) {
  PairBoard board;
  for (int turn = 0; turn < 2; ++turn) {
    EXPECT_EQ(board.take(0, "cmd=barrier_in")->to[0], "");
    const auto opened = board.take(1, "cmd=barrier_in");
    EXPECT_EQ(opened->to[0], "cmd=barrier_out\n");
    EXPECT_EQ(opened->to[1], "cmd=barrier_out\n");
  }
}

TEST(PairBoard, whoever_gives_up_or_speaks_something_else_ends_the_job) {
  PairBoard board;
  EXPECT_FALSE(board.take(0, "cmd=abort exitcode=15"));
  EXPECT_FALSE(board.take(0, "mcmd=spawn"));
  EXPECT_FALSE(board.take(0, ""));
}

TEST(PairOrder, is_a_port_and_an_address) {
  const auto order = parse_pair_order("18700,10.0.0.2");
  ASSERT_TRUE(order);
  EXPECT_EQ(order->port, 18700);
  EXPECT_EQ(order->peer, "10.0.0.2");
  for (const char* bad : {"", "18700", "18700,", "0,10.0.0.2", "70000,10.0.0.2", "18700,peer"}) {
    EXPECT_FALSE(parse_pair_order(bad)) << bad;
  }
}

constexpr int test_port = 28700;

/// From 127.0.0.1 as rank 0, from 127.0.0.2 as the peer; -1: nobody listens yet.
int dial(const std::string& from) {
  for (int turn = 0; turn < 100; ++turn) {
    const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in here{}, there{};
    here.sin_family = there.sin_family = AF_INET;
    ::inet_pton(AF_INET, from.c_str(), &here.sin_addr);
    ::inet_pton(AF_INET, "127.0.0.1", &there.sin_addr);
    there.sin_port = htons(test_port);
    const bool up = ::bind(fd, reinterpret_cast<sockaddr*>(&here), sizeof here) == 0 &&
                    ::connect(fd, reinterpret_cast<sockaddr*>(&there), sizeof there) == 0;
    if (up) return fd;
    ::close(fd);
    ::usleep(20000);
  }
  return -1;
}

std::string talk(int fd, const std::string& line) {
  const std::string text = line + "\n";
  if (::send(fd, text.data(), text.size(), MSG_NOSIGNAL) < 0) return "";
  char answer[1024];
  const auto got = ::recv(fd, answer, sizeof answer, 0);
  return got > 0 ? std::string(answer, static_cast<std::size_t>(got)) : "";
}

TEST(PairManager, two_ranks_meet_over_the_network) {
  Result<> served = make_error(Code::internal, "never");
  std::thread server([&] { served = serve_pair({test_port, "127.0.0.2", seconds(10)}); });
  std::thread rank1([] {
    const int fd = dial("127.0.0.2");
    EXPECT_EQ(talk(fd, "cmd=initack pmiid=1").find("cmd=set rank=1\n"), 27U);
    EXPECT_EQ(talk(fd, "cmd=put kvsname=kvs_0 key=k value=v"), "cmd=put_result rc=0 msg=success\n");
    EXPECT_EQ(talk(fd, "cmd=barrier_in"), "cmd=barrier_out\n");
    EXPECT_EQ(talk(fd, "cmd=finalize"), "cmd=finalize_ack\n");
    ::close(fd);
  });
  // One that never speaks, as a connect that was given up: the rank may come again.
  ::close(dial("127.0.0.1"));
  const int fd = dial("127.0.0.1");
  EXPECT_EQ(talk(fd, "cmd=barrier_in"), "cmd=barrier_out\n");
  EXPECT_EQ(talk(fd, "cmd=get kvsname=kvs_0 key=k"),
            "cmd=get_result rc=0 msg=success value=v\n");
  EXPECT_EQ(talk(fd, "cmd=finalize"), "cmd=finalize_ack\n");
  rank1.join();
  server.join();
  ::close(fd);
  EXPECT_TRUE(served) << served.error().message();
}

TEST(PairManager, a_rank_whose_other_is_gone_is_let_go) {
  Result<> served;
  std::thread server([&] { served = serve_pair({test_port, "127.0.0.2", seconds(10)}); });
  const int left = dial("127.0.0.1");
  const int right = dial("127.0.0.2");
  EXPECT_NE(talk(right, "cmd=init"), "");
  ::close(right);
  EXPECT_EQ(talk(left, "cmd=barrier_in"), "") << "the connection ends";
  server.join();
  ::close(left);
  ASSERT_FALSE(served);
  EXPECT_EQ(served.error().what, "rank 1 is gone");
}

TEST(PairManager, one_that_does_not_come_is_named) {
  const auto served = serve_pair({test_port, "127.0.0.2", milliseconds(200)});
  ASSERT_FALSE(served);
  EXPECT_TRUE(served.error().what.starts_with("rank 0 did not come"));
}

}  // namespace
}  // namespace tundish::agent
