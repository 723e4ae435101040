// Becoming known to tundishd: a one-time token is exchanged for the agent's own identity.
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/log.hpp"
#include "base/text.hpp"
#include "codec/json.hpp"
#include "runtime/agent/uplink.hpp"
#include "runtime/process/process.hpp"

namespace tundish::agent {
namespace {

std::optional<timespec> changed_at(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return std::nullopt;
  return info.st_mtim;
}

bool is_later(const timespec& a, const timespec& b) {
  return a.tv_sec != b.tv_sec ? a.tv_sec > b.tv_sec : a.tv_nsec > b.tv_nsec;
}

std::string read_serial(const std::string& sys_dir) {
  std::ifstream file(sys_dir + "/class/dmi/id/product_serial");
  std::string line;
  std::getline(file, line);
  return std::string(trim(line));
}

}  // namespace

Enrolment::Enrolment(const AgentConfig& config)
    : config_(config), path_(config.state_dir + "/identity.json") {
  const auto text = process::read_file(path_);
  if (!text) return;
  AgentIdentity identity;
  if (const auto parsed = parse_json(*text, identity, Unknown::keep_out); !parsed) {
    log(LogLevel::error, "identity_unreadable", {{"why", parsed.error().message()}});
    return;
  }
  if (!identity.secret.empty()) identity_ = identity;
}

std::optional<AgentIdentity> Enrolment::identity() const {
  const std::lock_guard lock(mutex_);
  return identity_;
}

void Enrolment::note_rejected() {
  const std::lock_guard lock(mutex_);
  if (!rejected_) {
    log(LogLevel::error, "identity_rejected",
        {{"remedy", "put a new token into " + config_.enrol_token_file}});
  }
  rejected_ = true;
}

void Enrolment::note_accepted() {
  const std::lock_guard lock(mutex_);
  rejected_ = false;
}

bool Enrolment::is_due() const {
  if (!identity_) return true;
  if (!rejected_) return false;
  const auto token = changed_at(config_.enrol_token_file);
  const auto identity = changed_at(path_);
  return token && identity && is_later(*token, *identity);
}

Result<EnrolReply> Enrolment::ask(net::HttpSession& session, const std::string& boot_id) {
  EnrolRequest request;
  request.token = trim(TRY(process::read_file(config_.enrol_token_file)));
  if (request.token.empty()) return make_error(Code::not_found, "the enrolment token is empty");
  request.boot_id = boot_id;
  request.serial = read_serial(config_.sys_dir);
  const std::string body =
      TRY(call_api(session, config_, {"POST", "/v1/agent/enrol", render_json(request), ""},
                   seconds(3)));
  EnrolReply reply;
  TRY_VOID(parse_json(body, reply, Unknown::keep_out));
  return reply;
}

Result<> Enrolment::keep(const AgentIdentity& identity) {
  TRY_VOID(process::write_file_atomic(path_, render_json(identity), 0600));
  const std::lock_guard lock(mutex_);
  identity_ = identity;
  rejected_ = false;
  return {};
}

Duration Enrolment::step(net::HttpSession& session, const std::string& boot_id) {
  {
    const std::lock_guard lock(mutex_);
    if (!is_due()) return rejected_ ? slow_pause(config_) : Duration{};
  }
  const auto reply = ask(session, boot_id);
  if (!reply) {
    const Code code = reply.error().code;
    log(LogLevel::warn, "enrol_failed", {{"why", reply.error().message()}});
    // A token that is not there yet or not accepted yet comes from a person; tundishd itself may
    // be back at any moment.
    return code == Code::denied ? seconds(5) : seconds(1);
  }
  if (!reply->admitted) {
    return std::clamp(milliseconds(reply->retry_after_ms), milliseconds(100), minutes(1));
  }
  if (reply->secret.empty()) {
    log(LogLevel::error, "enrol_without_secret", {{"node", reply->node}});
    return slow_pause(config_);
  }
  if (const auto kept = keep({reply->node, reply->secret}); !kept) {
    log(LogLevel::error, "identity_not_kept", {{"why", kept.error().message()}});
    return slow_pause(config_);
  }
  log(LogLevel::info, "enrolled", {{"node", reply->node}});
  return {};
}

}  // namespace tundish::agent
