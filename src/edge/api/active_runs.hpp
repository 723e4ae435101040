#pragma once
// What the handlers of active runs share.
#include "control/node/active.hpp"
#include "edge/api/backend.hpp"

namespace tundish::edge::api {

/// The checks that are meant: names that exist and are active, or all of a tier.
Result<std::vector<CheckInfo>> choose_active(const Backend& b, const ActiveRunRequest& asked);
/// Of the heaviest one.
Duration limit_of(const std::vector<CheckInfo>& checks);
/// A new entry of what people asked for; old ones that have ended go.
std::shared_ptr<ActiveRunInfo> keep_run(Backend& b, const Call& call,
                                        const std::vector<std::string>& nodes,
                                        const std::vector<std::string>& checks);
/// What a run told, or why it told nothing, as verdicts of its checks.
std::vector<Verdict> verdicts_of(const Result<VerbResult>& done,
                                 const std::vector<std::string>& checks, Instant now);

/// Whoever asks comes before the schedule, whose run ends; but not before another person's run or
/// the proof of a repair: `conflict`.
Result<> make_room(Backend& b, const Call& call, const Node& node);
/// What becomes of a node that failed; empty: nothing failed.
std::string tell_next(const Backend& b, const NodeId& id, const std::vector<Verdict>& verdicts);

}  // namespace tundish::edge::api
