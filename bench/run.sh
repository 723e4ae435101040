#!/usr/bin/env bash
# Every figure of design 9 with its aim: run.sh [--long] [--only NAME]. `./dev bench` calls it with
# the release build's bin folder first in PATH. Needs root for the lab; writes build/bench.json.
set -euo pipefail
cd "$(dirname "$0")/.."
binaries=$(dirname "$(command -v tundishd)")
if { ! command -v prometheus-node-exporter || ! command -v rasdaemon; } >/dev/null &&
  [[ $EUID == 0 ]]; then
  policy=/usr/sbin/policy-rc.d made=no
  [[ -e $policy ]] || { printf '#!/bin/sh\nexit 101\n' >"$policy"; chmod 755 "$policy"; made=yes; }
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    prometheus-node-exporter rasdaemon >/dev/null 2>&1 || echo "bench: peers are missing" >&2
  [[ $made == no ]] || rm -f "$policy"
fi
exec python3 -B bench/run.py "$binaries" "$@"
