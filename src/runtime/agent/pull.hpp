#pragma once
#include "runtime/agent/executor.hpp"
#include "runtime/agent/lease_box.hpp"
#include "runtime/agent/uplink.hpp"

namespace tundish::agent {

struct PullParts {
  const AgentConfig& config;
  const Enrolment& enrolment;
  Bell& bell;
  Executor& executor;
  LeaseBox& leases;
};

/// The loop of the pull thread: long polls for calls and hands them to the executor; returns when
/// the bell is stopped.
void run_pull(PullParts parts);

}  // namespace tundish::agent
