#include <algorithm>

#include "base/text.hpp"
#include "codec/json.hpp"
#include "families/engines/slurm_parts/names.hpp"
#include "families/engines/slurm_parts/parts.hpp"

namespace tundish::slurm_parts {
namespace {

constexpr std::int64_t integer_limit = 1000000000;

/// A number, or from 23.02 on an object {"set": true, "infinite": false, "number": 5}.
std::int64_t number_of(const JsonValue& value) {
  if (const auto plain = value.as_integer()) return *plain;
  if (!value.at("set").as_flag().value_or(true)) return 0;
  return value.at("number").as_integer().value_or(0);
}

int small_number(const JsonValue& value) {
  return static_cast<int>(std::clamp<std::int64_t>(number_of(value), 0, integer_limit));
}

/// A word, or from 23.02 on a list of words.
std::string words_of(const JsonValue& value) {
  if (const auto word = value.as_text()) return *word;
  std::vector<std::string> words;
  for (const auto& item : value.items()) {
    if (auto word = item.as_text()) words.push_back(std::move(*word));
  }
  return join(words, "+");
}

std::string text_of(const JsonValue& value) { return value.as_text().value_or(""); }

EngineNode node_of(const JsonValue& value) {
  EngineNode node;
  node.name = text_of(value.at("name"));
  const std::string flags = words_of(value.at("state_flags"));
  node.states = split_states(words_of(value.at("state")) + "+" + flags);
  node.reason = text_of(value.at("reason"));
  if (!node.reason.empty() && text_of(value.at("reason_set_by_user")) == "slurm") {
    node.reason.insert(0, slurm_prefix);
  }
  node.allocated_cpus = small_number(value.at("alloc_cpus"));
  node.registered = number_of(value.at("slurmd_start_time")) > 0 &&
                    !has_state(node, "NOT_RESPONDING");
  return node;
}

EngineJob job_of(const JsonValue& value, std::vector<std::string> nodes) {
  EngineJob job;
  job.id = std::to_string(number_of(value.at("job_id")));
  job.user = text_of(value.at("user_name"));
  job.name = text_of(value.at("name"));
  const auto states = split_states(words_of(value.at("job_state")));
  const bool completing = std::find(states.begin(), states.end(), "COMPLETING") != states.end();
  job.state = completing ? "COMPLETING" : states.empty() ? "" : states.front();
  job.nodes = std::move(nodes);
  job.restarts = small_number(value.at("restart_cnt"));
  job.requeueable = value.at("requeue").as_flag().value_or(false);
  job.begin_time_s = std::max<std::int64_t>(number_of(value.at("eligible_time")), 0);
  job.started_at = start_of(job.state, number_of(value.at("start_time")));
  return job;
}

Result<std::vector<JsonValue>> list_in(std::string_view text, std::string_view key) {
  const auto document = TRY(JsonValue::parse(text));
  const JsonValue list = document.at(key);
  if (list.kind() != JsonValue::Kind::list) {
    return make_error(Code::corrupt, "slurm: no list \"" + std::string(key) + "\" in the JSON");
  }
  return list.items();
}

}  // namespace

Result<std::vector<EngineNode>> parse_sinfo_json(std::string_view text) {
  std::vector<EngineNode> nodes;
  for (const auto& item : TRY(list_in(text, "nodes"))) {
    EngineNode node = node_of(item);
    if (!node.name.empty()) nodes.push_back(std::move(node));
  }
  return nodes;
}

Result<std::vector<EngineJob>> parse_squeue_json(std::string_view text) {
  std::vector<EngineJob> jobs;
  for (const auto& item : TRY(list_in(text, "jobs"))) {
    auto nodes = TRY(expand_hostlist(text_of(item.at("nodes"))));
    jobs.push_back(job_of(item, std::move(nodes)));
  }
  return jobs;
}

}  // namespace tundish::slurm_parts
