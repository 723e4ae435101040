#include "edge/api/idempotency.hpp"

#include <utility>

namespace tundish::edge::api {

Idempotency::Begin Idempotency::begin(const std::string& key, const std::string& fingerprint,
                                      Instant now, Send send) {
  now_ = now;
  drop_old(now);
  const auto it = entries_.find(key);
  if (it == entries_.end()) {
    entries_[key].fingerprint = fingerprint;
    return Begin::run;
  }
  if (it->second.fingerprint != fingerprint) return Begin::other;
  if (it->second.finished) {
    send(it->second.response);
  } else {
    it->second.waiting.push_back(std::move(send));
  }
  return Begin::repeated;
}

void Idempotency::finish(const std::string& key, const HttpResponse& response) {
  const auto it = entries_.find(key);
  if (it == entries_.end() || it->second.finished) return;
  const std::vector<Send> waiting = std::exchange(it->second.waiting, {});
  if (response.status < 200 || response.status >= 300) {
    entries_.erase(it);
  } else {
    it->second.finished = true;
    it->second.response = response;
    bytes_ += response.body.size();
    finished_.emplace_back(now_, key);
    drop_old(now_);
  }
  for (const auto& send : waiting) send(response);
}

void Idempotency::drop_old(Instant now) {
  while (!finished_.empty()) {
    const bool too_many = finished_.size() > most_answers || bytes_ > most_bytes;
    if (!too_many && now - finished_.front().first < kept_for) return;
    const auto it = entries_.find(finished_.front().second);
    if (it != entries_.end()) {
      bytes_ -= it->second.response.body.size();
      entries_.erase(it);
    }
    finished_.pop_front();
  }
}

}  // namespace tundish::edge::api
