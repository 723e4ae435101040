#pragma once
// The REST API of tundishd: who may do what to which object, and nothing of how it is done.
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control/ledger.hpp"
#include "control/manager.hpp"
#include "control/verify/verify.hpp"
#include "edge/api/contract.hpp"
#include "edge/api/contract_health.hpp"
#include "edge/api/contract_network.hpp"
#include "ports/drivers.hpp"
#include "ports/random.hpp"
#include "runtime/net/http_server.hpp"

namespace tundish::edge {

/// What agents told and was not taken as it stood, since the start.
struct AgentCounts {
  std::int64_t corrected = 0;  ///< reports with a number, time or text that cannot be
  std::int64_t refused = 0;    ///< reports that could not be read
  std::int64_t unasked = 0;    ///< results of acts that nobody here asked for
};

struct ApiParts {
  control::Manager& manager;
  control::Ledger& ledger;
  Store& store;
  Scheduler& scheduler;
  Random& random;
  std::function<std::string(std::string_view)> hash_token;   ///< SHA-256, hexadecimal
  std::function<std::string(std::string_view)> seal_secret;  ///< clear value -> Secret::sealed
  std::vector<FaultKind> fault_kinds = {};
  std::function<Result<Injection>(const FaultRequest&, const Node&)> render_fault = {};
  std::string site = {};
  std::string version = {};
  net::Handler agent_handler = {};  ///< gets every /v1/agent/ request, unauthenticated
  /// Runs the first beside the loop and then the second on it; unset: both at once, here.
  std::function<void(std::function<void()>, std::function<void()>)> offload = {};
  std::function<AgentCounts()> agent_counts = {};
  /// Steps, text and read-back of one switch from what is seen to what is wanted.
  std::function<Result<SwitchPlan>(const Switch&, const SwitchState&, const SwitchState&)>
      plan_switch = {};
  std::vector<SwitchDriverInfo> switch_drivers = {};
  std::vector<CheckInfo> checks = {};
  /// Keeps the text of a proved policy for the next start.
  std::function<Result<>(const std::string&)> keep_policy = {};
  std::string policy_note = {};  ///< why none is loaded, or a kept one is
  /// Limits that a policy is proved with.
  std::vector<control::verify::ThresholdRow> limits = {};
  /// Where pages and tickets are sent; "": to nobody. Nullopt: not known here.
  std::optional<std::string> receiver = {};
  /// What is wrong with the clock; "": nothing.
  std::function<std::string()> clock_note = {};
};

/// Where an answer goes: a net::Reply, or a test.
class Outlet {
 public:
  virtual ~Outlet() = default;
  virtual void send(HttpResponse response) = 0;
  virtual void begin_stream(std::string content_type) = 0;
  virtual void write(std::string chunk) = 0;
  virtual void end() = 0;
  virtual bool closed() const = 0;
};

/// Lives on the loop thread, is made after Ledger::load() and lives as long as the ledger, which
/// keeps its listeners.
class Api {
 public:
  explicit Api(ApiParts parts);
  ~Api();
  void handle(net::ServerRequest request, net::Reply reply);
  /// As handle(); /v1/agent/ requests are answered 404 here, for they need a net::Reply.
  void answer(net::ServerRequest request, std::shared_ptr<Outlet> outlet);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The generated description of every route, JSON.
std::string render_openapi();

}  // namespace tundish::edge
