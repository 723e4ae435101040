#!/usr/bin/env bash
# Proves that tundishd killed at the most telling hooks of an incident comes to the same end.
# All hooks: kill_hooks.sh, under --slow; in the simulator every hook is hit in every run.
TUNDISH_HOOKS="op:bind_spare act:reboot:start op:return_node" exec bash "$(dirname "$0")/kill_hooks.sh"
