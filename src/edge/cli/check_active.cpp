#include "edge/cli/check_active.hpp"

#include <chrono>
#include <thread>

#include "base/text.hpp"
#include "edge/cli/nouns.hpp"
#include "edge/cli/simple_kind.hpp"

namespace tundish::edge::cli {
namespace {

using Clock = std::chrono::steady_clock;

/// Short at first, so that a light check is told at once.
constexpr auto first_pause = std::chrono::milliseconds(100);
constexpr auto longest_pause = std::chrono::milliseconds(500);
constexpr auto note_every = std::chrono::seconds(2);

std::string seconds_since(Clock::time_point start) {
  const auto passed = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - start);
  return std::to_string(passed.count()) + " s";
}

std::string info_text(const ActiveRunInfo& info) {
  std::string out = verdict_table(info.verdicts);
  for (const auto& next : info.next) out += next + "\n";
  return out;
}

/// Until it has ended.
Result<int> await_run(Context& context, const std::string& id) {
  const ApiClient client = TRY(context.connect());
  const auto start = Clock::now();
  auto noted = start;
  auto pause = first_pause;
  const auto limit = std::chrono::microseconds(context.settings().timeout.us);
  for (;;) {
    const std::string body = TRY(client.get(api_path({"checks", "runs", id})));
    const auto info = TRY(parse_object<ActiveRunInfo>(body));
    if (info.ended_at.is_set()) {
      TRY(show_object<ActiveRunInfo>(context, body, info_text));
      return code_of(info.verdicts);
    }
    if (Clock::now() - start > limit) {
      context.note(id + " goes on; look at it with: tundish check runs");
      return exit_unknown;
    }
    if (Clock::now() - noted >= note_every) {
      noted = Clock::now();
      context.note(join(info.checks, ", ") + " on " + join(info.nodes, ", ") + ": " + info.step +
                   ", " + seconds_since(start));
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, longest_pause);
  }
}

Result<int> begin_run(Context& context, const std::string& path, const std::string& request) {
  const auto body = TRY(context.change({"POST", path, request}));
  if (!body) return exit_done;
  return await_run(context, TRY(parse_object<ActiveRunInfo>(*body)).id);
}

std::string state_of(const ActiveRunInfo& info) {
  if (!info.ended_at.is_set()) return "runs: " + info.step;
  VerdictState worst = VerdictState::ok;
  for (const auto& verdict : info.verdicts) {
    const bool is_worse = verdict.state == VerdictState::fail ||
                          (worst != VerdictState::fail && verdict.state != VerdictState::ok);
    if (is_worse) worst = verdict.state;
  }
  return std::string(enum_names(worst)[static_cast<std::size_t>(worst)]);
}

Result<int> list_runs(Context& context) {
  const ApiClient client = TRY(context.connect());
  const auto items = TRY(client.list(api_path({"checks", "runs"})));
  return show_items<ActiveRunInfo>(
      context, items,
      {{"RUN", "NODES", "CHECKS", "SINCE", "ASKED BY", "STATE"},
       [](const ActiveRunInfo& info) -> Cells {
         return {info.id,
                 join(info.nodes, ","),
                 join(info.checks, ","),
                 render_local(info.since),
                 or_dash(info.asked_by),
                 state_of(info)};
       }});
}

}  // namespace

Result<int> list_active(Context& context, const std::vector<std::string>& items) {
  std::vector<std::string> chosen;
  for (const auto& item : items) {
    if (TRY(parse_object<CheckInfo>(item)).kind == CheckKind::active) chosen.push_back(item);
  }
  return show_items<CheckInfo>(
      context, chosen, {{"CHECK", "TIER", "WATCHES", "COST", "WHAT"},
                        [](const CheckInfo& check) -> Cells {
                          const auto tier = static_cast<std::size_t>(check.tier);
                          const auto watches = static_cast<std::size_t>(check.watches);
                          return {check.name, std::string(enum_names(check.tier)[tier]),
                                  std::string(enum_names(check.watches)[watches]), check.cost,
                                  check.doc};
                        }});
}

Result<int> run_active(Context& context, const ActiveRunRequest& request) {
  return begin_run(context, "/v1/checks/runs", render_json(request));
}

void add_active_verbs(Command noun, Context& context) {
  const auto pairs = std::make_shared<PairRunRequest>();
  Command over =
      noun.verb("pairs", "a check over pairs of free nodes; names the culprit of a pair");
  over.take({"nodes", "names or ids, at least two", Need::required}, pairs->nodes);
  over.take({"--check", "which one", Need::optional, {"ib_write_bw", "nccl_pair"}}, pairs->check);
  over.take({"--round", "who meets whom at first"}, pairs->round);
  over.run([&context, pairs] {
    return begin_run(context, "/v1/checks/pairs", render_json(*pairs));
  });

  noun.verb("runs", "active checks that run, or ran lately").run([&context] {
    return list_runs(context);
  });

  const auto id = std::make_shared<std::string>();
  Command stop = noun.verb("stop", "end an active run");
  stop.take({"run", "as check runs shows it", Need::required}, *id);
  stop.run([&context, id]() -> Result<int> {
    const auto body =
        TRY(context.change({"POST", api_path({"checks", "runs", *id, "stop"}), "{}"}));
    if (!body) return exit_done;
    return show_object<ActiveRunInfo>(context, *body, info_text);
  });
}

}  // namespace tundish::edge::cli
