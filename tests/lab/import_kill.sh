#!/usr/bin/env bash
# tundishd is killed in the middle of an import of the example sheets, at many moments: after the
# restart either all of it is there or nothing, and importing again succeeds. Needs no lab.
set -uo pipefail
ulimit -c 0
tree=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d /tmp/tundish-import-kill-XXXXXX)
export XDG_CONFIG_HOME=$work/config TUNDISH_API=unix:$work/api.sock TERM=dumb
unset TUNDISH_TOKEN
daemon=0
trap '((daemon == 0)) || kill -KILL "$daemon" 2>/dev/null; rm -rf "$work"' EXIT
trap 'exit 143' INT TERM HUP
fail() {
  printf 'FAIL: %s\n' "$*" >&2
  tail -5 "$work/tundishd.log" >&2
  exit 1
}

start() { # [LINES]: added to the configuration
  { cat <<EOF
listen: ["unix:$work/api.sock"]
state_dir: $work/store
catalog_dir: $tree/catalog
site: lab
hold_file: $work/hold
operator_token_file: $work/token
authority: act
EOF
    printf '%s\n' "${1:-}"; } >"$work/tundishd.yaml"
  tundishd --config "$work/tundishd.yaml" >>"$work/tundishd.log" 2>&1 &
  daemon=$!
  local end=$((SECONDS + 20))
  until TUNDISH_TOKEN=$(cat "$work/token" 2>/dev/null) tundish status >/dev/null 2>&1; do
    kill -0 "$daemon" 2>/dev/null || return 1
    ((SECONDS < end)) || fail "tundishd does not answer"
    sleep 0.05
  done
  TUNDISH_TOKEN=$(cat "$work/token")
  export TUNDISH_TOKEN
}
ended() { # waits for a tundishd that was killed
  wait "$daemon" 2>/dev/null
  daemon=0
}
end_daemon() {
  kill -TERM "$daemon"
  ended
}
import() { tundish inventory import "$tree"/examples/site/*.csv -o json; }
# Numbers of everything that the sheets declare, as one word.
known() {
  local kind out=""
  for kind in rack sku node switch cable; do
    out+="$kind=$(tundish "$kind" list -o json | jq length) "
  done
  echo "${out% }"
}
verbs() { jq -r '[.changes[].verb] | unique | join(" ")' "$1"; }

log_size() { stat -c %s "$work/store/store.sqlite-wal"; }

# The whole of it, undisturbed: what there is to be, and how long it takes.
start || fail "tundishd did not start: $(tail -3 "$work/tundishd.log")"
nothing=$(known)
before=$(log_size)
begin=$(date +%s%N)
import >"$work/out" 2>"$work/err" || fail "the import was refused: $(cat "$work/out")"
took_us=$((($(date +%s%N) - begin) / 1000))
commit_bytes=$(($(log_size) - before))
((commit_bytes > 8192)) || fail "the commit wrote only $commit_bytes bytes"
all=$(known)
[[ $all != "$nothing" && $(verbs "$work/out") != unchanged ]] || fail "nothing was imported: $all"
end_daemon
rm -rf "$work/store"
echo "undisturbed: $nothing -> $all in $((took_us / 1000)) ms, $commit_bytes bytes"

none=0 whole=0 unanswered=0
judge() { # WHEN RC: after the restart; sets `outcome`
  local now
  start || fail "$1: tundishd does not start again"
  now=$(known)
  if [[ $now == "$all" ]]; then
    ((++whole))
  elif [[ $now == "$nothing" ]]; then
    ((++none))
    [[ $2 != 0 ]] || fail "$1: the import was confirmed, and nothing of it is there"
  else
    fail "$1: half of the import is there: $now"
  fi
  outcome=$([[ $now == "$all" ]] && echo all || echo nothing)
  [[ $2 == 0 ]] || ((++unanswered))
  import >"$work/out" 2>"$work/err" ||
    fail "$1: importing again was refused: $(cat "$work/out" "$work/err")"
  [[ $(known) == "$all" ]] || fail "$1: after importing again: $(known)"
  [[ $now == "$nothing" || $(verbs "$work/out") == unchanged ]] ||
    fail "$1: importing again changed: $(verbs "$work/out")"
  tundish history verify >"$work/verify" || fail "$1: $(cat "$work/verify")"
  end_daemon
  rm -rf "$work/store"
  printf '  %-34s confirmed %-4s then %s\n' "$1" "$([[ $2 == 0 ]] && echo yes || echo no)" \
    "$outcome"
}

# By the clock, over the whole length of it.
for ((i = 0; i <= 10; i++)); do
  start || fail "tundishd did not start"
  import >"$work/out" 2>&1 &
  asking=$!
  sleep "$(printf '%d.%06d' 0 $((took_us * i / 8)))"
  kill -KILL "$daemon"
  ended
  wait "$asking"
  judge "killed $((took_us * i / 8000)) ms after its start" $?
done
# Inside the commit, exactly: the kernel ends the process (SIGXFSZ) in the write that would take its
# log over this part of the commit. A half-written commit never happened.
for percent in 1 10 30 50 70 90 99; do
  start || fail "tundishd did not start"
  prlimit --pid "$daemon" --fsize=$(($(log_size) + commit_bytes * percent / 100)) || fail "prlimit"
  import >"$work/out" 2>&1
  code=$?
  ended
  judge "killed at $percent % of the commit" $code
  [[ $outcome == nothing ]] || fail "a commit that was cut at $percent % counts"
done
# Where it is durable and the answer is not out; the first commits are those of the start.
for nth in 1 2 3 4 5 6; do
  if start "$(printf 'crash_at: commit\ncrash_nth: %d' "$nth")"; then
    import >"$work/out" 2>&1
    code=$?
    # One that no commit killed is killed now.
    kill -KILL "$daemon" 2>/dev/null
  else
    code=1
  fi
  ended
  judge "killed after commit $nth" $code
done
((none > 0 && whole > 0 && unanswered > 0)) ||
  fail "not every case was met: nothing $none, all $whole, without an answer $unanswered"
echo "ok: of $((none + whole)) kills $none left nothing, $whole all; $unanswered got no answer"
