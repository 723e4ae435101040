#!/usr/bin/env bash
# Begins an item of a family: new_item.sh check|fault NAME. Writes the item, which compiles and says
# that it is not written yet, and its test, which fails until it is.
set -euo pipefail
cd "$(dirname "$0")/.."

die() { printf 'new_item: %s\n' "$*" >&2; exit 2; }

(($# == 2)) || die "usage: new_item.sh check|fault NAME"
family=${1%s} name=$2
[[ $family == check || $family == fault ]] || die "no family is called $1; use check or fault"
[[ $name =~ ^[a-z][a-z0-9]*(_[a-z0-9]+)*$ ]] || die "$name is not snake_case"
[[ $name != family && $name != driver* && $name != *_test ]] || die "$name is taken by the build"
folder=src/families/${family}s
item=$folder/$name.cpp test=$folder/${name}_test.cpp
for path in "$item" "$test" "$folder/$name.hpp"; do
  [[ ! -e $path ]] || { printf 'new_item: %s exists\n' "$path" >&2; exit 3; }
done

write_check() {
  cat >"$item" <<END
#include "families/checks/check_parts.hpp"

namespace tundish::checks {
namespace {

Verdicts judge(const CheckSample& sample) {
  Findings found(sample, "$name");
  found.unseen("", "check $name is not written yet");
  return found.take("what holds when it is ok");
}

}  // namespace

extern const Check $name;
const Check $name{
    "$name",
    "not written yet",  // what holds when it is ok
    "not written yet",  // where evidence and limits come from
    "not written yet",  // what it costs the node
    {"not written yet"},  // members of CheckSample
    judge,
    Resource::unknown,
    Locality::symptom,
    minutes(1)};

}  // namespace tundish::checks
END
  cat >"$test" <<END
#include "families/checks/sample_for_test.hpp"

namespace tundish::checks {
namespace {

VerdictState judge(const CheckSample& sample) { return worst_of(judge_all(sample, {"$name"})); }

TEST(Check_$name, a_whole_node_is_ok) { EXPECT_EQ(judge(whole_node()), VerdictState::ok); }

TEST(Check_$name, what_is_broken_fails) {
  CheckSample sample = whole_node();
  // break one thing of the sample here
  EXPECT_EQ(judge(sample), VerdictState::fail);
}

TEST(Check_$name, missing_evidence_is_unknown) {
  CheckSample sample = whole_node();
  // take its evidence away here
  EXPECT_EQ(judge(sample), VerdictState::unknown);
}

TEST(Check_$name, is_described) {
  const Check* check = find_check("$name");
  ASSERT_NE(check, nullptr);
  for (const auto text : {check->doc, check->source, check->cost, check->needs.at(0)}) {
    EXPECT_NE(text, "not written yet");
  }
  EXPECT_NE(check->watches, Resource::unknown);
}

}  // namespace
}  // namespace tundish::checks
END
}

write_fault() {
  cat >"$item" <<END
#include "families/faults/fault.hpp"

namespace tundish::families {
namespace {

Result<Injection> render(const FaultOrder&) {
  return make_error(Code::unsupported, "fault $name is not written yet");
}

}  // namespace

extern const Fault $name;
const Fault $name = {
    "$name", "not written yet", "not written yet", "not written yet", render};

}  // namespace tundish::families
END
  cat >"$test" <<END
#include <gtest/gtest.h>

#include "families/faults/fault.hpp"

namespace tundish::families {
namespace {

TEST(Fault_$name, renders_its_kernel_line_and_effect) {
  FaultOrder order;
  order.node_name = "n1";
  order.pci = "0000:3b:00";
  const auto made = find_fault("$name")->render(order);
  ASSERT_TRUE(made) << made.error().what;
  EXPECT_EQ(made->line, "the line that the driver prints");
  EXPECT_EQ(made->effect, "what breaks");
}

TEST(Fault_$name, is_described) {
  const Fault* fault = find_fault("$name");
  for (const auto text : {fault->doc, fault->expected_detection, fault->expected_action}) {
    EXPECT_NE(text, "not written yet");
  }
}

}  // namespace
}  // namespace tundish::families
END
}

"write_$family"
printf '%s\n%s\n' "$item" "$test"
printf 'new_item: the test fails until the %s is written: ./dev build test_families\n' "$family" >&2
