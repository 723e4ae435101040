#include <algorithm>
#include <map>
#include <optional>

#include "base/text.hpp"
#include "families/engines/slurm_parts/names.hpp"
#include "families/engines/slurm_parts/parts.hpp"

namespace tundish::slurm_parts {
namespace {

constexpr std::string_view header_word = "tundish-slurm 1 ";
/// Between the id and the name. The one of `jobs` that `queue` has not is when the job started.
constexpr std::size_t queue_columns = 6, job_columns = 7;

std::string_view take_line(std::string_view& text) {
  const auto end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

/// Value behind the first " key=" of a one-line record, up to the next blank. Records start with
/// what the engine itself says; what a job or a node says about itself comes later.
std::string_view value_of(std::string_view line, std::string_view key) {
  for (std::size_t at = 0; (at = line.find(key, at)) != std::string_view::npos; ++at) {
    const std::size_t end = at + key.size();
    const bool starts = at == 0 || line[at - 1] == ' ';
    if (!starts || end >= line.size() || line[end] != '=') continue;
    const std::string_view rest = line.substr(end + 1);
    return rest.substr(0, rest.find(' '));
  }
  return {};
}

/// "key = value" of show config.
std::string_view setting_of(std::string_view line, std::string_view key) {
  if (!line.starts_with(key)) return {};
  const auto at = line.find('=');
  if (at == std::string_view::npos || !trim(line.substr(key.size(), at - key.size())).empty()) {
    return {};
  }
  return trim(line.substr(at + 1));
}

/// The reason is the last key that scontrol prints (22.05 to 24.05: Comment and Extra may stand
/// before it), and it ends with "[user@time]".
std::string reason_of(std::string_view line) {
  const auto at = line.find(" Reason=");
  if (at == std::string_view::npos) return "";
  std::string_view reason = trim(line.substr(at + 8));
  const auto mark = reason.ends_with(']') ? reason.rfind(" [") : std::string_view::npos;
  if (mark == std::string_view::npos) return std::string(reason);
  const bool by_slurm = reason.substr(mark).starts_with(" [slurm@");
  return std::string(by_slurm ? slurm_prefix : "") + std::string(reason.substr(0, mark));
}

int small_integer(std::string_view text) {
  const auto value = parse_integer(text);
  if (!value || *value < 0 || *value > 1000000000) return 0;
  return static_cast<int>(*value);
}

EngineNode parse_node(std::string_view line) {
  EngineNode node;
  node.name = std::string(value_of(line, "NodeName"));
  node.states = split_states(value_of(line, "State"));
  node.reason = reason_of(line);
  node.allocated_cpus = small_integer(value_of(line, "CPUAlloc"));
  // A node that never registered has no start time of its daemon, whatever its state says.
  node.registered = parse_time(value_of(line, "SlurmdStartTime")) > 0 &&
                    !has_state(node, "NOT_RESPONDING");
  return node;
}

void add_node(EngineObserved& observed, std::map<std::string, std::size_t>& seen,
              std::string_view line) {
  EngineNode node = parse_node(line);
  if (node.name.empty()) return;
  const auto [found, is_new] = seen.emplace(node.name, observed.nodes.size());
  if (is_new) {
    observed.nodes.push_back(std::move(node));
    return;
  }
  // A node's daemon chose a text with a line break, to speak for another node. Which of the two
  // lines is the engine's cannot be told, so neither counts.
  observed.nodes[found->second] = EngineNode{node.name, {"AMBIGUOUS"}, "", 0, false};
}

/// Whether the partition of active checks gives way to the tenant's, and how that is set up.
struct Preemption {
  bool by_tier = false;
  int tenant_tier = 0;
  int check_tier = 0;
  bool checks_end = false;  ///< they are ended, not suspended beside the work that needs the node
  bool has_checks = false;
  bool works() const {
    return by_tier && (!has_checks || (checks_end && check_tier < tenant_tier));
  }
};

Result<> parse_partition(std::string_view line, EngineObserved& observed, Preemption& preemption) {
  const int tier = small_integer(value_of(line, "PriorityTier"));
  if (value_of(line, "PartitionName") == check_work_name) {
    preemption.has_checks = true;
    preemption.check_tier = tier;
    preemption.checks_end = value_of(line, "PreemptMode") == "CANCEL";
    observed.check_nodes = TRY(expand_hostlist(value_of(line, "Nodes")));
  } else if (observed.partition_nodes.empty()) {
    preemption.tenant_tier = tier;
    observed.partition_nodes = TRY(expand_hostlist(value_of(line, "Nodes")));
  }
  return {};
}

Result<> parse_control(std::string_view body, EngineObserved& observed) {
  std::map<std::string, std::size_t> seen;
  bool any = false;
  Preemption preemption;
  while (!body.empty()) {
    const std::string_view line = take_line(body);
    if (line.starts_with("NodeName=")) add_node(observed, seen, line);
    if (line.starts_with("PartitionName=")) {
      TRY_VOID(parse_partition(line, observed, preemption));
    }
    if (setting_of(line, "PreemptType") == "preempt/partition_prio") preemption.by_tier = true;
    if (line.starts_with("BOOT_TIME")) {
      const auto at = line.find('=');
      if (at == std::string_view::npos) continue;
      observed.started_at = {parse_time(trim(line.substr(at + 1))) * 1000000};
      any = true;
    }
  }
  observed.can_preempt = preemption.works();
  if (!any && observed.nodes.empty()) {
    return make_error(Code::corrupt, "slurm: scontrol showed neither configuration nor nodes");
  }
  return {};
}

std::optional<EngineJob> parse_job(std::string_view line, std::string_view mark,
                                   std::size_t count) {
  // A job's name may hold line breaks; only the engine knows this call's mark.
  const auto at = line.find(mark);
  if (mark.empty() || at == std::string_view::npos || !parse_integer(line.substr(0, at))) {
    return {};
  }
  line.remove_prefix(at + mark.size());
  if (!line.starts_with('|')) return {};
  line.remove_prefix(1);
  std::vector<std::string_view> columns;
  while (columns.size() < count) {
    const auto bar = line.find('|');
    if (bar == std::string_view::npos) return {};
    columns.push_back(trim(line.substr(0, bar)));
    line.remove_prefix(bar + 1);
  }
  EngineJob job;
  auto nodes = expand_hostlist(columns.back());
  if (!nodes) return {};
  job.nodes = std::move(*nodes);
  job.user = std::string(columns[0]);
  job.state = std::string(columns[1]);
  job.restarts = small_integer(columns[2]);
  job.requeueable = columns[3] == "1";
  job.begin_time_s = parse_time(columns[4]);
  if (count == job_columns) job.started_at = start_of(job.state, parse_time(columns[5]));
  job.name = std::string(trim(line));
  return job;
}

void parse_queue(std::string_view body, std::string_view mark, std::size_t columns,
                 EngineObserved& observed) {
  while (!body.empty()) {
    const std::string_view line = take_line(body);
    auto job = parse_job(line, mark, columns);
    if (!job) continue;
    job->id = std::string(line.substr(0, line.find(mark)));
    observed.jobs.push_back(std::move(*job));
  }
}

Result<> parse_section(const std::vector<std::string>& head, std::string_view body,
                       EngineObserved& observed) {
  const std::string& kind = head[1];
  if (kind == "control") return parse_control(body, observed);
  if (kind == "queue" || kind == "jobs") {
    parse_queue(body, head.size() > 3 ? head[3] : "",
                kind == "jobs" ? job_columns : queue_columns, observed);
  } else if (kind == "nodes-json") {
    observed.nodes = TRY(parse_sinfo_json(body));
  } else if (kind == "jobs-json") {
    observed.jobs = TRY(parse_squeue_json(body));
  }
  return {};  // a section of a later version is skipped
}

/// Flags that sinfo and scontrol append as one character. Source: sinfo(1), NODE STATE CODES;
/// checked 2026-11.
std::string_view flag_of(char mark) {
  switch (mark) {
    case '*': return "NOT_RESPONDING";
    case '~': return "POWERED_DOWN";
    case '#': return "POWERING_UP";
    case '!': return "POWER_DOWN";
    case '%': return "POWERING_DOWN";
    case '$': return "MAINTENANCE";
    case '@': return "REBOOT_REQUESTED";
    case '^': return "REBOOT_ISSUED";
    case '-': return "PLANNED";
    default: return "";
  }
}

bool has_any(const EngineNode& node, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return has_state(node, word); });
}

int days_of_month(int year, int month) {
  static constexpr int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return month == 2 && leap ? 29 : days[month - 1];
}

}  // namespace

std::vector<std::string> split_states(std::string_view text) {
  std::vector<std::string> states;
  const auto add = [&](std::string word) {
    if (!word.empty() && std::find(states.begin(), states.end(), word) == states.end()) {
      states.push_back(std::move(word));
    }
  };
  for (std::string part : split(text, '+')) {
    std::vector<std::string> flags;
    while (!part.empty() && !flag_of(part.back()).empty()) {
      flags.emplace_back(flag_of(part.back()));
      part.pop_back();
    }
    std::transform(part.begin(), part.end(), part.begin(), [](char c) {
      return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    });
    add(part);
    for (auto& flag : flags) add(std::move(flag));
  }
  return states;
}

bool has_state(const EngineNode& node, std::string_view word) {
  return std::find(node.states.begin(), node.states.end(), word) != node.states.end();
}

bool is_drained(const EngineNode& node) {
  return has_any(node, {"DRAIN", "DRAINED", "DRAINING", "DRNG", "FAIL", "FAILING"});
}

bool is_down(const EngineNode& node) { return has_any(node, {"DOWN", "ERROR"}); }

Instant start_of(std::string_view state, std::int64_t start_s) {
  constexpr std::int64_t far = 1'000'000'000'000;  // no time, and too much for microseconds
  if (state == "PENDING" || start_s <= 0 || start_s > far) return {};
  return {start_s * 1000000};
}

std::int64_t parse_time(std::string_view text) {
  if (text.size() != 19 || text[4] != '-' || text[7] != '-' || text[10] != 'T' ||
      text[13] != ':' || text[16] != ':') {
    return 0;
  }
  const auto number = [&](std::size_t at, std::size_t size) {
    const auto value = parse_integer(text.substr(at, size));
    return value && *value >= 0 ? static_cast<int>(*value) : -1;
  };
  const int year = number(0, 4), month = number(5, 2), day = number(8, 2);
  const int hour = number(11, 2), minute = number(14, 2), second = number(17, 2);
  if (year < 1970 || month < 1 || month > 12 || day < 1 || day > days_of_month(year, month) ||
      hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60) {
    return 0;
  }
  std::int64_t days = day - 1;
  for (int m = 1; m < month; ++m) days += days_of_month(year, m);
  const int before = year - 1;
  const auto leaps = [](int y) { return y / 4 - y / 100 + y / 400; };
  days += (year - 1970) * 365LL + leaps(before) - leaps(1969);
  return ((days * 24 + hour) * 60 + minute) * 60 + second;
}

Result<EngineObserved> parse_observation(std::string_view text) {
  const std::string_view header = take_line(text);
  const auto at = header.starts_with(header_word)
                      ? parse_integer(header.substr(header_word.size()))
                      : std::nullopt;
  constexpr std::int64_t seconds_limit = 100000000000;  // keeps microseconds within 64 bits
  if (!at || *at < 0 || *at > seconds_limit) {
    return make_error(Code::corrupt, "slurm: not an observation of version 1");
  }
  EngineObserved observed;
  observed.at = {*at * 1000000};
  while (!text.empty()) {
    const auto head = split(take_line(text), ' ');
    const auto size = head.size() >= 3 && head[0] == "==" ? parse_integer(head[2]) : std::nullopt;
    if (!size || *size < 0 || static_cast<std::uint64_t>(*size) > text.size()) {
      return make_error(Code::corrupt, "slurm: the observation is cut short");
    }
    const auto length = static_cast<std::size_t>(*size);
    TRY_VOID(parse_section(head, text.substr(0, length), observed));
    text.remove_prefix(length);
  }
  observed.reachable = true;
  return observed;
}

}  // namespace tundish::slurm_parts
