#include "runtime/agent/uplink.hpp"

#include <chrono>

namespace tundish::agent {

void Bell::ring() {
  {
    const std::lock_guard lock(mutex_);
    rung_ = true;
  }
  changed_.notify_all();
}

void Bell::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
}

bool Bell::is_stopped() const {
  const std::lock_guard lock(mutex_);
  return stopped_;
}

void Bell::wait(Duration limit) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, std::chrono::microseconds(limit.us),
                    [this] { return rung_ || stopped_; });
  rung_ = false;
}

bool Bell::sleep(Duration limit) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, std::chrono::microseconds(limit.us), [this] { return stopped_; });
  return !stopped_;
}

Result<std::string> call_api(net::HttpSession& session, const AgentConfig& config,
                             const ApiCall& call, Duration limit) {
  HttpRequest request;
  request.method = call.method;
  request.url = config.api + call.path;
  request.body = call.body;
  if (!call.body.empty()) request.headers["content-type"] = "application/json";
  if (!call.secret.empty()) request.headers["authorization"] = "Bearer " + call.secret;
  auto response = TRY(session.call(request, limit));
  if (response.status == 200) return std::move(response.body);
  const Code code = response.status == 401 || response.status == 403 ? Code::denied
                                                                     : Code::unavailable;
  return make_error(code, call.path + ": status " + std::to_string(response.status) + " " +
                              response.body.substr(0, 200));
}

}  // namespace tundish::agent
