#pragma once
// The verbs of check that put nodes under load.
#include "edge/api/contract_health.hpp"
#include "edge/cli/command.hpp"
#include "edge/cli/context.hpp"

namespace tundish::edge::cli {

enum class CheckListing { all, active };

/// A fail outweighs what could not be seen, as for whoever reads the exit code.
int code_of(const std::vector<Verdict>& verdicts);
std::string verdict_table(const std::vector<Verdict>& verdicts);

Result<int> list_active(Context& context, const std::vector<std::string>& items);
/// Begins the run and waits for its end, with a line of progress every two seconds.
Result<int> run_active(Context& context, const ActiveRunRequest& request);
/// pairs, runs and stop.
void add_active_verbs(Command noun, Context& context);

}  // namespace tundish::edge::cli
