#pragma once
// What every handler gets: the call, the parts, and the few things that all of them do.
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "codec/json.hpp"
#include "edge/api/api.hpp"
#include "edge/api/auth.hpp"
#include "edge/api/contract_health.hpp"
#include "edge/api/visible.hpp"

namespace tundish::edge::api {

struct Call {
  net::ServerRequest request;
  Identity who;
  std::vector<std::string> parts;  ///< what the wildcards of the pattern matched

  std::string header(const std::string& name) const;
  std::string query(const std::string& name) const;
  /// ?dry_run=true: every check is made, nothing is changed.
  bool is_dry_run() const { return query("dry_run") == "true"; }
};

/// Composed answer of a call that went well.
struct Answer {
  int status = 200;
  std::string body;
  std::map<std::string, std::string> headers = {};
};
/// Renders the answer of a write; runs when the write is durable.
using Later = std::function<Answer()>;
using Respond = std::function<void(Result<Answer>)>;

class Watch;

class Backend {
 public:
  explicit Backend(ApiParts given) : parts(std::move(given)) {}

  const Registry& reg() const { return parts.ledger.view(); }
  Instant now() const { return parts.scheduler.now(); }

  /// Performs for the caller: actor user:NAME; reason of the header, else `reason`.
  Result<> perform(const Call& call, const Operation& operation, const std::string& reason = "");
  /// Answers once everything performed so far is durable; calls of one loop turn share a commit.
  void after_commit(std::function<void(const Result<>&)> then);
  void refuse(const Call& call, const std::string& object, const Error& error);

  ApiParts parts;
  Watch* watch = nullptr;
  int long_jobs = 0;  ///< that run now, see run_long
  std::map<std::string, std::shared_ptr<ActiveRunInfo>> active_runs;  ///< that people asked for

 private:
  bool pump_due_ = false;
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

/// Several operations as one: all or nothing, one line of history.
OperationPtr compose(std::string_view name, std::string object, std::vector<OperationPtr> parts);

/// An empty body is an empty object; a field that is not given keeps what `start` has.
template <Described T>
Result<T> parse_body(const Call& call, T start = {}) {
  const std::string& body = call.request.body;
  TRY_VOID(parse_json(body.empty() ? std::string_view("{}") : std::string_view(body), start));
  return start;
}

/// conflict when If-Match is given and is not the object's revision.
Result<> check_match(const Call& call, const Meta& meta);

/// The object, or the same not_found for a missing one and one that the caller may not see.
template <class T>
Result<T> get_visible(const Backend& b, const Call& call, const std::string& name) {
  if (const T* found = find_visible<T>(b.reg(), call.who, name)) return *found;
  return missing_error<T>(b.reg(), call.who, name);
}
/// As get_visible for a write: also compares If-Match.
template <class T>
Result<T> get_matching(const Backend& b, const Call& call, const std::string& name) {
  T object = TRY((get_visible<T>(b, call, name)));
  TRY_VOID(check_match(call, object.meta));
  return object;
}

/// What is seen now and never stored: for a node, when its agent was heard; for a cluster, that its
/// engine does not answer.
template <class T>
void add_observed(const Backend&, T&) {}
void add_observed(const Backend& b, Node& node);
void add_observed(const Backend& b, Cluster& cluster);
/// What is stored of a network or a switch, and was not seen lately, is unknown.
void add_observed(const Backend& b, Network& network);
void add_observed(const Backend& b, Switch& device);

/// The object as the caller may see it; nullopt: not at all.
template <class T>
std::optional<T> shape_now(const Backend& b, const Identity& who, const T& object) {
  std::optional<T> shown = shape(b.reg(), who, object);
  if (shown) add_observed(b, *shown);
  return shown;
}
template <class T>
Answer show(const Backend& b, const Identity& who, const T& object) {
  const std::optional<T> shown = shape_now(b, who, object);
  return {200, render_json(shown.value_or(T{}))};
}
/// As it is when the write is durable; `last` when it is gone by then.
template <class T>
Later show_later(Backend& b, const Call& call, T last, int status = 200) {
  return [&b, who = call.who, last = std::move(last), status] {
    const T* found = b.reg().find(last.id);
    Answer answer = show(b, who, found ? *found : last);
    answer.status = status;
    return answer;
  };
}

/// The tenant that a request means: its own for a tenant's token.
Result<Tenant> resolve_tenant(const Backend& b, const Call& call, const std::string& name);

HttpResponse error_response(const Error& error);
/// "Sun, 06 Nov 1994 08:49:37 GMT"
std::string render_http_date(Instant at);

/// Work that takes long and touches nothing of the loop's: `work` beside it, then `done` on it.
/// unavailable when enough of it runs already.
Result<> run_long(Backend& b, std::function<void()> work, std::function<void()> done);

}  // namespace tundish::edge::api
