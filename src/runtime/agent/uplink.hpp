#pragma once
// What the agent's threads share of the connection to tundishd: its address, who the agent is, and
// the bell that wakes the sync thread.
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "model/verbs.hpp"
#include "runtime/agent/agent_config.hpp"
#include "runtime/net/http_client.hpp"

namespace tundish::agent {

struct AgentIdentity {
  std::string node;
  std::string secret;
  void fields(Fields& f) {
    f(1, "node", node, "node id that tundishd gave us");
    f(2, "secret", secret, "bearer token; this file is for root only");
  }
};

/// Sleeps that end when the agent stops, and a bell.
class Bell {
 public:
  void ring();
  void stop();
  bool is_stopped() const;
  /// Until it rings, stops or `limit` has passed; takes the ring.
  void wait(Duration limit);
  /// Only a stop ends it early; false when stopped.
  bool sleep(Duration limit);

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool rung_ = false;
  bool stopped_ = false;
};

/// Identity on disk, and the way to get one. Any thread.
class Enrolment {
 public:
  explicit Enrolment(const AgentConfig& config);
  /// The bearer secret, when the agent is enrolled.
  std::optional<AgentIdentity> identity() const;
  /// tundishd answered 401 to our secret. Never leads to a new enrolment by itself: only a token
  /// file that is newer than the identity does.
  void note_rejected();
  void note_accepted();
  /// One attempt to enrol when it is due; returns how long to wait before the next look.
  Duration step(net::HttpSession& session, const std::string& boot_id);

 private:
  bool is_due() const;
  Result<EnrolReply> ask(net::HttpSession& session, const std::string& boot_id);
  Result<> keep(const AgentIdentity& identity);

  const AgentConfig& config_;
  std::string path_;
  mutable std::mutex mutex_;
  std::optional<AgentIdentity> identity_;
  bool rejected_ = false;
};

/// Back-off between attempts that fail.
class Backoff {
 public:
  Duration next() {
    const Duration now = next_;
    next_ = next_ * 2 < seconds(5) ? next_ * 2 : seconds(5);
    return now;
  }
  void reset() { next_ = milliseconds(200); }

 private:
  Duration next_ = milliseconds(200);
};

/// Between attempts when only a person can help.
inline Duration slow_pause(const AgentConfig& config) {
  return milliseconds(config.heartbeat_ms * 2);
}

/// JSON POST or GET with the bearer secret; `denied` for 401 and 403.
struct ApiCall {
  std::string method = "GET";
  std::string path;
  std::string body;
  std::string secret;
};
Result<std::string> call_api(net::HttpSession& session, const AgentConfig& config,
                             const ApiCall& call, Duration limit);

}  // namespace tundish::agent
