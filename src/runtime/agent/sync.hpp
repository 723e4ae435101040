#pragma once
// Tells tundishd what happened on the node: at once when there is something, else as a heartbeat.
#include <string>

#include "runtime/agent/executor.hpp"
#include "runtime/agent/result_journal.hpp"
#include "runtime/agent/sightings.hpp"
#include "runtime/agent/spool.hpp"
#include "runtime/agent/uplink.hpp"
#include "runtime/agent/verdict_news.hpp"

namespace tundish::agent {

struct SyncParts {
  const AgentConfig& config;
  Enrolment& enrolment;
  Bell& bell;
  Spool& spool;
  ResultJournal& journal;
  Sightings& sightings;
  VerdictNews& verdicts;
  ExpectationBox& expectation;
  Executor& executor;
  std::string boot_id;
};

/// The loop of the sync thread; returns when the bell is stopped. While tundishd is away it only
/// waits: nothing on the node is touched.
void run_sync(SyncParts parts);

}  // namespace tundish::agent
