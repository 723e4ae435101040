#include "runtime/agent/agent_config.hpp"

#include "codec/yaml.hpp"
#include "runtime/process/process.hpp"

namespace tundish::agent {
namespace {

Result<> validate_config(const AgentConfig& config) {
  const bool http = config.api.rfind("http://", 0) == 0 || config.api.rfind("https://", 0) == 0;
  if (!http || config.api.back() == '/') {
    return make_error(Code::invalid, "api is no URL like https://10.88.0.1:7443");
  }
  for (const std::int64_t ms : {config.snapshot_interval_ms, config.heartbeat_ms,
                                config.pull_wait_ms, config.probe_limit_ms}) {
    if (ms < 10 || ms > 3600000) {
      return make_error(Code::invalid, "an interval is not within 10 ms and an hour");
    }
  }
  if (config.spool_bytes < (1 << 16)) {
    return make_error(Code::invalid, "spool_bytes is below 65536");
  }
  if (config.check_pace_percent < 0 || config.check_pace_percent > 10000) {
    return make_error(Code::invalid, "check_pace_percent is not within 0 and 10000");
  }
  if (config.workers < 2 || config.workers > 64) {
    return make_error(Code::invalid, "workers is not within 2 and 64");
  }
  return {};
}

}  // namespace

AgentPaths paths_of(const AgentConfig& config) {
  AgentPaths paths;
  paths.etc = config.etc_dir;
  paths.state = config.state_dir;
  paths.run = config.run_dir;
  paths.log = config.log_dir;
  return paths;
}

Result<AgentConfig> load_agent_config(const std::string& path) {
  AgentConfig config;
  const std::string text = TRY(process::read_file(path));
  TRY_VOID(parse_yaml(text, config, path));
  TRY_VOID(validate_config(config));
  return config;
}

}  // namespace tundish::agent
