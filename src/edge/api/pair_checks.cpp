// A check over pairs of nodes: rounds of disjoint pairs until everybody is good or accused.
#include <algorithm>
#include <cctype>

#include "base/text.hpp"
#include "control/node/pairs.hpp"
#include "edge/api/active_runs.hpp"
#include "edge/api/handlers.hpp"
#include "model/ops/active_ops.hpp"
#include "model/ops/incident_ops.hpp"

namespace tundish::edge::api {
namespace {

using control::NodePair;
using control::PairResult;

/// Rounds are bounded: each settles at least one suspect.
constexpr int most_rounds = 100;

class PairRun : public std::enable_shared_from_this<PairRun> {
 public:
  PairRun(Backend& b, std::shared_ptr<ActiveRunInfo> info, std::vector<NodeId> nodes,
          CheckInfo check)
      : b_(b), info_(std::move(info)), nodes_(std::move(nodes)), check_(std::move(check)) {}

  void start(int round) { run_round(control::plan_pairs(nodes_, round)); }

 private:
  void run_round(const std::vector<NodePair>& pairs) {
    ++round_;
    info_->step = "round " + std::to_string(round_) + ": " + std::to_string(pairs.size()) +
                  " pairs";
    open_ = pairs.size();
    for (const auto& pair : pairs) run_pair(pair);
    if (pairs.empty()) settle();
  }

  std::string key_of(const NodePair& pair, const NodeId& node) const {
    return info_->id + "/" + std::to_string(round_) + "/" + pair.first.str() + "/" + node.str();
  }

  std::string name_of(const NodeId& id) const {
    const Node* node = b_.reg().find(id);
    return node ? node->meta.name : id.str();
  }

  /// `done` gets what the side told, also when it could not begin.
  void run_side(const NodePair& pair, const NodeId& id, PairRole role,
                std::function<void(const Result<VerbResult>&)> done) {
    const Node* node = b_.reg().find(id);
    const Node* peer = b_.reg().find(pair.other(id));
    if (!node || !peer) return done(make_error(Code::not_found, "the node is gone"));
    control::ActiveWish wish;
    wish.checks = {check_.name};
    wish.key = key_of(pair, id);
    wish.asked_by = info_->asked_by;
    wish.pair = {role, peer->meta.name, peer->spec.oob_address};
    wish.limit = limit_of({check_});
    b_.parts.manager.order(control::make_active(b_.parts.manager.view(), *node, std::move(wish)),
                           std::move(done));
  }

  void run_pair(const NodePair& pair) {
    const auto self = shared_from_this();
    run_side(pair, pair.first, PairRole::server, [](const Result<VerbResult>&) {});
    run_side(pair, pair.second, PairRole::client,
             [self, pair](const Result<VerbResult>& done) { self->end_pair(pair, done); });
  }

  void end_pair(const NodePair& pair, const Result<VerbResult>& done) {
    // The side that waits has nothing to wait for.
    (void)b_.parts.manager.end_run(key_of(pair, pair.first), "its client ended");
    PairResult result{pair, VerdictState::ok, ""};
    for (const auto& verdict : verdicts_of(done, {check_.name}, b_.now())) {
      const bool worse = rank_of(verdict.state) > rank_of(result.state);
      if (!worse) continue;
      result.state = verdict.state;
      result.reason = (verdict.device.empty() ? "" : verdict.device + ": ") + verdict.reason;
    }
    results_.push_back(std::move(result));
    if (--open_ == 0) settle();
  }

  static int rank_of(VerdictState state) {
    switch (state) {
      case VerdictState::ok: return 0;
      case VerdictState::warn: return 1;
      case VerdictState::unknown: return 2;
      case VerdictState::fail: return 3;
    }
    return 2;
  }

  void settle() {
    auto judged = control::judge_pairs(nodes_, results_);
    if (!judged.next.empty() && round_ < most_rounds) return run_round(judged.next);
    for (auto& [node, verdict] : judged.verdicts) {
      verdict.check = check_.name;
      verdict.at = b_.now();
      verdict.watches = check_.watches;
      verdict.reason = with_names(verdict.reason);
      record(node, verdict);
      verdict.device = name_of(node);
      info_->verdicts.push_back(verdict);
    }
    info_->ended_at = b_.now();
    info_->step = std::to_string(round_) + " rounds, " + std::to_string(results_.size()) +
                  " pairs";
    b_.parts.manager.pump_soon();
  }

  /// Ids are ours; people know names. node-1 is no part of node-12.
  std::string with_names(const std::string& text) const {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
      const std::string name = name_at(text, at);
      if (name.empty()) out += text[at++];
      out += name;
    }
    return out;
  }
  /// Moves behind the id that stands there; empty: none does.
  std::string name_at(const std::string& text, std::size_t& at) const {
    for (const auto& node : nodes_) {
      const std::size_t end = at + node.str().size();
      if (text.compare(at, node.str().size(), node.str()) != 0) continue;
      if (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0) continue;
      at = end;
      return name_of(node);
    }
    return "";
  }

  /// Who fails with a node that is good with others is out of service as after any failed check:
  /// that it is this node and not its partner was just proved.
  void record(const NodeId& node, const Verdict& verdict) {
    const std::string actor = "user:" + info_->asked_by;
    const std::string why = "check over pairs";
    (void)b_.parts.ledger.perform(*record_active_run(node, {verdict}), actor, why);
    if (verdict.state != VerdictState::fail) return;
    (void)b_.parts.ledger.perform(*open_probe_incident(node, {verdict}), actor, why);
    info_->next.push_back(tell_next(b_, node, {verdict}));
  }

  Backend& b_;
  std::shared_ptr<ActiveRunInfo> info_;
  std::vector<NodeId> nodes_;
  CheckInfo check_;
  std::vector<PairResult> results_;
  int round_ = 0;
  std::size_t open_ = 0;
};

Result<CheckInfo> pair_check(const Backend& b, const std::string& name) {
  for (const auto& check : b.parts.checks) {
    const bool makes_pairs = check.name == "ib_write_bw" || check.name == "nccl_pair";
    if (check.name == name && makes_pairs) return check;
  }
  return make_error(Code::invalid, name + " is no check that two nodes make together")
      .with_remedy("ib_write_bw or nccl_pair");
}

}  // namespace

void post_pair_run(Backend& b, const Call& call, Respond respond) {
  const auto asked = parse_body<PairRunRequest>(call);
  if (!asked) return respond(asked.error());
  const auto check = pair_check(b, asked->check);
  if (!check) return respond(check.error());
  std::vector<NodeId> nodes;
  std::vector<std::string> names;
  const auto view = b.parts.manager.view();
  for (const auto& name : asked->nodes) {
    const auto node = get_matching<Node>(b, call, name);
    if (!node) return respond(node.error());
    if (node->spec.role != NodeRole::gpu) {
      return respond(make_error(Code::invalid, "it has no GPUs and no east-west ports to measure")
                         .with_remedy("name GPU nodes; see: tundish node list")
                         .about("node/" + node->meta.name));
    }
    if (const std::string why = control::active_refusal(view, *node); !why.empty()) {
      return respond(make_error(Code::denied, why + ": active checks run on free nodes only")
                         .about("node/" + node->meta.name));
    }
    if (std::find(nodes.begin(), nodes.end(), node->id) != nodes.end()) continue;
    if (const auto room = make_room(b, call, *node); !room) return respond(room.error());
    nodes.push_back(node->id);
    names.push_back(node->meta.name);
  }
  if (nodes.size() < 2) return respond(make_error(Code::invalid, "a pair needs two nodes"));
  if (call.is_dry_run()) return respond(Answer{200, render_json(ActiveRunInfo{})});
  const auto info = keep_run(b, call, names, {check->name});
  const auto run = std::make_shared<PairRun>(b, info, std::move(nodes), *check);
  run->start(asked->round);
  respond(Answer{200, render_json(*info)});
}

}  // namespace tundish::edge::api
