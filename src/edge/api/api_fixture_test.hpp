#pragma once
// An Api over the stand-ins, with a site and its tokens.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "codec/json.hpp"
#include "edge/api/api.hpp"
#include "edge/api/api_doubles_test.hpp"
#include "model/ops/tenancy_ops.hpp"

namespace tundish::edge {

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

  /// Its one state waits, and begins anew after ten minutes.
  static RemediationPolicy waiting_policy() {
    RemediationPolicy policy;
    policy.initial = "wait";
    policy.states["wait"].next.push_back({{}, 600, "wait"});
    return policy;
  }

  ApiParts make_parts() {
    ApiParts parts{
        manager_, ledger_, store_, scheduler_, random_, hash, [](std::string_view clear) {
          return "sealed" + std::to_string(clear.size());
        }};
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
    Authority authority;
    authority.scope = "*";
    authority.action_class = "drill";
    authority.level = AuthorityLevel::act;
    drill_authority_ = put(authority).id;
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
    return call(
        {"POST", "/v1/clusters",
         "{\"name\":\"" + name + "\",\"nodes\":" + std::to_string(nodes) + ",\"login\":false}",
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
  SilentFabrics fabrics_;
  SilentEngine engine_;
  NoSecrets secrets_;
  XidCatalogue catalogue_;
  control::Ledger ledger_{store_, scheduler_};
  control::Manager manager_{{ledger_,
                             scheduler_,
                             {agents_, bmc_, switches_, fabrics_, engine_, &injector_},
                             secrets_,
                             catalogue_,
                             waiting_policy(),
                             {},
                             {},
                             {},
                             {}}};
  std::unique_ptr<Api> api_;
  TenantId a_, b_;
  Id<Authority> drill_authority_;
  std::vector<std::shared_ptr<NotingOutlet>> sent_;
};

}  // namespace tundish::edge
