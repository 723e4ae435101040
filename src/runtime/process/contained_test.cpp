#include "runtime/process/contained.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>

#include "runtime/process/process.hpp"

namespace tundish::process {
namespace {

Containment quick() {
  Containment out;
  out.limit = milliseconds(800);
  out.output_limit = 1 << 16;
  return out;
}

TEST(Contained, Answers) {
  int abandoned = 0;
  const auto out = run_contained([] { return std::string(40000, 'x'); }, quick(), abandoned);
  ASSERT_TRUE(out) << out.error().message();
  EXPECT_EQ(out->size(), 40000U);
  EXPECT_EQ(abandoned, 0);
}

TEST(Contained, ACrashIsTold) {
  int abandoned = 0;
  const auto out = run_contained(
      []() -> std::string {
        ::raise(SIGSEGV);
        return "x";
      },
      quick(), abandoned);
  ASSERT_FALSE(out);
  EXPECT_EQ(out.error().code, Code::corrupt);
  EXPECT_NE(out.error().what.find("signal 11"), std::string::npos);
}

TEST(Contained, AHangEnds) {
  int abandoned = 0;
  const auto begin = std::chrono::steady_clock::now();
  const auto out = run_contained(
      []() -> std::string {
        for (;;) ::pause();
      },
      quick(), abandoned);
  ASSERT_FALSE(out);
  EXPECT_EQ(out.error().code, Code::timeout);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(3));
}

TEST(Contained, AFloodIsCut) {
  int abandoned = 0;
  const auto out = run_contained([] { return std::string(1 << 20, 'x'); }, quick(), abandoned);
  ASSERT_FALSE(out);
  EXPECT_EQ(out.error().code, Code::corrupt);
}

TEST(Contained, WhatItStartsDiesWithIt) {
  int abandoned = 0;
  const auto out = run_contained(
      [] {
        const pid_t child = ::fork();
        if (child == 0) {
          for (;;) ::pause();
        }
        return std::to_string(child);
      },
      quick(), abandoned);
  ASSERT_TRUE(out) << out.error().message();
  const int child = std::stoi(*out);
  for (int i = 0; i < 100 && is_alive(child); ++i) ::usleep(10000);
  EXPECT_FALSE(is_alive(child));
}

TEST(Contained, WritesNoFile) {
  int abandoned = 0;
  const std::string path = testing::TempDir() + "contained_file";
  const auto out = run_contained(
      [&]() -> std::string {
        ::signal(SIGXFSZ, SIG_IGN);
        std::ofstream file(path);
        file << "x" << std::flush;
        return file.good() ? "wrote" : "refused";
      },
      quick(), abandoned);
  ASSERT_TRUE(out) << out.error().message();
  EXPECT_EQ(*out, "refused");
}

}  // namespace
}  // namespace tundish::process
