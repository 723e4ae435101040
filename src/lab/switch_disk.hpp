#pragma once
// What a switch finds when it starts: its disk with a startup configuration, and the keys by which
// tundishd and it know each other.
#include "base/result.hpp"
#include "lab/switch_plan.hpp"

namespace tundish::lab {

/// secrets/switch_key(.pub): who may configure every switch of the lab; its private half is for
/// tundishd. secrets/switch_known_hosts: who the switches are. Kept when they exist.
Result<> make_switch_keys(const LabSpec& spec);
/// Folders of one switch below `paths.switch_box(name)`: `disk` is the upper layer of its root file
/// system. What somebody saved there (frr.conf) survives a restart of the switch.
Result<> prepare_switch(const LabSpec& spec, const LabSwitch& plan);

}  // namespace tundish::lab
