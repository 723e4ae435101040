#!/usr/bin/env bash
# Proves that the demo's success is tundishd's work: with tundishd stopped the same script fails.
set -uo pipefail
cd "$(dirname "$0")/../.."
log=$(mktemp)
python3 tests/demo/main.py --without-tundishd >"$log" 2>&1
code=$?
grep -Eq 'the demo failed: not within [0-9]+ s: without tundishd: the job runs on the spare' "$log" && ((code == 1))
holds=$?
((holds == 0)) || { tail -20 "$log"; echo "expected the demo to fail without tundishd, exit was $code"; }
rm -f "$log"
exit $holds
