# tundishd is killed at every hook of an incident: the end is the same each time, nothing is doubled.
# slow
# TUNDISH_HOOKS="act:reboot:start ..." runs only those; TUNDISH_HOOKS=few the most telling eight.
source "$(dirname "$0")/lib/common.bash"

few="act:reboot:start act:reboot:end op:bind_spare act:engine_commands:start act:setup_node:end
op:detach_node act:wipe:start op:return_node"
hooks=${TUNDISH_HOOKS:-all}
[[ $hooks != few ]] || hooks=$few

lab_up --nodes 3
import_site
tenant acme alice 64
create train acme 2 1
job=$(ring train acme alice 2 1000000) || fail "sbatch"
await 30 "the job makes steps" steps_pass 3 acme alice

config=$ROOT/tundishd.yaml
cp "$config" "$WORK/plain.yaml"
settled() {
  [[ $(incident_state "$1") == resolved && $(active_claims "$1") == 0 &&
    $(members train spare) == "$1" && $(cluster_phase train) == active ]]
}
died() { (($(daemon_starts) > $1)); }
moved() { [[ $(last_step acme alice | jq .restart) == $1 ]] && runs_on acme alice "$2"; }
# It may be dead at this moment, waiting for its supervisor.
kill_daemon() {
  curl -sS --unix-socket "$ROOT/run/lab.sock" -X POST -d '{"action":"kill"}' http://lab/daemon \
    >/dev/null 2>&1
}
# What one incident came to, to be the same however often tundishd died meanwhile.
judge() { # NODE SPARE BOOTS RESTARTS INCIDENTS WHEN
  local new
  [[ $(boots "$1") == $(($3 + 1)) ]] || fail "$6: $1 booted $(($(boots "$1") - $3)) times"
  [[ $(job_field train "$job" Restarts) == $(($4 + 1)) ]] ||
    fail "$6: the job restarted $(($(job_field train "$job" Restarts) - $4)) times"
  new=$(($(all_incidents) - $5))
  [[ $new == 1 ]] || fail "$6: $new incidents were opened"
  [[ $(tundish history list --limit 1000 --object "incident/$(incident_id "$1")" -o json |
    jq '[.[] | select(.operation == "return_node" and .outcome == "done")] | length') == 1 ]] ||
    fail "$6: not returned exactly once"
  [[ " $(members train member) " == *" $2 "* ]] || fail "$6: the spare is no member"
  [[ $(incidents "$1" | jq '.[-1].jobs | length') == 1 ]] || fail "$6: not one job was hit"
}
round() { # HOOK NTH: one incident; HOOK - none. Prints nothing; sets HIT.
  local hook=$1 nth=$2 starts node spare count restarts known
  node=$(members train member | cut -d' ' -f1) spare=$(members train spare)
  count=$(boots "$node") restarts=$(job_field train "$job" Restarts) known=$(all_incidents)
  if [[ $hook != - ]]; then
    { cat "$WORK/plain.yaml"; echo "crash_at: $hook"; echo "crash_nth: $nth"; } >"$config"
    # Hooks of everyday work are passed when it starts already: the setting is left in place only
    # until it has died once.
    starts=$(daemon_starts)
    kill_daemon
    local end=$((SECONDS + 15 * PATIENCE))
    until (($(daemon_starts) > starts)) && tundish status >/dev/null 2>&1; do
      # It dies at once, over and over: that is a hit too.
      ((SECONDS < end && $(daemon_starts) <= starts + 2)) || break
      sleep 0.1
    done
  fi
  starts=$(daemon_starts)
  tundish fault inject --node "$node" --xid 79 --gpu 3 >/dev/null 2>&1 ||
    lab_post /fault "$(jq -n --arg n "$node" '{node: $n, gpu: 3, kind: "lost", sticky: false,
      line: "NVRM: Xid (PCI:0000:5d:00): 79, pid=1, name=x, GPU has fallen off the bus.",
      level: 4, facility: "kernel"}')"
  HIT=no
  if [[ $hook != - ]]; then
    local until=$((SECONDS + 60 * PATIENCE))
    while ((SECONDS < until)); do
      if died "$starts"; then HIT=yes; break; fi
      ! settled "$node" 2>/dev/null || [[ $(all_incidents) == "$known" ]] || break
      sleep 0.1
    done
    cp "$WORK/plain.yaml" "$config"
    kill_daemon
    await 20 "tundishd is back for good" daemon_answers >/dev/null
  fi
  await 90 "$hook $nth (died: $HIT): the node is returned as the spare" settled "$node"
  await 40 "the job goes on" moved $((restarts + 1)) "$spare"
  judge "$node" "$spare" "$count" "$restarts" "$known" "$hook $nth"
}

round - 0 # which hooks an undisturbed incident passes, from its history
if [[ $hooks == all ]]; then
  # Operations of the controllers in the history of that incident, and the acts of its timeline.
  node=$(members train spare)
  since=$(incidents "$node" | jq -r '.[-1].opened_at')
  operations=$(tundish history export | jq -rs --arg s "$since" '
    [.[] | select(.at >= $s and .outcome == "done" and (.actor | startswith("controller:"))) |
     "op:" + .operation] | unique | .[]')
  acts=$(api GET /metrics | sed -n 's/^tundish_driver_calls{act="\(.*\)"} .*/\1/p')
  hooks="$operations commit"
  for act in $acts; do
    # The controller is set up once per cluster, never in an incident.
    [[ $act == setup_controller ]] || hooks+=" act:$act:start act:$act:end"
  done
fi
missed=""
for hook in $hooks; do
  round "$hook" 1
  [[ $HIT == yes ]] || missed+=" $hook"
done
[[ -z $missed ]] || fail "never hit:$missed"
sums_right acme alice 2
no_gap acme alice
history_intact
