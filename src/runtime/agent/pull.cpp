#include "runtime/agent/pull.hpp"

#include <chrono>

#include "base/log.hpp"
#include "codec/json.hpp"

namespace tundish::agent {
namespace {

/// tundishd repeats calls until their results are stored; asking again at once would be a race.
constexpr Duration repeat_pause = milliseconds(100);

class Pull {
 public:
  explicit Pull(PullParts parts) : parts_(parts), session_({parts.config.ca_file}) {}

  void run() {
    while (!parts_.bell.is_stopped()) {
      const auto identity = parts_.enrolment.identity();
      if (!identity) {
        parts_.bell.sleep(milliseconds(100));
        continue;
      }
      const auto fresh = pull_once(*identity);
      if (!fresh) {
        if (!away_) log(LogLevel::warn, "pull_failed", {{"why", fresh.error().message()}});
        away_ = true;
        const bool denied = fresh.error().code == Code::denied;
        parts_.bell.sleep(denied ? slow_pause(parts_.config) : backoff_.next());
        continue;
      }
      away_ = false;
      backoff_.reset();
      if (*fresh == Found::old_only) parts_.bell.sleep(repeat_pause);
    }
  }

 private:
  enum class Found { nothing, fresh, old_only };

  Result<Found> pull_once(const AgentIdentity& identity) {
    const auto start = std::chrono::steady_clock::now();
    const std::int64_t wait_ms = parts_.leases.pull_wait_ms(parts_.config.pull_wait_ms);
    const std::string path = "/v1/agent/verbs?wait_ms=" + std::to_string(wait_ms);
    const std::string body =
        TRY(call_api(session_, parts_.config, {"GET", path, "", identity.secret},
                     milliseconds(wait_ms) + seconds(10)));
    const JsonValue answer = TRY(JsonValue::parse(body));
    std::vector<std::string> leases;
    for (const auto& key : answer.at("leases").items()) {
      leases.push_back(key.as_text().value_or(""));
    }
    parts_.leases.heard(leases);
    const auto calls = answer.at("verbs").items();
    bool fresh = false;
    for (const auto& call : calls) fresh = take(call) || fresh;
    if (fresh) return Found::fresh;
    if (!calls.empty()) return Found::old_only;
    // An answer without calls that came at once did not wait for one.
    const bool waited = std::chrono::steady_clock::now() - start >= std::chrono::milliseconds(5);
    return waited ? Found::nothing : Found::old_only;
  }

  /// One by one: a verb of a newer tundishd must not keep the others from being done.
  bool take(const JsonValue& json) {
    VerbCall call;
    const auto parsed = parse_json(json.render(), call, Unknown::keep_out);
    const std::string key = json.at("key").as_text().value_or("");
    if (key.empty() || key.size() > 512) return false;
    if (parsed) return parts_.executor.submit(std::move(call)) == Executor::Taken::started;
    parts_.executor.refuse(key, parsed.error());
    return false;
  }

  PullParts parts_;
  net::HttpSession session_;
  Backoff backoff_;
  bool away_ = false;
};

}  // namespace

void run_pull(PullParts parts) { Pull(parts).run(); }

}  // namespace tundish::agent
