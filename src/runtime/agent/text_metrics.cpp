#include "runtime/agent/text_metrics.hpp"

#include "runtime/process/process.hpp"

namespace tundish::agent {
namespace {

template <class E>
std::string word(E value) {
  return std::string(enum_names(value)[static_cast<std::size_t>(value)]);
}

/// Devices come from what the kernel says, and a label is one line.
std::string escape(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '"') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out;
}

std::string head(const std::string& name, const std::string& help, const std::string& type) {
  return "# HELP " + name + " " + help + "\n# TYPE " + name + " " + type + "\n";
}

}  // namespace

std::string render_text_metrics(const std::vector<Verdict>& verdicts, const WitnessCounts& counts,
                                Instant at) {
  std::map<std::string, int> series;  // two verdicts of one check and device are one series
  for (const auto& verdict : verdicts) {
    ++series["tundish_node_verdict{check=\"" + escape(verdict.check) + "\",device=\"" +
             escape(verdict.device) + "\",state=\"" + word(verdict.state) + "\"}"];
  }
  std::string out = head("tundish_node_verdict", "Verdicts of checks that are not ok", "gauge");
  for (const auto& [name, count] : series) out += name + " " + std::to_string(count) + "\n";
  out += head("tundish_node_witnesses_total", "Sightings since the agent started", "counter");
  for (const auto& [key, count] : counts) {
    out += "tundish_node_witnesses_total{kind=\"" + key.first + "\",provenance=\"" + key.second +
           "\"} " + std::to_string(count) + "\n";
  }
  out += head("tundish_node_judged_seconds", "When the checks last judged, Unix time", "gauge");
  out += "tundish_node_judged_seconds " + std::to_string(at.us / 1000000) + "\n";
  return out;
}

void TextMetrics::count(const std::vector<Witness>& witnesses) {
  const std::lock_guard lock(mutex_);
  for (const auto& witness : witnesses) {
    const std::string kind =
        witness.kind == WitnessKind::event ? word(witness.event.kind) : word(witness.kind);
    counts_[{kind, word(witness.provenance)}] += witness.repeat;
  }
}

Result<> TextMetrics::write(const std::vector<Verdict>& verdicts, Instant at) {
  if (folder_.empty()) return {};
  const std::lock_guard lock(mutex_);
  return process::write_file_atomic(folder_ + "/tundish.prom",
                                    render_text_metrics(verdicts, counts_, at));
}

}  // namespace tundish::agent
