#include "edge/api/backend.hpp"

#include <algorithm>
#include <ctime>

#include "base/text.hpp"
#include "control/network/freshness.hpp"

namespace tundish::edge::api {

std::string Call::header(const std::string& name) const {
  const auto it = request.headers.find(name);
  return it == request.headers.end() ? "" : it->second;
}

std::string Call::query(const std::string& name) const {
  const auto it = request.query.find(name);
  return it == request.query.end() ? "" : it->second;
}

Result<> Backend::perform(const Call& call, const Operation& operation, const std::string& reason) {
  const std::string given = call.header("x-reason");
  return parts.ledger.perform(operation, "user:" + call.who.name, given.empty() ? reason : given);
}

void Backend::after_commit(std::function<void(const Result<>&)> then) {
  parts.ledger.after_flush(std::move(then));
  if (pump_due_) return;
  pump_due_ = true;
  parts.scheduler.at(now(), [this, alive = std::weak_ptr<int>(alive_)] {
    if (alive.expired()) return;
    pump_due_ = false;
    parts.manager.pump();
  });
}

void Backend::refuse(const Call& call, const std::string& object, const Error& error) {
  const std::string what = call.request.method + " " + call.request.path;
  parts.ledger.record_refusal("user:" + call.who.name, what, object, error);
}

/// A tenant's copy does not say where: the stored one does.
void add_observed(const Backend& b, Network& network) {
  const Network* stored = b.reg().find(network.id);
  if (!stored || stored->status.sync.size() != network.status.sync.size()) return;
  const auto view = b.parts.manager.view();
  for (std::size_t i = 0; i < network.status.sync.size(); ++i) {
    const auto& known = stored->status.sync[i];
    const std::string why = control::network::unseen_reason(view, *stored, known);
    if (why.empty()) continue;
    NetworkSync& shown = network.status.sync[i];
    // The same word keeps what was stored with it.
    if (shown.state == SyncState::unknown && !shown.reason.empty()) continue;
    shown.state = SyncState::unknown;
    if (!shown.object.empty()) shown.reason = why;
  }
}

void add_observed(const Backend& b, Switch& device) {
  const auto view = b.parts.manager.view();
  const std::string why = control::network::unseen_reason(view, device);
  auto& list = device.status.conditions;
  const bool is_told = std::ranges::any_of(list, [](const Condition& one) {
    return one.type == "unreachable" && one.state == Truth::yes;
  });
  if (why.empty() || is_told) return;
  list.push_back({"unknown", Truth::yes, why, view.seen.started_at});
}

OperationPtr compose(std::string_view name, std::string object, std::vector<OperationPtr> parts) {
  // A std::function is copied, so the list is shared.
  auto shared = std::make_shared<const std::vector<OperationPtr>>(std::move(parts));
  return make_operation(name, std::move(object), [shared](Txn& txn) -> Result<> {
    for (const auto& part : *shared) TRY_VOID(part->perform(txn));
    return {};
  });
}

Result<> check_match(const Call& call, const Meta& meta) {
  std::string wanted(trim(call.header("if-match")));
  if (wanted.empty() || wanted == "*") return {};
  std::erase(wanted, '"');
  const auto revision = parse_integer(wanted);
  if (!revision) {
    return make_error(Code::invalid, "If-Match is no revision: " + wanted)
        .with_remedy("send meta.revision of the object as it was read");
  }
  if (*revision == meta.revision) return {};
  return make_error(Code::conflict, meta.name + " changed: it is at revision " +
                                        std::to_string(meta.revision) + ", not " + wanted)
      .with_remedy("read it again and decide anew");
}

void add_observed(const Backend& b, Node& node) {
  if (!node.status.enrolled || node.status.phase == NodePhase::retired) return;
  const control::View view = b.parts.manager.view();
  const auto heard = view.seen.presence.find(node.id);
  const bool never = heard == view.seen.presence.end();
  const Instant since = never ? view.seen.started_at : heard->second.last_heard;
  const Duration age = view.now - since;
  Condition silent{"agent_silent", Truth::no, "", since};
  const std::string seconds_ago = std::to_string(age.us / 1000000) + " s";
  if (control::is_present(view, node.id)) {
    silent.reason = "heard " + seconds_ago + " ago";
  } else if (never && age < view.limits.silent_after) {
    silent.state = Truth::unknown;
    silent.reason = "not heard in the " + seconds_ago + " since tundishd started";
  } else {
    silent.state = Truth::yes;
    silent.reason =
        never ? "silent since tundishd started, " + seconds_ago + " ago" : "silent " + seconds_ago;
  }
  node.status.conditions.push_back(std::move(silent));
}

/// The engine's own words stay with the operator: tundish status.
void add_observed(const Backend& b, Cluster& cluster) {
  const control::View view = b.parts.manager.view();
  const auto silence = control::engine_silence(view, cluster);
  if (!silence) return;
  const std::string age = std::to_string((view.now - silence->since).us / 1000000);
  std::string& reason = cluster.status.reason;
  reason += (reason.empty() ? "" : "; ") + std::string("the engine has not answered for ") + age +
            " s: unknown, no fault";
}

Result<> run_long(Backend& b, std::function<void()> work, std::function<void()> done) {
  constexpr int most_jobs = 2;  // the pool serves name lookups and the like too
  if (!b.parts.offload) {
    work();
    done();
    return {};
  }
  if (b.long_jobs >= most_jobs) {
    Error busy = make_error(Code::unavailable, "other long work runs: import, verify or backup")
                     .with_remedy("try again in a moment");
    busy.retry_after = seconds(5);
    return busy;
  }
  ++b.long_jobs;
  b.parts.offload(std::move(work), [&b, done = std::move(done)] {
    --b.long_jobs;
    done();
  });
  return {};
}

Result<Tenant> resolve_tenant(const Backend& b, const Call& call, const std::string& name) {
  if (!name.empty()) return get_visible<Tenant>(b, call, name);
  if (!call.who.tenant.empty()) return get_visible<Tenant>(b, call, call.who.tenant.str());
  return make_error(Code::invalid, "the request names no tenant").with_remedy("add --tenant NAME");
}

// Source: RFC 9110, section 5.6.7; checked 2026-11
std::string render_http_date(Instant at) {
  static constexpr const char* days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr const char* months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                           "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::time_t seconds = static_cast<std::time_t>(at.us / 1000000);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char clock[32];
  std::strftime(clock, sizeof clock, " %Y %H:%M:%S GMT", &parts);
  char day[4];
  std::strftime(day, sizeof day, "%d", &parts);
  return std::string(days[parts.tm_wday]) + ", " + day + " " + months[parts.tm_mon] + clock;
}

HttpResponse error_response(const Error& error) {
  Error words = error;
  words.remedy.clear();
  ErrorBody body;
  body.code = std::string(code_name(error.code));
  body.message = words.message();
  body.object = error.object;
  body.remedy = error.remedy;
  body.retry_after_ms = error.retry_after ? error.retry_after->ms() : 0;
  HttpResponse response;
  response.status = http_status(error.code);
  response.headers["content-type"] = "application/json";
  if (error.retry_after) {
    response.headers["retry-after"] = std::to_string((error.retry_after->ms() + 999) / 1000);
  }
  response.body = render_json(body);
  return response;
}

}  // namespace tundish::edge::api
