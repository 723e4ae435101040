#pragma once
// A network's partition in an InfiniBand fabric: the manager's part, and each port's own table.
#include <vector>

#include "control/view.hpp"
#include "edge/api/contract_network.hpp"

namespace tundish::edge::api {

std::vector<NetworkRow> partition_rows(const control::View& view, const Network& network);

}  // namespace tundish::edge::api
