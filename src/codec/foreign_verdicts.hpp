#pragma once
// What other health programs say, as verdicts with their name in `source`. Every parser takes any
// text: what it does not understand is one verdict unknown, never a pass and never a crash.
#include <string_view>
#include <vector>

#include "model/verdict.hpp"

namespace tundish {

/// `dcgmi health -g 0 -c -j`. Source: NVIDIA/DCGM 4.6.0 dcgmi/Health.cpp, header and body of
/// children; checked 2026-11.
std::vector<Verdict> parse_dcgm_health(std::string_view json);

/// `dcgmi dmon -e 230,1523 -c 1`: XID and recovery action of each GPU, so that an injected value is
/// seen. Recovery 5 is a recovery, which DCGM 4.6 itself takes for healthy.
std::vector<Verdict> parse_dcgm_fields(std::string_view table);

/// The last run in NHC's log: its errors, its success, or that it did not end.
/// Source: mej/nhc 9c4a38c, nhc and scripts/common.nhc; checked 2026-08.
std::vector<Verdict> parse_nhc_log(std::string_view log);

/// GET /v1/states of gpud: per component Healthy, Degraded, Unhealthy, Initializing.
/// Source: leptonai/gpud 4a8de33a api/v1; checked 2026-08.
std::vector<Verdict> parse_gpud_states(std::string_view json);

/// Conditions of a Kubernetes node, as NVSentinel, node-problem-detector and Soperator set them:
/// a list, or a node with status.conditions.
std::vector<Verdict> parse_node_conditions(std::string_view json);

/// Results of Soperator's check runner: PASS, FAIL, and ERROR, which its harness lets pass.
/// Source: nebius/soperator c238d993 health checks; checked 2026-08.
std::vector<Verdict> parse_soperator_results(std::string_view json);

}  // namespace tundish
