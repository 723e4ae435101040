#include "apps/tundishd/policy_choice.hpp"

#include <filesystem>

#include "apps/tundishd/check_infos.hpp"
#include "base/log.hpp"
#include "codec/yaml.hpp"
#include "codec/yaml_place.hpp"
#include "control/fault/policy_problem.hpp"
#include "control/verify/verify.hpp"
#include "runtime/process/process.hpp"

namespace tundish::tundishd {
namespace {

std::string kept_file(const DaemonConfig& config) { return config.state_dir + "/policy.yaml"; }

/// "" when it is proved, else the whole counterexample.
Result<std::string> doubt_about(const RemediationPolicy& policy, const ProofGround& ground) {
  const auto faults = control::verify::faults_of(ground.codes);
  const auto found = TRY(control::verify::verify({policy, faults, ground.limits}));
  return found.is_proved() ? std::string() : control::verify::render(found);
}

/// Every state, fact, action and check that it names is there; refused by file and line.
Result<RemediationPolicy> read_policy(const std::string& file) {
  RemediationPolicy policy;
  const std::string text = TRY(process::read_file(file));
  TRY_VOID(parse_yaml(text, policy, file));
  auto problem = control::find_problem(policy);
  if (!problem) problem = control::find_unknown_check(policy, known_checks());
  if (!problem) return policy;
  problem->error.what = yaml_place(text, file, problem->path) + problem->error.what;
  return problem->error;
}

/// Nullopt when nobody loaded one, or when what was loaded is proved no more by this program.
std::optional<RemediationPolicy> find_kept(const DaemonConfig& config,
                                           const ProofGround& ground) {
  std::error_code ignored;
  const std::string file = kept_file(config);
  if (!std::filesystem::exists(file, ignored)) return std::nullopt;
  const auto policy = read_policy(file);
  const auto doubt = policy ? doubt_about(*policy, ground) : Result<std::string>(policy.error());
  if (doubt && doubt->empty()) return *policy;
  log(LogLevel::error, "kept_policy_not_proved",
      {{"file", file}, {"why", doubt ? *doubt : doubt.error().message()}});
  return std::nullopt;
}

}  // namespace

Result<PolicyChoice> choose_policy(const DaemonConfig& config, const ProofGround& ground) {
  PolicyChoice out;
  if (auto kept = find_kept(config, ground)) {
    out.policy = std::move(*kept);
    out.note = "loaded by a person, kept in " + kept_file(config);
    return out;
  }
  const std::string file = config.catalog_dir + "/" + config.policy;
  RemediationPolicy policy = TRY(read_policy(file));
  const std::string doubt = TRY(doubt_about(policy, ground));
  if (doubt.empty()) {
    out.policy = std::move(policy);
    return out;
  }
  out.note =
      file + " is not proved, so faults are recorded and claimed and nothing is done:\n" + doubt;
  log(LogLevel::error, "policy_not_proved", {{"file", file}, {"why", doubt}});
  return out;
}

Result<> keep_policy(const DaemonConfig& config, const std::string& text) {
  return process::write_file_atomic(kept_file(config), text, 0600);
}

}  // namespace tundish::tundishd
