#include "runtime/agent/verdict_news.hpp"

#include "base/log.hpp"
#include "codec/json.hpp"
#include "runtime/process/process.hpp"

namespace tundish::agent {

ExpectationBox::ExpectationBox(std::string path) : path_(std::move(path)) {
  const auto text = process::read_file(path_);
  if (!text) return;
  if (const auto parsed = parse_json(*text, file_, Unknown::keep_out); !parsed) {
    log(LogLevel::warn, "expectation_unreadable", {{"why", parsed.error().message()}});
    file_ = {};
  }
}

void ExpectationBox::set(const Expectation& expectation, const std::string& mark) {
  const std::lock_guard lock(mutex_);
  file_.mark = mark;
  file_.expectation = expectation;
  if (const auto kept = process::write_file_atomic(path_, render_json(file_), 0600); !kept) {
    log(LogLevel::error, "expectation_not_kept", {{"why", kept.error().message()}});
  }
}

std::optional<Expectation> ExpectationBox::get() const {
  const std::lock_guard lock(mutex_);
  return file_.expectation;
}

std::string ExpectationBox::mark() const {
  const std::lock_guard lock(mutex_);
  return file_.mark;
}

}  // namespace tundish::agent
