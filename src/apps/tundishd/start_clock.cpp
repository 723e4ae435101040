#include "apps/tundishd/start_clock.hpp"

#include <filesystem>

#include "base/log.hpp"
#include "runtime/process/process.hpp"

namespace tundish::tundishd {
namespace {

constexpr Duration look_pause = seconds(1);
constexpr Duration mark_pause = seconds(30);

}  // namespace

StartClock::StartClock(net::Loop& loop, Instant newest, std::string state_dir)
    : loop_(loop), state_dir_(std::move(state_dir)) {
  ClockSight seen = look_at_clock();
  seen.newest = newest;
  if (const auto text = process::read_file(mark_file())) seen.mark = parse_mark(*text);
  start_ = judge_clock(seen);
  loop_.begin_at(start_.begin);
  if (start_.trust == ClockTrust::believed) return;
  log(LogLevel::warn, "clock_in_doubt", {{"note", note()}, {"wall", render_utc(seen.wall)}});
}

StartClock::~StartClock() { keep_mark(); }

void StartClock::keep_mark() const {
  const ClockSight seen = look_at_clock();
  const ClockMark mark{seen.boot_id, seen.uptime, loop_.now()};
  if (const auto kept = process::write_file_atomic(mark_file(), render_mark(mark), 0600); !kept) {
    log(LogLevel::warn, "clock_mark_not_kept", {{"why", kept.error().message()}});
  }
}

/// A person's word, or a time service that is there now.
void StartClock::settle() {
  std::error_code ignored;
  const bool by_person = std::filesystem::remove(believed_file(), ignored);
  const ClockSight seen = look_at_clock();
  if (start_.trust == ClockTrust::behind) {
    if (seen.wall >= loop_.now()) start_ = {};  // it was set, and time has not gone back
    return;
  }
  if (start_.trust != ClockTrust::ahead || !(by_person || seen.disciplined)) return;
  loop_.believe_wall();
  start_ = {};
  log(LogLevel::warn, "clock_believed",
      {{"by", by_person ? "a person" : "a time service"}, {"now", render_utc(loop_.now())}});
}

void StartClock::watch() {
  settle();
  if (!kept_at_.is_set() || loop_.now() - kept_at_ >= mark_pause) {
    keep_mark();
    kept_at_ = loop_.now();
  }
  loop_.at(loop_.now() + look_pause, [this] { watch(); });
}

}  // namespace tundish::tundishd
