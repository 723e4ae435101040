#include "families/engines/driver.hpp"

#include <optional>
#include <utility>

namespace tundish::engines {

#include "families/engines/table.inc"

namespace {

/// Error codes cross the wire by name; one that we do not know is a fault of the agent's side.
Code code_of(const std::string& name) {
  for (const Code code : {Code::invalid, Code::not_found, Code::conflict, Code::denied,
                          Code::exhausted, Code::unavailable, Code::timeout, Code::unsupported,
                          Code::corrupt, Code::internal}) {
    if (code_name(code) == name) return code;
  }
  return Code::internal;
}

EngineObserved silent(std::string fault) {
  EngineObserved observed;
  observed.fault = std::move(fault);
  return observed;
}

EngineObserved judge(const EngineDriver& item, const Result<VerbResult>& answer) {
  if (!answer) return silent(answer.error().message());
  if (!answer->ok) return silent(answer->what.empty() ? answer->code : answer->what);
  auto parsed = item.parse_status(answer->text);
  if (!parsed) return silent(parsed.error().message());
  return std::move(*parsed);
}

}  // namespace

const EngineDriver* find_engine(std::string_view name) {
  for (const EngineDriver* const item : all_engines) {
    if (item != nullptr && item->name == name) return item;
  }
  return nullptr;
}

std::vector<EngineCommand> AgentEngine::plan(const DesiredEngine& desired,
                                             const EngineObserved& observed) const {
  return item_.plan(desired, observed);
}

std::vector<EngineFile> AgentEngine::render(const DesiredEngine& desired) const {
  return item_.render(desired);
}

void AgentEngine::apply(const std::string& key, const NodeId& controller,
                        const std::string& cluster, std::vector<EngineCommand> commands,
                        Duration limit, Done done) {
  VerbCall call;
  call.key = key;
  call.verb = Verb::engine_commands;
  call.cluster = cluster;
  call.limit_ms = limit.ms();
  call.commands = std::move(commands);
  agents_.start(controller, std::move(call), limit,
                [done = std::move(done)](const Result<VerbResult>& answer) {
                  if (!answer) return done(answer.error());
                  if (answer->ok) return done({});
                  return done(make_error(code_of(answer->code), answer->what));
                });
}

void AgentEngine::observe(const NodeId& controller, const std::string& cluster, Duration limit,
                          ObserveDone done) {
  VerbCall call;
  // Every look is a new one: a repeated key would return an old journalled result.
  call.key = "observe/" + cluster + "/" + std::to_string(++observations_);
  call.verb = Verb::engine_observe;
  call.cluster = cluster;
  call.limit_ms = limit.ms();
  agents_.start(controller, std::move(call), limit,
                [&item = item_, done = std::move(done)](const Result<VerbResult>& answer) {
                  done(judge(item, answer));
                });
}

}  // namespace tundish::engines
