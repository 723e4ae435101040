#pragma once
// The far end of every agent: enrolment, witnesses in, verbs out. Agents call us; we never call
// them. A verb waits here until its agent pulls it, and its answer ends the caller's wait.
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "control/ledger.hpp"
#include "control/manager.hpp"
#include "edge/api/api.hpp"
#include "ports/drivers.hpp"
#include "ports/random.hpp"
#include "runtime/net/http_server.hpp"

namespace tundish::edge {

struct AgentHubParts {
  control::Ledger& ledger;
  Scheduler& scheduler;
  Random& random;
  std::function<std::string(std::string_view)> hash_token;
};

class AgentHub final : public Agents {
 public:
  explicit AgentHub(AgentHubParts parts) : parts_(std::move(parts)) {}
  /// Before the first request: the manager needs the hub as its driver, and the hub the manager.
  void connect(control::Manager& manager) { manager_ = &manager; }

  void start(const NodeId& node, VerbCall call, Duration limit, Done done) override;
  void stop(const NodeId& node, const std::string& key) override;

  const AgentCounts& counts() const { return counts_; }

  /// Every /v1/agent/* request.
  void handle(net::ServerRequest request, net::Reply reply);

 private:
  struct Pending {
    VerbCall call;
    Done done;
    Instant delivered_at;
  };
  struct Puller {
    net::Reply reply;
    std::int64_t ticket = 0;
  };

  struct Sent {
    Expectation expectation;
    std::string mark;
    Instant made_at;
    std::int64_t revision = 0;
  };

  void enrol(const net::ServerRequest& request, const net::Reply& reply);
  void sync(const NodeId& node, const net::ServerRequest& request, const net::Reply& reply);
  void pull(const NodeId& node, const net::ServerRequest& request, const net::Reply& reply);
  void deliver(const NodeId& node);
  /// Answers a waiting pull with these calls and with all leases that hold.
  void answer_pull(const NodeId& node, std::vector<VerbCall> calls);
  std::vector<std::string> leases_of(const NodeId& node) const;
  void take_results(const NodeId& node, std::vector<VerbResult> results, AgentSyncReply& answer);
  void take_health(const NodeId& node, const AgentSync& body, AgentSyncReply& answer);
  void note_ended(const NodeId& node, const std::string& key);
  void clean(const NodeId& node, AgentSync& report);
  bool may_log(const NodeId& node);
  void expire(const NodeId& node, const std::string& key);
  std::optional<NodeId> identify(const net::ServerRequest& request) const;

  AgentHubParts parts_;
  control::Manager* manager_ = nullptr;
  std::map<NodeId, std::map<std::string, Pending>> pending_;
  std::map<NodeId, Puller> pullers_;
  std::set<NodeId> enrolled_;                        ///< answered, identity not used yet
  std::map<NodeId, std::deque<std::string>> ended_;  ///< keys that nobody waits for any more
  std::map<NodeId, Instant> logged_;
  std::map<NodeId, Sent> expectations_;
  AgentCounts counts_;
  std::int64_t tickets_ = 0;
};

}  // namespace tundish::edge
