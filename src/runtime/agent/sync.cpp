#include "runtime/agent/sync.hpp"

#include <time.h>

#include <algorithm>

#include "base/log.hpp"
#include "codec/json.hpp"
#include "runtime/agent/verbs.hpp"

namespace tundish::agent {
namespace {

constexpr std::int64_t results_bytes = 4 << 20;  ///< of one message; tundishd takes 8 MiB
constexpr Duration call_limit = seconds(15);

class Sync {
 public:
  explicit Sync(SyncParts parts) : parts_(std::move(parts)), session_({parts_.config.ca_file}) {}

  void run() {
    while (!parts_.bell.is_stopped()) {
      const Duration pause = parts_.enrolment.step(session_, parts_.boot_id);
      const auto identity = parts_.enrolment.identity();
      if (!identity || pause.us > 0) {
        // While rejected we still knock, slowly: the fault may be tundishd's.
        if (identity) (void)send(*identity);
        parts_.bell.sleep(std::max(pause, milliseconds(50)));
        continue;
      }
      round(*identity);
    }
  }

 private:
  enum class Sent { all, more, stuck };

  void round(const AgentIdentity& identity) {
    const auto sent = send(identity);
    if (!sent) {
      if (!away_) log(LogLevel::warn, "sync_failed", {{"why", sent.error().message()}});
      away_ = true;
      const bool denied = sent.error().code == Code::denied;
      parts_.bell.sleep(denied ? slow_pause(parts_.config) : backoff_.next());
      return;
    }
    if (away_) log(LogLevel::info, "sync_works_again");
    away_ = false;
    switch (*sent) {
      case Sent::more: return;
      case Sent::all:
        backoff_.reset();
        parts_.bell.wait(milliseconds(parts_.config.heartbeat_ms));
        return;
      case Sent::stuck: parts_.bell.sleep(backoff_.next()); return;
    }
  }

  /// Grows within a boot, also over a restart of the agent.
  std::int64_t next_seq() {
    timespec now{};
    ::clock_gettime(CLOCK_BOOTTIME, &now);
    const std::int64_t us = static_cast<std::int64_t>(now.tv_sec) * 1000000 + now.tv_nsec / 1000;
    seq_ = std::max(seq_ + 1, us);
    return seq_;
  }

  AgentSync make_message(const Sightings::News& news) const {
    AgentSync message;
    message.boot_id = parts_.boot_id;
    message.version = agent_version;
    message.witnesses = parts_.spool.oldest({});
    message.results = parts_.journal.waiting(results_bytes);
    message.hardware = news.hardware;
    message.gpus = news.gpus;
    message.running_keys = parts_.executor.running_keys();
    message.on_hold = is_on_hold(parts_.config);
    message.expectation_mark = parts_.expectation.mark();
    return message;
  }

  Result<Sent> send(const AgentIdentity& identity) {
    const auto news = parts_.sightings.news();
    AgentSync message = make_message(news);
    const auto told = parts_.verdicts.fill(message, next_seq());
    const auto body =
        call_api(session_, parts_.config,
                 {"POST", "/v1/agent/sync", render_json(message), identity.secret}, call_limit);
    if (!body) {
      if (body.error().code == Code::denied) parts_.enrolment.note_rejected();
      return body.error();
    }
    AgentSyncReply reply;
    TRY_VOID(parse_json(*body, reply, Unknown::keep_out));
    parts_.enrolment.note_accepted();
    parts_.sightings.confirm(news.serial);
    parts_.verdicts.confirm(told);
    if (reply.want_verdicts) parts_.verdicts.want_all();
    if (reply.expectation) parts_.expectation.set(*reply.expectation, reply.expectation_mark);
    TRY_VOID(parts_.spool.acknowledge(reply.stored_witnesses));
    TRY_VOID(parts_.journal.acknowledge(reply.stored_results));
    for (const auto& key : reply.refused_results) {
      log(LogLevel::warn, "result_not_wanted", {{"key", key}});
    }
    TRY_VOID(parts_.journal.acknowledge(reply.refused_results));
    if (parts_.spool.size() == 0 && !parts_.journal.has_waiting()) return Sent::all;
    const bool had = !message.witnesses.empty() || !message.results.empty();
    const bool took = !reply.stored_witnesses.empty() || !reply.stored_results.empty() ||
                      !reply.refused_results.empty();
    return took || !had ? Sent::more : Sent::stuck;
  }

  SyncParts parts_;
  net::HttpSession session_;
  Backoff backoff_;
  std::int64_t seq_ = 0;
  bool away_ = false;
};

}  // namespace

void run_sync(SyncParts parts) { Sync(std::move(parts)).run(); }

}  // namespace tundish::agent
