#include "codec/yaml.hpp"
#include "codec/yaml_place.hpp"
#include "control/fault/policy.hpp"
#include "control/fault/policy_problem.hpp"
#include "edge/api/contract_policy.hpp"
#include "edge/api/handlers.hpp"
#include "model/operation.hpp"

namespace tundish::edge::api {
namespace {

using control::verify::Verification;

constexpr std::size_t digest_size = 12;

PolicyRow row_of(const Backend& b, const RemediationPolicy& policy, const std::string& why) {
  PolicyRow row;
  if (!policy.states.empty()) {
    row.content = b.parts.hash_token(render_json(policy)).substr(0, digest_size);
  }
  row.name = policy.name;
  row.version = policy.version;
  row.doc = policy.doc;
  row.states = static_cast<int>(policy.states.size());
  row.state = policy.states.empty() ? "none" : "loaded";
  row.why = why;
  return row;
}

std::vector<control::KnownCheck> known_checks(const Backend& b) {
  std::vector<control::KnownCheck> out;
  for (const auto& check : b.parts.checks) out.push_back({check.name, check.kind});
  return out;
}

/// Read, and every state, fact, action and check that it names is there; refused by file and line.
Result<RemediationPolicy> read_policy(const Backend& b, const PolicyRequest& asked) {
  RemediationPolicy policy;
  const std::string file = asked.name.empty() ? "policy" : asked.name;
  TRY_VOID(parse_yaml(asked.text, policy, file));
  auto problem = control::find_problem(policy);
  if (!problem) problem = control::find_unknown_check(policy, known_checks(b));
  if (!problem) return policy;
  problem->error.what = yaml_place(asked.text, file, problem->path) + problem->error.what;
  return problem->error;
}

struct Loading {
  PolicyRequest asked;
  RemediationPolicy policy;
  Result<Verification> found = make_error(Code::internal, "not verified yet");
};

Error not_proved(const Loading& job) {
  return make_error(Code::invalid, "policy " + job.policy.name + " is not proved:\n" +
                                       control::verify::render(*job.found))
      .about("policy/" + job.policy.name)
      .with_remedy("the loaded policy stays; try yours with: tundish policy verify " +
                   (job.asked.name.empty() ? std::string("FILE") : job.asked.name));
}

/// Whether what it spent still counts.
bool counts_still(const Backend& b, const RemediationPolicy& running, const Incident& incident) {
  if (incident.state == IncidentState::open) return true;
  const int window_h = running.budgets.window_h;
  return window_h > 0 && incident.opened_at + hours(window_h) > b.now();
}

/// Repairs are counted by the state that made them: under another name they would be free again.
Result<> keeps_the_count(const Backend& b, const RemediationPolicy& next) {
  const RemediationPolicy& running = b.parts.manager.view().policy;
  for (const auto& [id, incident] : b.reg().all<Incident>()) {
    if (!counts_still(b, running, incident)) continue;
    for (const auto& [name, count] : incident.entries) {
      const auto state = running.states.find(name);
      if (count == 0 || state == running.states.end() || state->second.budget == 0) continue;
      const auto same = next.states.find(name);
      const bool kept =
          same != next.states.end() && same->second.action == state->second.action;
      if (kept) continue;
      return make_error(Code::conflict, "policy " + next.name + " has no state " + name +
                                            " that does " + state->second.action + ": what " +
                                            id.str() + " spent of it would be free again")
          .about("policy/" + next.name)
          .with_remedy("keep the names of states that repair; budgets are counted by them for " +
                       std::to_string(running.budgets.window_h) + " h");
    }
  }
  return {};
}

void finish_load(Backend& b, const Call& call, const std::shared_ptr<Loading>& job,
                 Respond respond) {
  if (!job->found) return respond(job->found.error());
  if (!job->found->is_proved()) {
    const Error refused = not_proved(*job);
    if (!call.is_dry_run()) b.refuse(call, refused.object, refused);
    return respond(refused);
  }
  if (const auto kept = keeps_the_count(b, job->policy); !kept) {
    if (!call.is_dry_run()) b.refuse(call, kept.error().object, kept.error());
    return respond(kept.error());
  }
  PolicyAnswer answer{row_of(b, job->policy, ""), *job->found};
  if (call.is_dry_run()) return respond(Answer{200, render_json(answer)});
  if (b.parts.keep_policy) {
    if (const auto kept = b.parts.keep_policy(job->asked.text); !kept) {
      return respond(kept.error());
    }
  }
  HistoryEntry loaded;
  loaded.actor = "user:" + call.who.name;
  loaded.operation = "load_policy";
  loaded.object = "policy/" + job->policy.name;
  loaded.reason = "version " + std::to_string(job->policy.version) + ", content " +
                  answer.policy.content;
  b.parts.ledger.record_deed(std::move(loaded));
  b.parts.manager.set_policy(job->policy);
  b.parts.policy_note = "loaded by " + call.who.name;
  b.after_commit([respond, answer](const Result<>& durable) {
    if (!durable) return respond(durable.error());
    respond(Answer{200, render_json(answer)});
  });
}

}  // namespace

Result<Answer> list_policies(Backend& b, const Call&) {
  const PolicyRow row = row_of(b, b.parts.manager.view().policy, b.parts.policy_note);
  return Answer{200, render_json_list({describe_const(row)})};
}

Result<Answer> get_policy(Backend& b, const Call&) {
  const RemediationPolicy& policy = b.parts.manager.view().policy;
  if (policy.states.empty()) {
    return make_error(Code::not_found, "no policy is loaded: " + b.parts.policy_note)
        .with_remedy("load a proved one: tundish policy load FILE");
  }
  return Answer{200, render_json(policy)};
}

void load_policy(Backend& b, const Call& call, Respond respond) {
  const auto asked = parse_body<PolicyRequest>(call);
  if (!asked) return respond(asked.error());
  auto policy = read_policy(b, *asked);
  if (!policy) return respond(policy.error());
  const auto job = std::make_shared<Loading>(Loading{*asked, std::move(*policy)});
  const auto faults = std::make_shared<std::vector<control::verify::KnownFault>>(
      control::verify::faults_of(b.parts.manager.catalogue()));
  const auto limits =
      std::make_shared<std::vector<control::verify::ThresholdRow>>(b.parts.limits);
  const auto work = [job, faults, limits] {
    job->found = control::verify::verify({job->policy, *faults, *limits});
  };
  const auto started =
      run_long(b, work, [&b, call, job, respond] { finish_load(b, call, job, respond); });
  if (!started) respond(started.error());
}

Result<Answer> try_policy(Backend& b, const Call& call) {
  const auto asked = TRY(parse_body<PolicyRequest>(call));
  const RemediationPolicy policy = TRY(read_policy(b, asked));
  const auto view = b.parts.manager.view();
  const Instant since = asked.since_s > 0 ? b.now() - seconds(asked.since_s) : Instant{};
  const auto rows = control::verify::rehearse({policy, view.policy, b.reg(), since});
  std::vector<AnyDescribed> out;
  for (const auto& row : rows) out.push_back(describe_const(row));
  return Answer{200, render_json_list(out)};
}

}  // namespace tundish::edge::api
