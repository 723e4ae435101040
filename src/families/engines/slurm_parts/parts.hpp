#pragma once
// The pieces of the Slurm item. Checked against Slurm 22.05.8 of Debian 12.
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/engine.hpp"

namespace tundish::slurm_parts {

/// slurm.conf, gres.conf, cgroup.conf, topology.conf and slurmdbd.conf, in which
/// `password_placeholder` stands where the agent puts the database password.
inline constexpr std::string_view password_placeholder = "@dbd_password@";
std::vector<EngineFile> render_files(const DesiredEngine& desired);

std::vector<EngineCommand> plan_commands(const DesiredEngine& desired,
                                         const EngineObserved& observed);

/// The text of the agent's observe_engine. A header line, then sections, each with its length in
/// bytes so that nothing inside one can pretend to be another:
///
///     tundish-slurm 1 <seconds since 1970, clock of the controller>
///     == control <bytes>
///     <output of scontrol -o fed "show config", "show partition", "show node">
///     == jobs <bytes> <mark>
///     <lines ID<mark>|user|state|restarts|requeue|eligible|start|nodes|name>
///
/// Agents of before call it `queue` and leave the start out. Instead of these two, `== nodes-json`
/// (sinfo --json) and `== jobs-json` (squeue --json) are understood. Times in the text are UTC.
Result<EngineObserved> parse_observation(std::string_view text);

/// States as words: "IDLE+DRAIN+NOT_RESPONDING*" is IDLE, DRAIN, NOT_RESPONDING. The marks behind
/// a state (* ~ # ! % $ @ ^ -) become the flag that they stand for.
std::vector<std::string> split_states(std::string_view text);
bool has_state(const EngineNode& node, std::string_view word);
bool is_drained(const EngineNode& node);
bool is_down(const EngineNode& node);

/// data_parser v0.0.38 of 22.05, where a state is a word beside flags, and the later shapes where
/// it is a list and numbers are objects {set, infinite, number}.
Result<std::vector<EngineNode>> parse_sinfo_json(std::string_view text);
Result<std::vector<EngineJob>> parse_squeue_json(std::string_view text);

/// When a job of that state started; unset: it waits, and what Slurm gives is only expected.
Instant start_of(std::string_view state, std::int64_t start_s);

/// "2026-11-30T08:16:04" in UTC as seconds; 0 for anything else ("None", "Unknown", "N/A").
std::int64_t parse_time(std::string_view text);

}  // namespace tundish::slurm_parts
