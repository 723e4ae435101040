#include "edge/api/agent_hub.hpp"

#include <algorithm>

#include "base/log.hpp"
#include "base/text.hpp"
#include "codec/json.hpp"
#include "control/node/checks.hpp"
#include "edge/api/contract.hpp"
#include "edge/api/report_check.hpp"
#include "model/ops/health_ops.hpp"
#include "model/ops/incident_ops.hpp"
#include "model/ops/node_ops.hpp"
#include "model/ops/tenancy_ops.hpp"

namespace tundish::edge {
namespace {

/// A verb that was handed over and got no answer is handed over again: the agent knows its key.
constexpr Duration redeliver_after = seconds(10);
constexpr std::int64_t most_wait_ms = 30000;
/// Of one report; the agent tells the others again.
constexpr std::size_t most_witnesses = 1000;
/// Keys of a node that were asked for and have ended: their results may be told once more.
constexpr std::size_t most_ended = 256;
/// Between two lines of the log about what one agent tells wrongly.
constexpr Duration log_pause = seconds(60);
/// Between two makings of what an agent is to expect; a change of the node itself is told at once.
constexpr Duration expectation_pause = seconds(30);

void refuse(const net::Reply& reply, int status, const Error& error) {
  ErrorBody body;
  body.code = std::string(code_name(error.code));
  body.message = error.what;
  body.remedy = error.remedy;
  HttpResponse response;
  response.status = status;
  response.headers["content-type"] = "application/json";
  // Source: RFC 9110, section 11.6.1; checked 2026-11
  if (status == 401) response.headers["www-authenticate"] = "Bearer realm=\"tundish\"";
  response.body = render_json(body);
  reply.send(std::move(response));
}

std::string bearer_of(const net::ServerRequest& request) {
  const auto it = request.headers.find("authorization");
  constexpr std::string_view scheme = "Bearer ";
  if (it == request.headers.end() || !it->second.starts_with(scheme)) return "";
  return it->second.substr(scheme.size());
}

bool differs(const ObservedHardware& known, const ObservedHardware& seen) {
  ObservedHardware a = known;
  ObservedHardware b = seen;
  a.at = b.at = {};
  return render_json(a) != render_json(b);
}

}  // namespace

void AgentHub::start(const NodeId& node, VerbCall call, Duration limit, Done done) {
  const std::string key = call.key;
  auto& mine = pending_[node];
  const auto known = mine.find(key);
  if (known != mine.end()) {  // the same act again: one answer for the newest caller
    note_ended(node, key);
    known->second.done(make_error(Code::conflict, "superseded by a repeat of " + key));
    mine.erase(known);
  }
  mine.emplace(key, Pending{std::move(call), std::move(done), {}});
  parts_.scheduler.at(parts_.scheduler.now() + limit, [this, node, key] { expire(node, key); });
  deliver(node);
}

/// The agent learns it at once: a pull that waits is answered, and does not name the lease.
void AgentHub::stop(const NodeId& node, const std::string& key) {
  const auto mine = pending_.find(node);
  if (mine == pending_.end()) return;
  const auto found = mine->second.find(key);
  if (found == mine->second.end()) return;
  const Done done = std::move(found->second.done);
  mine->second.erase(found);
  note_ended(node, key);
  answer_pull(node, {});
  done(make_error(Code::unavailable, key + " was stopped: its lease is taken back"));
}

void AgentHub::expire(const NodeId& node, const std::string& key) {
  const auto mine = pending_.find(node);
  if (mine == pending_.end()) return;
  const auto found = mine->second.find(key);
  if (found == mine->second.end()) return;
  const Done done = std::move(found->second.done);
  const bool taken = found->second.delivered_at.is_set();
  mine->second.erase(found);
  note_ended(node, key);
  done(make_error(Code::timeout, taken ? "the agent took " + key + " and did not answer in time"
                                       : "the agent did not ask for work in time"));
}

void AgentHub::handle(net::ServerRequest request, net::Reply reply) {
  if (request.path == "/v1/agent/enrol" && request.method == "POST") {
    enrol(request, reply);
    return;
  }
  const auto node = identify(request);
  if (!node) {
    refuse(reply, 401,
           make_error(Code::denied, "no agent identity")
               .with_remedy("enrol with a one-time token: tundish token create --node BMC_MAC"));
    return;
  }
  if (request.path == "/v1/agent/sync" && request.method == "POST") {
    sync(*node, request, reply);
  } else if (request.path == "/v1/agent/verbs" && request.method == "GET") {
    pull(*node, request, reply);
  } else {
    refuse(reply, 404, make_error(Code::not_found, "no such agent call: " + request.path));
  }
}

std::optional<NodeId> AgentHub::identify(const net::ServerRequest& request) const {
  const std::string bearer = bearer_of(request);
  if (bearer.empty()) return std::nullopt;
  const Token* token = parts_.ledger.view().find_token(parts_.hash_token(bearer));
  if (!token || token->role != Role::agent) return std::nullopt;
  const NodeId node(token->node);
  if (!parts_.ledger.view().find(node)) return std::nullopt;
  return node;
}

void AgentHub::enrol(const net::ServerRequest& request, const net::Reply& reply) {
  EnrolRequest body;
  if (const auto parsed = parse_json(request.body, body, Unknown::keep_out); !parsed) {
    refuse(reply, 422, parsed.error());
    return;
  }
  (void)clean_report(body, parts_.scheduler.now());
  const Token* token = parts_.ledger.view().find_token(parts_.hash_token(body.token));
  const Instant now = parts_.scheduler.now();
  if (!token || !token->one_time || (token->expires_at.is_set() && token->expires_at < now)) {
    const Error error = make_error(Code::denied, "enrolment token is unknown, spent or expired")
                            .with_remedy("create one: tundish token create --node BMC_MAC");
    parts_.ledger.record_refusal("agent:" + request.peer, "enrol_agent", "", error);
    refuse(reply, 403, error);
    return;
  }
  const Node* node = nullptr;
  for (const auto& [id, candidate] : parts_.ledger.view().all<Node>()) {
    if (candidate.spec.bmc_mac == token->node) node = &candidate;
  }
  EnrolReply answer;
  if (!node) {  // not in the inventory yet: the token stays good
    reply.send(200, render_json(answer));
    return;
  }
  answer.admitted = true;
  answer.node = node->id.str();
  answer.secret = parts_.random.hex(32);
  const auto done =
      parts_.ledger.perform(*enrol_agent(token->id, node->id, parts_.hash_token(answer.secret)),
                            "agent:" + node->meta.name, "enrolment");
  if (!done) {
    refuse(reply, http_status(done.error().code), done.error());
    return;
  }
  enrolled_.insert(node->id);
  manager_->heard(NodeId(answer.node), body.boot_id, false);
  parts_.ledger.after_flush([reply, answer](const Result<>& durable) {
    if (durable) {
      reply.send(200, render_json(answer));
    } else {
      refuse(reply, 503, durable.error());
    }
  });
  manager_->pump_soon();
}

void AgentHub::sync(const NodeId& node, const net::ServerRequest& request,
                    const net::Reply& reply) {
  AgentSync body;
  if (const auto parsed = parse_json(request.body, body, Unknown::keep_out); !parsed) {
    ++counts_.refused;
    if (may_log(node)) {
      log(LogLevel::warn, "agent_report_refused",
          {{"node", node.str()}, {"why", parsed.error().message()}});
    }
    refuse(reply, 422, parsed.error());
    return;
  }
  // Told back as they came: the agent knows them by these names.
  std::vector<std::string> told;
  for (const auto& witness : body.witnesses) told.push_back(witness.id);
  std::vector<std::string> keys;
  for (const auto& result : body.results) keys.push_back(result.key);
  clean(node, body);
  for (std::size_t i = 0; i < body.results.size(); ++i) body.results[i].key = keys[i];
  manager_->heard(node, body.boot_id, body.on_hold);
  const std::string actor = "agent:" + node.str();
  if (enrolled_.erase(node) > 0) {
    (void)parts_.ledger.perform(*spend_enrolment(node), actor, "its own identity works");
  }
  AgentSyncReply answer;
  if (body.witnesses.size() > most_witnesses) body.witnesses.resize(most_witnesses);
  if (!body.witnesses.empty()) {
    told.resize(body.witnesses.size());
    answer.stored_witnesses = std::move(told);
    const auto done = parts_.ledger.perform(
        *record_witnesses(node, std::move(body.witnesses), manager_->catalogue()), actor,
        "kernel log");
    if (!done) {
      refuse(reply, http_status(done.error().code), done.error());
      return;
    }
  }
  const Node* known = parts_.ledger.view().find(node);
  if (body.hardware && known && differs(known->status.hardware, *body.hardware)) {
    (void)parts_.ledger.perform(*record_hardware(node, *body.hardware), actor, "hardware seen");
  }
  take_health(node, body, answer);
  take_results(node, std::move(body.results), answer);
  if (!parts_.ledger.has_pending()) {
    reply.send(200, render_json(answer));
    return;
  }
  parts_.ledger.after_flush([reply, answer](const Result<>& durable) {
    if (durable) {
      reply.send(200, render_json(answer));
    } else {
      refuse(reply, 503, durable.error());
    }
  });
  manager_->pump_soon();
}

void AgentHub::take_health(const NodeId& node, const AgentSync& body, AgentSyncReply& answer) {
  const Node* known = parts_.ledger.view().find(node);
  if (!known) return;
  const HealthReport report = health_report_of(body);
  if (is_news(*known, report)) {
    (void)parts_.ledger.perform(*record_verdicts(node, report), "agent:" + node.str(),
                                "passive checks");
  }
  // An agent that judges (it has a mark) and of whose boot nothing is stored tells all.
  known = parts_.ledger.view().find(node);
  answer.want_verdicts = report.seq > 0 && known->status.verdicts_boot != body.boot_id;
  auto& sent = expectations_[node];
  const Instant now = parts_.scheduler.now();
  if (!sent.made_at.is_set() || now - sent.made_at >= expectation_pause ||
      sent.revision != known->meta.revision) {
    sent.expectation = control::expectation_in_service(manager_->view(), *known);
    sent.mark = parts_.hash_token(render_json(sent.expectation)).substr(0, 16);
    sent.made_at = now;
    sent.revision = known->meta.revision;
  }
  if (body.expectation_mark == sent.mark) return;
  answer.expectation = sent.expectation;
  answer.expectation_mark = sent.mark;
}

/// A key that was never asked for, or by an earlier process of ours: nobody waits for the result.
/// The agent need not tell it again, and keeps it for a repeat of the act.
void AgentHub::take_results(const NodeId& node, std::vector<VerbResult> results,
                            AgentSyncReply& answer) {
  for (auto& result : results) {
    auto& mine = pending_[node];
    const auto found = mine.find(result.key);
    if (found != mine.end()) {
      const Done done = std::move(found->second.done);
      mine.erase(found);
      note_ended(node, result.key);
      answer.stored_results.push_back(result.key);
      done(std::move(result));
      continue;
    }
    const auto& ended = ended_[node];
    if (std::find(ended.begin(), ended.end(), result.key) != ended.end()) {
      answer.stored_results.push_back(result.key);  // told twice, or its caller stopped waiting
      continue;
    }
    ++counts_.unasked;
    answer.refused_results.push_back(result.key);
    if (may_log(node)) {
      log(LogLevel::warn, "agent_result_unasked",
          {{"node", node.str()}, {"key", result.key.substr(0, 200)}});
    }
  }
}

void AgentHub::note_ended(const NodeId& node, const std::string& key) {
  auto& ended = ended_[node];
  ended.push_back(key);
  if (ended.size() > most_ended) ended.pop_front();
}

void AgentHub::clean(const NodeId& node, AgentSync& report) {
  const auto corrections = clean_report(report, parts_.scheduler.now());
  if (corrections.empty()) return;
  ++counts_.corrected;
  if (!may_log(node)) return;
  log(LogLevel::warn, "agent_report_corrected",
      {{"node", node.str()}, {"why", corrections.front()}, {"fields", corrections.size()}});
}

bool AgentHub::may_log(const NodeId& node) {
  Instant& last = logged_[node];
  const Instant now = parts_.scheduler.now();
  if (last.is_set() && now - last < log_pause) return false;
  last = now;
  return true;
}

void AgentHub::pull(const NodeId& node, const net::ServerRequest& request,
                    const net::Reply& reply) {
  std::int64_t wait_ms = 20000;
  if (const auto it = request.query.find("wait_ms"); it != request.query.end()) {
    wait_ms = std::clamp<std::int64_t>(parse_integer(it->second).value_or(0), 0, most_wait_ms);
  }
  answer_pull(node, {});  // an older one that still waits
  const std::int64_t ticket = ++tickets_;
  pullers_.insert_or_assign(node, Puller{reply, ticket});
  deliver(node);
  parts_.scheduler.at(parts_.scheduler.now() + milliseconds(wait_ms), [this, node, ticket] {
    const auto it = pullers_.find(node);
    if (it != pullers_.end() && it->second.ticket == ticket) answer_pull(node, {});
  });
}

std::vector<std::string> AgentHub::leases_of(const NodeId& node) const {
  std::vector<std::string> out;
  const auto mine = pending_.find(node);
  if (mine == pending_.end()) return out;
  for (const auto& [key, pending] : mine->second) {
    const auto& checks = pending.call.run_checks;
    if (checks && checks->is_leased()) out.push_back(key);
  }
  return out;
}

void AgentHub::answer_pull(const NodeId& node, std::vector<VerbCall> calls) {
  const auto puller = pullers_.find(node);
  if (puller == pullers_.end()) return;
  AgentVerbs verbs;
  verbs.verbs = std::move(calls);
  verbs.leases = leases_of(node);
  const net::Reply reply = puller->second.reply;
  pullers_.erase(puller);
  if (!reply.closed()) reply.send(200, render_json(verbs));
}

void AgentHub::deliver(const NodeId& node) {
  const auto puller = pullers_.find(node);
  if (puller == pullers_.end()) return;
  if (puller->second.reply.closed()) {
    pullers_.erase(puller);
    return;
  }
  const Instant now = parts_.scheduler.now();
  std::vector<VerbCall> calls;
  for (auto& [key, pending] : pending_[node]) {
    if (pending.delivered_at.is_set() && now - pending.delivered_at < redeliver_after) continue;
    pending.delivered_at = now;
    calls.push_back(pending.call);
  }
  if (!calls.empty()) answer_pull(node, std::move(calls));
}

}  // namespace tundish::edge
