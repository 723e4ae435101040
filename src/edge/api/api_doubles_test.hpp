#pragma once
// Stand-ins below an Api: a clock that the test moves, a store in memory, drivers that are silent.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "edge/api/api.hpp"

namespace tundish::edge {

class StillScheduler final : public Scheduler {
 public:
  Instant now() const override { return now_; }
  void at(Instant at, std::function<void()> task) override {
    tasks_.emplace(std::max(at, now_), std::move(task));
  }
  /// Runs what is due now: one turn of the loop and all that follows from it.
  void settle() { advance({}); }
  void advance(Duration by) {
    const Instant until = now_ + by;
    while (!tasks_.empty() && tasks_.begin()->first <= until) {
      auto node = tasks_.extract(tasks_.begin());
      now_ = std::max(now_, node.key());
      node.mapped()();
    }
    now_ = until;
  }

 private:
  Instant now_{1000000000};
  std::multimap<Instant, std::function<void()>> tasks_;
};

class MapStore final : public Store {
 public:
  StoreHead head() const override { return head_; }
  Result<> load(const std::function<Result<>(const ObjectBase&)>& take) override {
    for (const auto& [key, body] : objects_) TRY_VOID(take(*body));
    return {};
  }
  Result<> commit(const Batch& batch) override {
    ++commits;
    if (full) return make_error(Code::exhausted, "the disk is full");
    for (const auto& change : batch.changes) {
      head_.revision = std::max(head_.revision, change.revision);
      if (change.body) {
        objects_[{change.kind, change.id}] = change.body;
      } else {
        objects_.erase({change.kind, change.id});
      }
    }
    for (const auto& entry : batch.history) {
      entries.push_back(entry);
      entries.back().sequence = static_cast<std::int64_t>(entries.size());
    }
    return {};
  }
  Result<std::vector<HistoryEntry>> history(const HistoryQuery& query) override {
    std::vector<HistoryEntry> out;
    for (const auto& entry : entries) {
      if (entry.object.starts_with(query.object)) out.push_back(entry);
    }
    return out;
  }
  Result<VerifyReport> verify_history() override {
    return VerifyReport{static_cast<std::int64_t>(entries.size()), true, "", "h"};
  }
  Result<> backup(const std::string& path) override {
    backups.push_back(path);
    return {};
  }

  bool full = false;
  int commits = 0;
  std::vector<HistoryEntry> entries;
  std::vector<std::string> backups;

 private:
  StoreHead head_;
  std::map<std::pair<std::string, std::string>, std::shared_ptr<ObjectBase>> objects_;
};

/// Never answer by themselves; a test may answer for them.
struct SilentAgents final : Agents {
  struct Started {
    NodeId node;
    VerbCall call;
    Done done;
  };
  void start(const NodeId& node, VerbCall call, Duration, Done done) override {
    started.push_back({node, std::move(call), std::move(done)});
  }
  /// As the hub does: whoever waits is told at once.
  void stop(const NodeId& node, const std::string& key) override {
    stopped.push_back(key);
    for (auto& one : started) {
      if (one.node != node || one.call.key != key || !one.done) continue;
      std::exchange(one.done, nullptr)(make_error(Code::unavailable, "its lease is taken back"));
      return;
    }
  }
  std::vector<Started> started;
  std::vector<std::string> stopped;
};
struct SilentBmc final : Bmc {
  void start(const std::string&, PowerVerb, Duration, Done) override {}
};
struct SilentSwitches final : SwitchDriver {
  void attach(const PortRef&, const PortIntent&, Duration, Done) override {}
  void read(const PortRef& port, const SwitchOwnership&, Duration, ReadDone done) override {
    if (shows) done(shows(port.switch_name));
  }
  std::function<Result<SwitchReading>(const std::string&)> shows;
};
struct SilentFabrics final : FabricManager {
  void apply(const FabricRef&, const FabricState&, Duration, Done) override {}
  void read(const FabricRef&, Duration, ReadDone) override {}
};
struct SilentEngine final : Engine {
  std::vector<EngineCommand> plan(const DesiredEngine&, const EngineObserved&) const override {
    return {};
  }
  std::vector<EngineFile> render(const DesiredEngine&) const override { return {}; }
  void apply(const std::string&, const NodeId&, const std::string&, std::vector<EngineCommand>,
             Duration, Done) override {}
  void observe(const NodeId&, const std::string&, Duration, ObserveDone) override {}
};
struct NoSecrets final : control::SecretSource {
  std::string munge_key(const Cluster&) override { return ""; }
  std::string dbd_password(const Cluster&) override { return ""; }
};
struct CountingRandom final : Random {
  std::uint64_t next() override {
    return state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
  }

 private:
  std::uint64_t state_ = 7;
};
struct NotingInjector final : FaultInjector {
  void start(const Injection& injection, Done done) override {
    seen.push_back(injection);
    done(refuse ? Result<>(make_error(Code::unavailable, "the node is off")) : Result<>());
  }
  bool refuse = false;
  std::vector<Injection> seen;
};

struct NotingOutlet final : Outlet {
  void send(HttpResponse response) override {
    EXPECT_FALSE(answer.has_value()) << "answered twice";
    answer = std::move(response);
  }
  void begin_stream(std::string content_type) override { stream_type = std::move(content_type); }
  void write(std::string chunk) override { text += chunk; }
  void end() override { ended = true; }
  bool closed() const override { return ended; }

  std::optional<HttpResponse> answer;
  std::string stream_type, text;
  bool ended = false;
};

}  // namespace tundish::edge
