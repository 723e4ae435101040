#include "runtime/net/loop.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <thread>
#include <vector>

namespace tundish::net {
namespace {

TEST(Loop, runs_tasks_in_order_of_time_and_equal_ones_first_in_first_out) {
  Loop loop;
  std::vector<int> order;
  const Instant base = loop.now();
  loop.at(base + milliseconds(20), [&] { order.push_back(3); });
  loop.at(base + milliseconds(10), [&] { order.push_back(1); });
  loop.at(base + milliseconds(10), [&] { order.push_back(2); });
  loop.at(base + milliseconds(30), [&] { loop.stop(); });
  EXPECT_TRUE(order.empty());
  loop.run();
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
  EXPECT_GE(loop.now(), base + milliseconds(30));
}

TEST(Loop, a_passed_instant_runs_soon_but_not_before_at_returns) {
  Loop loop;
  bool has_run = false;
  loop.at(Instant{1}, [&] {
    has_run = true;
    loop.stop();
  });
  EXPECT_FALSE(has_run);
  loop.run();
  EXPECT_TRUE(has_run);
}

TEST(Loop, an_earlier_task_added_later_moves_the_timer) {
  Loop loop;
  const Instant base = loop.now();
  Instant ran;
  loop.at(base + seconds(30), [] {});
  loop.at(base + milliseconds(5), [&] {
    ran = loop.now();
    loop.stop();
  });
  loop.run();
  EXPECT_LT(ran - base, seconds(5));
  EXPECT_GE(ran, base + milliseconds(5));
}

TEST(Loop, a_task_that_reschedules_itself_at_once_does_not_starve_posted_ones) {
  Loop loop;
  int turns = 0;
  std::function<void()> again = [&] {
    ++turns;
    if (turns < 100000) loop.at(loop.now(), again);
  };
  again();
  loop.post([&] { loop.stop(); });
  loop.run();
  EXPECT_LT(turns, 1000);
}

TEST(Loop, no_instant_is_below_the_floor) {
  const Instant far{Loop().now().us + hours(1).us};
  Loop loop(far);
  EXPECT_GE(loop.now(), far);
  EXPECT_LT(loop.now() - far, seconds(10));
}

TEST(Loop, time_goes_on_from_where_it_is_begun_until_the_wall_clock_is_believed) {
  Loop loop;
  const Instant wall = loop.now();
  loop.begin_at(wall - hours(48));
  EXPECT_LT(loop.now() - (wall - hours(48)), seconds(10));
  bool due = false;
  loop.at(wall - hours(24), [&] {
    due = true;
    loop.stop();
  });
  loop.at(loop.now() + milliseconds(20), [&] {
    EXPECT_FALSE(due);
    loop.believe_wall();
  });
  loop.run();
  EXPECT_TRUE(due) << "what waited for a time that has come is not forgotten";
  EXPECT_GE(loop.now(), wall);
  loop.begin_at(wall + hours(1));
  loop.believe_wall();
  EXPECT_GE(loop.now(), wall + hours(1)) << "never back";
}

TEST(Loop, offloads_work_and_returns_to_its_own_thread) {
  Loop loop;
  const auto own = std::this_thread::get_id();
  std::thread::id worked;
  std::thread::id finished;
  loop.offload([&] { worked = std::this_thread::get_id(); },
               [&] {
                 finished = std::this_thread::get_id();
                 loop.stop();
               });
  loop.run();
  EXPECT_NE(worked, own);
  EXPECT_EQ(finished, own);
}

TEST(Loop, takes_posts_and_timers_from_other_threads) {
  Loop loop;
  int sum = 0;
  const std::function<void()> count = [&] {
    if (++sum == 4000) loop.stop();
  };
  std::vector<std::thread> threads;
  loop.post([&] {
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int n = 0; n < 500; ++n) {
          loop.post(count);
          loop.at(loop.now(), count);
        }
      });
    }
  });
  loop.at(loop.now() + seconds(5), [&] { loop.stop(); });
  loop.run();
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(sum, 4000);
}

TEST(Loop, hands_signals_to_the_loop_thread_every_time) {
  Loop loop;
  int seen = 0;
  loop.on_signals({SIGUSR1}, [&](int number) {
    EXPECT_EQ(number, SIGUSR1);
    if (++seen == 2) return loop.stop();
    raise(SIGUSR1);
  });
  loop.post([] { raise(SIGUSR1); });
  loop.at(loop.now() + seconds(3), [&] { loop.stop(); });
  loop.run();
  EXPECT_EQ(seen, 2);
}

TEST(Loop, a_stop_before_run_counts_and_run_can_follow) {
  Loop loop;
  loop.stop();
  loop.run();
  bool has_run = false;
  loop.post([&] {
    has_run = true;
    loop.stop();
  });
  loop.run();
  EXPECT_TRUE(has_run);
}

}  // namespace
}  // namespace tundish::net
