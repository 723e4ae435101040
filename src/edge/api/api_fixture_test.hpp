#pragma once
// An Api over a store in memory and drivers that never answer, with a clock that the test moves.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "codec/json.hpp"
#include "edge/api/api.hpp"
#include "model/ops/tenancy_ops.hpp"

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
    for (const auto& entry : batch.history) entries.push_back(entry);
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

struct SilentAgents final : Agents {
  void start(const NodeId&, VerbCall, Duration, Done) override {}
};
struct SilentBmc final : Bmc {
  void start(const std::string&, PowerVerb, Duration, Done) override {}
};
struct SilentSwitches final : SwitchDriver {
  void attach(const PortRef&, const std::string&, Duration, Done) override {}
  void read(const PortRef&, Duration, ReadDone) override {}
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

struct Ask {
  std::string method = "GET", path, body = "", token = "root";
  std::map<std::string, std::string> headers = {};
  std::map<std::string, std::string> query = {};
};

/// A site of three GPU nodes, a login node and a service node; tenants a (48 GPUs) and b (8); a
/// token per role named as the clear text before its hash.
class ApiTest : public testing::Test {
 protected:
  ApiTest() {
    manager_.start();
    make_site();
    settle();
    api_ = std::make_unique<Api>(make_parts());
  }

  static std::string hash(std::string_view clear) { return "hash-of-" + std::string(clear) + "-"; }

  ApiParts make_parts() {
    ApiParts parts{manager_, ledger_, store_, scheduler_, random_, hash,
                   [](std::string_view clear) { return "sealed" + std::to_string(clear.size()); }};
    parts.injector = &injector_;
    parts.fault_kinds = {{"xid", "an XID", "agent", "reset"}};
    parts.render_fault = [](const FaultRequest& asked, const Node& node) -> Result<Injection> {
      return Injection{node.meta.name, asked.gpu, "lost", asked.sticky,
                       "NVRM: Xid " + std::to_string(asked.xid)};
    };
    parts.site = "lab";
    parts.version = "test";
    return parts;
  }

  template <class T>
  T put(T object) {
    const auto op = make_operation("put", "test", [&](Txn& txn) -> Result<> {
      if (object.id.empty()) object.id = txn.make_id<T>();
      txn.put(object);
      return {};
    });
    EXPECT_TRUE(ledger_.perform(*op, "system", "test"));
    return object;
  }

  Node put_node(const std::string& name, NodeRole role, const std::string& sku) {
    Node node;
    node.meta.name = name;
    node.spec.role = role;
    node.spec.sku = sku;
    node.spec.serial = "SERIAL-" + name;
    node.spec.rack = "rack1";
    node.spec.leaf_group = "leaf1";
    node.spec.bmc_mac = "02:00:00:00:00:" + name;
    node.status.phase = NodePhase::ready;
    node.status.enrolled = true;
    for (const char* name_of_port : {"eth0", "eth1", "eth2", "eth3"}) {
      node.spec.ports.emplace_back().name = name_of_port;
    }
    node = put(node);
    manager_.heard(node.id, "boot", false);
    return node;
  }

  void put_token(const std::string& clear, Role role, const TenantId& tenant = {}) {
    Token token;
    token.meta.name = clear;
    token.meta.tenant = tenant;
    token.hash = hash(clear);
    token.role = role;
    put(token);
  }

  void make_site() {
    Sku sku;
    sku.meta.name = "h100";
    sku.spec.gpus = 8;
    put(sku);
    for (const char* name : {"gpu1", "gpu2", "gpu3"}) put_node(name, NodeRole::gpu, "h100");
    put_node("login1", NodeRole::login, "");
    put_node("svc1", NodeRole::service, "");
    Tenant tenant;
    tenant.meta.name = "a";
    tenant.spec.gpu_quota = 48;
    a_ = put(tenant).id;
    tenant.id = {};
    tenant.meta.name = "b";
    tenant.spec.gpu_quota = 8;
    b_ = put(tenant).id;
    put_token("root", Role::operator_);
    put_token("oncall", Role::on_call);
    put_token("auditor", Role::auditor);
    put_token("looker", Role::viewer);
    put_token("a-admin", Role::tenant_admin, a_);
    put_token("a-member", Role::member, a_);
    put_token("a-viewer", Role::viewer, a_);
    put_token("b-admin", Role::tenant_admin, b_);
    put_token("agent1", Role::agent);
  }

  void settle() { scheduler_.settle(); }

  std::shared_ptr<NotingOutlet> send(const Ask& ask) {
    net::ServerRequest request;
    request.method = ask.method;
    request.path = ask.path;
    request.body = ask.body;
    request.headers = ask.headers;
    request.query = ask.query;
    request.peer = "10.0.0.9";
    if (!ask.token.empty()) request.headers["authorization"] = "Bearer " + ask.token;
    auto outlet = std::make_shared<NotingOutlet>();
    api_->answer(request, outlet);
    sent_.push_back(outlet);
    return outlet;
  }

  HttpResponse call(const Ask& ask) {
    const auto outlet = send(ask);
    settle();
    if (!outlet->answer) {
      ADD_FAILURE() << ask.method << " " << ask.path << " was not answered";
      return {};
    }
    return *outlet->answer;
  }
  int status(const Ask& ask) { return call(ask).status; }

  /// A field of a JSON object by its path, "spec.nodes"; "" when it is not there.
  static std::string field(const std::string& body, const std::string& path) {
    auto value = JsonValue::parse(body);
    if (!value) return "";
    JsonValue at = *value;
    std::size_t begin = 0;
    while (begin <= path.size()) {
      const auto dot = std::min(path.find('.', begin), path.size());
      at = at.at(path.substr(begin, dot - begin));
      begin = dot + 1;
    }
    return at.as_text().value_or(at.render());
  }
  static std::size_t length(const std::string& body) {
    const auto value = JsonValue::parse(body);
    return value ? value->size() : 0;
  }

  HttpResponse order(const std::string& name, int nodes, const std::string& token = "a-admin") {
    return call({"POST", "/v1/clusters",
                 "{\"name\":\"" + name + "\",\"nodes\":" + std::to_string(nodes) +
                     ",\"login\":false}",
                 token});
  }
  int count_history(const std::string& operation, const std::string& outcome) const {
    int count = 0;
    for (const auto& entry : store_.entries) {
      count += entry.operation == operation && entry.outcome.starts_with(outcome) ? 1 : 0;
    }
    return count;
  }

  StillScheduler scheduler_;
  MapStore store_;
  CountingRandom random_;
  NotingInjector injector_;
  SilentAgents agents_;
  SilentBmc bmc_;
  SilentSwitches switches_;
  SilentEngine engine_;
  NoSecrets secrets_;
  XidCatalogue catalogue_;
  control::Ledger ledger_{store_, scheduler_};
  control::Manager manager_{{ledger_, scheduler_, {agents_, bmc_, switches_, engine_}, secrets_,
                             catalogue_, {}, {}, {}, {}, {}}};
  std::unique_ptr<Api> api_;
  TenantId a_, b_;
  std::vector<std::shared_ptr<NotingOutlet>> sent_;
};

}  // namespace tundish::edge
