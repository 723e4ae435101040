# The clock of a node's agent jumps an hour ahead, then a day back, while a job runs: nothing is
# blamed, the agent stays heard, and a fault after the jump is found and repaired once.
# slow
source "$(dirname "$0")/lib/common.bash"

lab_up --nodes 3
import_site
tenant acme alice 64
create train acme 2 1
read -r first second <<<"$(members train member)"
spare=$(members train spare)
job=$(ring train acme alice 2 1000000) || fail "sbatch"
await 30 "the job makes steps" steps_pass 3 acme alice

# The agent of one member runs under libfaketime from here on; the rest of the node does not. Its
# steady clock must stay as it is, as a real step leaves it alone.
lab_post /agent "{\"node\":\"$first\",\"action\":\"stop\"}"
agent_is_gone() { ! on "$first" pgrep -x tundish-agent; }
await 10 "the agent of $first is stopped" agent_is_gone
on "$first" sh -c 'echo +0 >/run/clock; lib=$(ls /usr/lib/*/faketime/libfaketimeMT.so.1)
  export FAKETIME_TIMESTAMP_FILE=/run/clock FAKETIME_NO_CACHE=1 DONT_FAKE_MONOTONIC=1 NO_FAKE_STAT=1
  LD_PRELOAD=$lib setsid /run/tundish-hw/bin/tundish-agent --config /etc/tundish/agent.yaml \
    >/run/agent.log 2>&1 </dev/null &' || fail "cannot start an agent with a clock of its own"
silent() { nodes_json | jq -r --arg n "$first" '.[] | select(.meta.name == $n).status.conditions[] |
  select(.type == "agent_silent").state'; }
await 20 "it is heard" is silent = "no"
equal "agents under a clock of their own" "$(on "$first" sh -c \
  'grep -l faketime /proc/[0-9]*/maps 2>/dev/null | wc -l')" 1

step() { on "$first" sh -c "echo $1 >/run/clock"; } # SECONDS away from the real time, with its sign
disturbed() {
  [[ $(all_incidents) != 0 || $(tundish claim list -o json | jq length) != 0 ||
    $(job_field train "$job" Restarts) != 0 || $(silent) != no ]]
}
shown() { # what a program under the same clock is shown, seconds from the real time
  on "$first" sh -c 'FAKETIME_TIMESTAMP_FILE=/run/clock FAKETIME_NO_CACHE=1 DONT_FAKE_MONOTONIC=1 \
    LD_PRELOAD=$(ls /usr/lib/*/faketime/libfaketimeMT.so.1) date +%s' | awk -v now="$(date +%s)" \
    '{d = $1 - now; print (d < -80000 ? "day back" : d > 80000 ? "day ahead" :
      d > 3000 ? "hour ahead" : d > -60 && d < 60 ? "right" : d)}'
}
before=$(boots "$first")
for away in +3600 -86400 +0 +86400; do
  step $away
  say "a clock beside it is: $(shown)"
  never 18 "its clock is $away s away: something was disturbed or it fell silent" disturbed
done
equal "the clock beside it is" "$(shown)" "day ahead"
equal "boots" "$(boots "$first")" "$before"

# A fault while its clock is a day ahead.
inject --node "$first" --xid 79 --gpu 1
await 40 "the job makes steps on the spare" runs_on acme alice "$spare"
await 60 "the fault is settled" is incident_state "$first" = resolved
equal "incidents" "$(all_incidents)" 1
equal "restarts" "$(job_field train "$job" Restarts)" 1
equal "boots" "$(boots "$first")" $((before + 1))
# Told in tundishd's time, in order.
opened=$(incidents "$first" | jq -r '.[-1].opened_at')
ahead=$((($(date -d "$opened" +%s) - $(date +%s))))
((ahead > -120 && ahead <= 0)) || fail "the incident was opened $ahead s from now"
say "it was opened $((-ahead)) s ago"
incidents "$first" | jq -e '[.[-1].timeline[].at] | . == sort' >/dev/null ||
  fail "its timeline is not in order"
no_gap acme alice
sums_right acme alice 2
history_intact
