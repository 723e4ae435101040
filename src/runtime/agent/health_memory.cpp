#include "runtime/agent/health_memory.hpp"

#include "base/log.hpp"
#include "base/text.hpp"
#include "codec/json.hpp"
#include "runtime/process/process.hpp"

namespace tundish::agent {
namespace {

constexpr std::size_t most_counters = 4096;

std::string key_of(const RawCounter& counter) {
  return counter.group + "|" + counter.device + "|" + counter.name;
}

CounterReading reading_of(const std::string& key, const CounterTrend& trend, Instant now) {
  CounterReading out = trend.read(now);
  const auto parts = split(key, '|');
  if (parts.size() == 3) {
    out.group = parts[0];
    out.device = parts[1];
    out.name = parts[2];
  }
  return out;
}

}  // namespace

HealthMemory::HealthMemory(std::string path, std::string boot_id) : path_(std::move(path)) {
  if (const auto text = process::read_file(path_)) {
    if (const auto parsed = parse_json(*text, state_, Unknown::keep_out); !parsed) {
      log(LogLevel::warn, "health_memory_unreadable", {{"why", parsed.error().message()}});
      state_ = {};
    }
  }
  // Counters begin anew at a boot, and so does what was seen of them; a port's losses stay.
  if (state_.boot_id != boot_id) {
    state_.counters.clear();
    for (auto& [port, history] : state_.ports) history.begin_boot();
  }
  state_.boot_id = std::move(boot_id);
}

std::vector<CounterReading> HealthMemory::add(const std::vector<RawCounter>& counters,
                                              Instant now) {
  for (const auto& counter : counters) {
    const std::string key = key_of(counter);
    if (!state_.counters.contains(key) && state_.counters.size() >= most_counters) continue;
    state_.counters[key].add(counter.value, now);
  }
  changed_ = changed_ || !counters.empty();
  std::erase_if(state_.counters, [&](const auto& known) { return known.second.is_stale(now); });
  return readings(now);
}

void HealthMemory::forget(std::string_view group) {
  const std::string head = std::string(group) + "|";
  const auto forgotten = std::erase_if(
      state_.counters, [&](const auto& known) { return known.first.starts_with(head); });
  changed_ = changed_ || forgotten > 0;
}

std::vector<CounterReading> HealthMemory::readings(Instant now) const {
  std::vector<CounterReading> out;
  out.reserve(state_.counters.size());
  for (const auto& [key, trend] : state_.counters) out.push_back(reading_of(key, trend, now));
  return out;
}

void HealthMemory::look_at_ports(std::vector<HcaPort>& ports, Instant now) {
  for (auto& port : ports) {
    const auto [entry, fresh] = state_.ports.try_emplace(port.device + "/" + port.port);
    PortHistory& history = entry->second;
    if (fresh) history.begin_boot();
    // A port that has its link and waits for the subnet manager is not lost.
    const bool up = port.is_active() || port.waits_for_manager();
    const bool was_down = history.down_since().is_set();
    history.look(up ? PortSeen::up : PortSeen::down, now);
    // A loss that ended must not be found again by the agent that starts next.
    if (was_down == up) changed_ = urgent_ = true;
    port.drops = history.drops(now);
    port.down_since = history.down_since();
  }
}

Result<> HealthMemory::save(Instant now, Duration pause) {
  const bool paused = !urgent_ && saved_at_.is_set() && now - saved_at_ < pause;
  if (!changed_ || paused) return {};
  TRY_VOID(process::write_file_atomic(path_, render_json(state_), 0600));
  saved_at_ = now;
  changed_ = urgent_ = false;
  return {};
}

}  // namespace tundish::agent
