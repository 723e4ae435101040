#include "codec/foreign_verdicts.hpp"

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "codec/json.hpp"

namespace tundish {
namespace {

constexpr std::size_t most_verdicts = 64;
constexpr std::size_t longest_text = 300;
constexpr std::size_t longest_input = 4 << 20;

std::string clean(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, longest_text)) {
    out += static_cast<unsigned char>(c) >= 0x20 && c != 0x7f ? c : ' ';
  }
  return std::string(trim(out));
}

Verdict make(std::string_view source, VerdictState state, std::string_view device,
             std::string_view reason) {
  Verdict out;
  out.check = "other_programs";
  out.source = source;
  out.state = state;
  out.device = clean(device).substr(0, 80);
  out.reason = std::string(source) + ": " + clean(reason);
  return out;
}

std::vector<Verdict> unreadable(std::string_view source, std::string_view why) {
  return {make(source, VerdictState::unknown, "", "its answer is not understood: " + clean(why))};
}

void add(std::vector<Verdict>& out, Verdict verdict) {
  if (out.size() < most_verdicts) out.push_back(std::move(verdict));
}

struct DcgmNode {
  std::string value;
  std::map<std::string, DcgmNode> children;
  void fields(Fields& f) {
    f(1, "value", value, "");
    f(2, "children", children, "");
  }
};
struct DcgmAnswer {
  std::map<std::string, DcgmNode> body;
  void fields(Fields& f) { f(1, "body", body, ""); }
};

VerdictState dcgm_state(std::string_view value) {
  const std::string word = to_lower(value);
  if (word == "healthy" || word == "pass") return VerdictState::ok;
  if (word.find("warn") != std::string::npos) return VerdictState::warn;
  if (word.find("fail") != std::string::npos || word == "unhealthy") return VerdictState::fail;
  return VerdictState::unknown;
}

/// Leaves that say a state; texts beside them are its explanation.
void walk_dcgm(const std::string& path, const DcgmNode& node, std::vector<Verdict>& out) {
  const VerdictState state = dcgm_state(node.value);
  if (!node.value.empty() && state != VerdictState::unknown && state != VerdictState::ok) {
    add(out, make("dcgm", state, path, node.value));
  }
  for (const auto& [name, child] : node.children) walk_dcgm(path + "/" + name, child, out);
}

struct GpudState {
  std::string name, health, reason, error;
  void fields(Fields& f) {
    f(1, "name", name, "");
    f(2, "health", health, "");
    f(3, "reason", reason, "");
    f(4, "error", error, "");
  }
};
struct GpudComponent {
  std::string component;
  std::vector<GpudState> states;
  void fields(Fields& f) {
    f(1, "component", component, "");
    f(2, "states", states, "");
  }
};
struct GpudAnswer {
  std::vector<GpudComponent> list;
  void fields(Fields& f) { f(1, "list", list, ""); }
};

struct NodeCondition {
  std::string type, status, reason, message;
  void fields(Fields& f) {
    f(1, "type", type, "");
    f(2, "status", status, "");
    f(3, "reason", reason, "");
    f(4, "message", message, "");
  }
};
struct NodeConditions {
  std::vector<NodeCondition> conditions;
  void fields(Fields& f) { f(1, "conditions", conditions, ""); }
};
struct KubernetesNode {
  NodeConditions status;
  std::vector<NodeCondition> conditions;
  std::vector<NodeCondition> list;
  void fields(Fields& f) {
    f(1, "status", status, "");
    f(2, "conditions", conditions, "");
    f(3, "list", list, "");
  }
};

struct SoperatorResult {
  std::string name, check, status, reason, details;
  void fields(Fields& f) {
    f(1, "name", name, "");
    f(2, "check", check, "");
    f(3, "status", status, "");
    f(4, "reason", reason, "");
    f(5, "details", details, "");
  }
};
struct SoperatorAnswer {
  std::vector<SoperatorResult> list;
  void fields(Fields& f) { f(1, "list", list, ""); }
};

/// A bare list becomes {"list": ...}: described objects are structs.
std::string as_object(std::string_view json) {
  const std::string_view body = trim(json);
  if (!body.starts_with("[")) return std::string(body);
  return "{\"list\":" + std::string(body) + "}";
}

std::vector<Verdict> or_ok(std::vector<Verdict> out, std::string_view source, std::size_t seen) {
  if (!out.empty()) return out;
  if (seen == 0) return unreadable(source, "it says nothing of any part");
  return {make(source, VerdictState::ok, "", "finds nothing")};
}

std::string_view line_at(std::string_view text, std::size_t at) {
  return text.substr(at, text.find('\n', at) - at);
}

}  // namespace

std::vector<Verdict> parse_dcgm_health(std::string_view json) {
  DcgmAnswer answer;
  if (json.size() > longest_input) return unreadable("dcgm", "too long");
  if (const auto parsed = parse_json(json, answer, Unknown::keep_out); !parsed) {
    return unreadable("dcgm", parsed.error().what);
  }
  std::vector<Verdict> out;
  for (const auto& [name, node] : answer.body) walk_dcgm(name, node, out);
  const auto overall = answer.body.find("Overall Health");
  const bool healthy =
      overall != answer.body.end() && dcgm_state(overall->second.value) == VerdictState::ok;
  if (out.empty() && !healthy) return unreadable("dcgm", "no overall health");
  return or_ok(std::move(out), "dcgm", 1);
}

std::vector<Verdict> parse_dcgm_fields(std::string_view table) {
  std::vector<Verdict> out;
  std::size_t seen = 0;
  for (const auto& line : split(table.substr(0, longest_input), '\n')) {
    std::vector<std::string> words;
    for (auto& word : split(line, ' ')) {
      if (!word.empty()) words.push_back(std::move(word));
    }
    if (words.size() != 4 || words[0] != "GPU" || !parse_integer(words[1])) continue;
    ++seen;
    const std::string device = "GPU " + words[1];
    const auto xid = parse_integer(words[2]);
    const auto recovery = parse_integer(words[3]);
    if (xid && *xid > 0) {
      add(out, make("dcgm", VerdictState::warn, device + " xid", "last XID is " + words[2]));
    }
    if (recovery && *recovery > 0) {
      add(out, make("dcgm", VerdictState::fail, device + " recovery",
                    "asks for recovery action " + words[3]));
    }
    if (!xid && !recovery) {
      add(out, make("dcgm", VerdictState::unknown, device, "tells neither XID nor recovery"));
    }
  }
  return or_ok(std::move(out), "dcgm", seen);
}

std::vector<Verdict> parse_nhc_log(std::string_view log) {
  log = log.substr(log.size() > longest_input ? log.size() - longest_input : 0);
  const std::size_t start = log.rfind("Node Health Check starting");
  if (start == std::string_view::npos) return unreadable("nhc", "no run is in its log");
  const std::string_view run = log.substr(start);
  std::vector<Verdict> out;
  constexpr std::string_view mark = "Health check failed:";
  for (std::size_t at = run.find(mark); at != std::string_view::npos; at = run.find(mark, at + 1)) {
    const std::string_view what = trim(line_at(run, at + mark.size()));
    const std::size_t colon = what.find(':');
    const std::string_view check = colon == std::string_view::npos ? "" : what.substr(0, colon);
    add(out, make("nhc", VerdictState::fail, check, what));
  }
  if (!out.empty()) return out;
  if (run.find("completed successfully") != std::string_view::npos) {
    return {make("nhc", VerdictState::ok, "", "passed")};
  }
  const std::size_t timer = run.find("Script timed out");
  // A watchdog that fired says that something hung: what, it does not know (NHC #161).
  return {make("nhc", VerdictState::unknown, "",
               timer == std::string_view::npos ? "its last run did not end" : "its run timed out")};
}

std::vector<Verdict> parse_gpud_states(std::string_view json) {
  GpudAnswer answer;
  if (json.size() > longest_input) return unreadable("gpud", "too long");
  if (const auto parsed = parse_json(as_object(json), answer, Unknown::keep_out); !parsed) {
    return unreadable("gpud", parsed.error().what);
  }
  std::vector<Verdict> out;
  std::size_t seen = 0;
  for (const auto& component : answer.list) {
    for (const auto& state : component.states) {
      ++seen;
      const std::string why = state.reason.empty() ? state.error : state.reason;
      if (state.health == "Healthy") continue;
      const VerdictState verdict = state.health == "Unhealthy"  ? VerdictState::fail
                                   : state.health == "Degraded" ? VerdictState::warn
                                                                : VerdictState::unknown;
      const std::string device = component.component + (state.name.empty() ? "" : "/" + state.name);
      add(out, make("gpud", verdict, device, state.health + ", " + why));
    }
  }
  return or_ok(std::move(out), "gpud", seen);
}

std::vector<Verdict> parse_node_conditions(std::string_view json) {
  KubernetesNode node;
  if (json.size() > longest_input) return unreadable("kubernetes", "too long");
  if (const auto parsed = parse_json(as_object(json), node, Unknown::keep_out); !parsed) {
    return unreadable("kubernetes", parsed.error().what);
  }
  std::vector<NodeCondition> all = std::move(node.status.conditions);
  for (auto* more : {&node.conditions, &node.list}) {
    all.insert(all.end(), more->begin(), more->end());
  }
  std::vector<Verdict> out;
  std::size_t seen = 0;
  for (const auto& condition : all) {
    if (condition.type.empty()) continue;
    ++seen;
    // Of all conditions only Ready is good when true.
    const bool good_when_true = condition.type == "Ready";
    const std::string good = good_when_true ? "True" : "False";
    const std::string bad = good_when_true ? "False" : "True";
    if (condition.status == good) continue;
    const VerdictState state = condition.status == bad ? VerdictState::fail : VerdictState::unknown;
    add(out,
        make("kubernetes", state, condition.type, condition.reason + ", " + condition.message));
  }
  return or_ok(std::move(out), "kubernetes", seen);
}

std::vector<Verdict> parse_soperator_results(std::string_view json) {
  SoperatorAnswer answer;
  if (json.size() > longest_input) return unreadable("soperator", "too long");
  if (const auto parsed = parse_json(as_object(json), answer, Unknown::keep_out); !parsed) {
    return unreadable("soperator", parsed.error().what);
  }
  std::vector<Verdict> out;
  std::size_t seen = 0;
  for (const auto& result : answer.list) {
    const std::string name = result.name.empty() ? result.check : result.name;
    const std::string status = to_lower(result.status);
    if (name.empty()) continue;
    ++seen;
    if (status == "pass" || status == "passed" || status == "ok") continue;
    const bool failed = status == "fail" || status == "failed";
    add(out, make("soperator", failed ? VerdictState::fail : VerdictState::unknown, name,
                  result.status + ", " + result.reason + result.details));
  }
  return or_ok(std::move(out), "soperator", seen);
}

}  // namespace tundish
