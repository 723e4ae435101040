#pragma once
// What was stored of a network or a switch, as far as a look of this life of tundishd bears it out.
#include "control/view.hpp"

namespace tundish::control::network {

/// Why what is stored of that place is not known now; empty: it was seen lately. An age is not
/// written down at each look, so no list may show what is stored alone.
std::string unseen_reason(const View& view, const Network& network, const NetworkSync& sync);
std::string unseen_reason(const View& view, const Switch& device);

}  // namespace tundish::control::network
