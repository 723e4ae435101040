#include "runtime/agent/executor.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>

namespace tundish::agent {
namespace {
namespace fs = std::filesystem;

class ExecutorTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/tundish-executor-XXXXXX";
    folder_ = ::mkdtemp(name);
    open();
  }
  void TearDown() override {
    executor_.reset();
    fs::remove_all(folder_);
  }
  void open() {
    executor_.reset();
    journal_.reset();
    journal_ = std::move(*ResultJournal::open(folder_ + "/journal"));
    ExecutorHooks hooks;
    hooks.run = [this](const VerbCall& call) { return run(call); };
    hooks.lane = [](const VerbCall& call) { return call.cluster; };
    hooks.is_read_only = [](const VerbCall& call) { return call.verb == Verb::engine_observe; };
    hooks.on_result = [] {};
    executor_ = std::make_unique<Executor>(*journal_, std::move(hooks), 3);
  }
  VerbResult run(const VerbCall& call) {
    {
      std::unique_lock lock(mutex_);
      order_.push_back(call.key);
      opened_.wait_for(lock, std::chrono::seconds(5),
                       [&] { return call.key.find("slow") == std::string::npos || gate_; });
    }
    VerbResult result;
    result.key = call.key;
    result.ok = code_.empty();
    result.code = code_;
    return result;
  }
  static VerbCall call_of(const std::string& key, const std::string& cluster,
                          Verb verb = Verb::engine_commands) {
    VerbCall call;
    call.key = key;
    call.cluster = cluster;
    call.verb = verb;
    return call;
  }
  void open_gate() {
    const std::lock_guard lock(mutex_);
    gate_ = true;
    opened_.notify_all();
  }
  bool wait_for(const std::function<bool()>& holds) {
    for (int i = 0; i < 500 && !holds(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return holds();
  }
  std::vector<std::string> order() {
    const std::lock_guard lock(mutex_);
    return order_;
  }
  bool is_idle() { return executor_->running_keys().empty(); }

  std::string folder_;
  std::string code_;
  std::mutex mutex_;
  std::condition_variable opened_;
  bool gate_ = false;
  std::vector<std::string> order_;
  std::unique_ptr<ResultJournal> journal_;
  std::unique_ptr<Executor> executor_;
};

TEST_F(ExecutorTest, AKeyIsDoneOnceAlsoAfterARestart) {
  EXPECT_EQ(executor_->submit(call_of("k", "a")), Executor::Taken::started);
  ASSERT_TRUE(wait_for([&] { return is_idle(); }));
  EXPECT_EQ(executor_->submit(call_of("k", "a")), Executor::Taken::answered);
  ASSERT_TRUE(journal_->acknowledge({"k"}).has_value());
  open();
  EXPECT_FALSE(journal_->has_waiting());
  EXPECT_EQ(executor_->submit(call_of("k", "a")), Executor::Taken::answered);
  EXPECT_TRUE(journal_->has_waiting()) << "the old result is told again";
  EXPECT_EQ(order().size(), 1U);
}

TEST_F(ExecutorTest, ARunningKeyIsNotStartedTwice) {
  EXPECT_EQ(executor_->submit(call_of("slow", "a")), Executor::Taken::started);
  EXPECT_EQ(executor_->submit(call_of("slow", "a")), Executor::Taken::running);
  EXPECT_EQ(executor_->running_keys(), std::vector<std::string>{"slow"});
  open_gate();
  ASSERT_TRUE(wait_for([&] { return is_idle(); }));
  EXPECT_EQ(order().size(), 1U);
}

TEST_F(ExecutorTest, OneClusterInOrderOthersBeside) {
  executor_->submit(call_of("slow", "a"));
  ASSERT_TRUE(wait_for([&] { return order().size() == 1; }));
  executor_->submit(call_of("a2", "a"));
  executor_->submit(call_of("a3", "a"));
  executor_->submit(call_of("b1", "b"));
  ASSERT_TRUE(wait_for([&] { return order().size() == 2; }));
  EXPECT_EQ(order()[1], "b1") << "another cluster does not wait";
  open_gate();
  ASSERT_TRUE(wait_for([&] { return is_idle(); }));
  EXPECT_EQ(order(), (std::vector<std::string>{"slow", "b1", "a2", "a3"}));
}

TEST_F(ExecutorTest, RefusalsAndObservationsMayBeAskedAgain) {
  code_ = "denied";
  executor_->submit(call_of("k", "a"));
  ASSERT_TRUE(wait_for([&] { return is_idle(); }));
  ASSERT_TRUE(journal_->acknowledge({"k"}).has_value());
  code_.clear();
  EXPECT_EQ(executor_->submit(call_of("k", "a")), Executor::Taken::started);
  executor_->submit(call_of("o", "a", Verb::engine_observe));
  ASSERT_TRUE(wait_for([&] { return is_idle(); }));
  open();
  const auto waiting = journal_->waiting(1 << 20);
  ASSERT_EQ(waiting.size(), 1U) << "an observation does not outlive the agent";
  EXPECT_EQ(waiting[0].key, "k");
}

TEST_F(ExecutorTest, WhatCannotBeUnderstoodIsAnswered) {
  executor_->refuse("k", make_error(Code::invalid, "verb: unknown word"));
  EXPECT_EQ(journal_->waiting(1000)[0].code, "unsupported");
}

}  // namespace
}  // namespace tundish::agent
