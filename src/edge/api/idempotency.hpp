#pragma once
// Idempotency-Key: a repeat gets the first answer. In memory: after a restart a repeat is a new
// call, which names and revisions then refuse.
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "ports/wire.hpp"

namespace tundish::edge::api {

/// Only answers of calls that went through are kept: a refused call changed nothing, so a repeat
/// may try again. Bounded in number, bytes and age.
class Idempotency {
 public:
  using Send = std::function<void(const HttpResponse&)>;
  enum class Begin {
    run,       ///< new: run it, then call finish()
    repeated,  ///< `send` got the first answer, or gets it when that is there
    other      ///< the key was used for another request
  };
  /// `key` holds the caller's identity; `fingerprint` the whole request.
  Begin begin(const std::string& key, const std::string& fingerprint, Instant now, Send send);
  void finish(const std::string& key, const HttpResponse& response);

  static constexpr std::size_t most_answers = 10000;
  static constexpr std::size_t most_bytes = 64 << 20;
  static constexpr Duration kept_for = hours(24);

 private:
  struct Entry {
    std::string fingerprint;
    bool finished = false;
    HttpResponse response;
    std::vector<Send> waiting;
  };
  void drop_old(Instant now);

  std::map<std::string, Entry> entries_;
  std::deque<std::pair<Instant, std::string>> finished_;  ///< oldest first
  std::size_t bytes_ = 0;
  Instant now_;
};

}  // namespace tundish::edge::api
