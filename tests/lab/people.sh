# People come first: another's drain is never cleared, a resume stays, holds and `advise` stop acts.
# slow
source "$(dirname "$0")/lib/common.bash"

lab_up
import_site
tenant acme alice 64
create train acme 3 1
read -r first second third <<<"$(members train member)"
spare=$(members train spare)
drained() { [[ $(node_state train "$1") == *DRAIN* ]]; }
not_drained() { ! drained "$1"; }

# An administrator's drain with a reason of his own, before and through an incident elsewhere.
slurm train scontrol update "nodename=$first" state=drain "reason=fan noise, ask Ada" ||
  fail "scontrol"
await 10 "Slurm drained $first for the administrator" drained "$first"
cleared() { not_drained "$first" || [[ $(node_reason train "$first") != *"fan noise"* ]]; }
job=$(ring train acme alice 2 100000) || fail "sbatch"
await 30 "the job makes steps" steps_pass 3 acme alice
equal "it runs beside the drained node" "$(last_step acme alice | jq -r '.nodes | sort | join(" ")')" \
  "$(printf '%s\n' "$second" "$third" | sort | paste -sd' ')"
inject --node "$second" --xid 79 --gpu 2
await 40 "the job makes steps on the spare" runs_on acme alice "$spare"
await 60 "that incident is resolved" is incident_state "$second" = resolved
await 30 "the repaired node is the spare" is members train spare = "$second"
never 3 "we cleared the drain of an administrator" cleared
equal "incidents on the drained node" "$(incident_count "$first")" 0
equal "restarts of the job" "$(job_field train "$job" Restarts)" 1
restart_daemon
never 3 "a restart cleared the drain of an administrator" cleared
slurm train scontrol update "nodename=$first" state=resume || fail "scontrol"
await 10 "the administrator resumed $first" not_drained "$first"

# A hold: nothing acts until it is released, also after a crash; what people do still works.
exits 0 tundish hold set --reason "audit" >/dev/null
count=$(boots "$third")
restarts=$(job_field train "$job" Restarts)
inject --node "$third" --xid 79 --gpu 1
await 10 "the incident is open under the hold" is incident_state "$third" = open
touched() {
  drained "$third" || [[ $(boots "$third") != "$count" ]] ||
    [[ $(job_field train "$job" Restarts) != "$restarts" || $(members train leaving) ]]
}
never 3 "something acted under a hold" touched
restart_daemon
await 20 "every agent is heard again" all_heard # only a spare that is heard can stand in
never 2 "something acted under a hold after a restart" touched
equal "the node blocks new placement" "$(active_claims "$third")" 1
exits 0 tundish tenant create later --gpus 8 >/dev/null
hold=$(tundish hold list -o json | jq -r '.[0].meta.name // .[0].id')
exits 0 tundish hold release "$hold" >/dev/null
await 40 "after the release the job runs without the node" \
  runs_without acme alice "$third" $((restarts + 1))
await 60 "the incident is resolved" is incident_state "$third" = resolved
equal "boots of that node" "$(boots "$third")" $((count + 1))
equal "restarts of the job" "$(job_field train "$job" Restarts)" $((restarts + 1))
await 30 "the repaired node is the spare" is members train spare = "$third"

# The rack at advise: a proposal, nothing touched, until it is approved; or denied.
exits 0 tundish authority set --scope rack:r01 --level advise >/dev/null
job_node() { last_step acme alice | jq -r ".nodes[$1]"; }
victim=$(job_node 0) count=$(boots "$(job_node 0)")
restarts=$(job_field train "$job" Restarts)
inject --node "$victim" --xid 79 --gpu 5
waiting() { tundish proposal list -o json | jq -er '[.[] | select(.state == "waiting")] | .[0].id'; }
await 15 "a proposal appears" waiting
untouched=$victim
advised() {
  drained "$untouched" || [[ $(boots "$untouched") != "$count" ]] ||
    [[ $(job_field train "$job" Restarts) != "$restarts" ]]
}
never 4 "something was touched before the approval" advised
exits 0 tundish proposal approve "$(waiting)" --reason "go" >/dev/null
await 40 "after the approval the job runs on" \
  runs_without acme alice "$victim" $((restarts + 1))
await 60 "the incident is resolved" is incident_state "$victim" = resolved
equal "boots of that node" "$(boots "$victim")" $((count + 1))
equal "restarts of the job" "$(job_field train "$job" Restarts)" $((restarts + 1))

denied=$(job_node 0)
untouched=$denied count=$(boots "$denied")
restarts=$(job_field train "$job" Restarts)
inject --node "$denied" --xid 79 --gpu 5
await 15 "a proposal appears" waiting
exits 0 tundish proposal deny "$(waiting)" --reason "after the run" >/dev/null
never 4 "something was touched after the denial" advised
equal "the incident of the denied proposal is" "$(incident_state "$denied")" open
exits 0 tundish authority set --scope rack:r01 --level act >/dev/null
never 3 "something was touched although it was denied" advised
proposal=$(tundish proposal list -o json | jq -r '[.[] | select(.state == "denied")] | .[-1].id')
has "node explain names the way out" "$(tundish node explain "$denied")" \
  "tundish proposal approve $proposal"
has "resume does not pretend" "$(exits 3 tundish incident resume "$(incident_id "$denied")" 2>&1)" \
  "tundish proposal approve $proposal"

# A person resumes a node that we drained for an incident: it stays resumed.
victim=$(job_node 1) count=$(boots "$(job_node 1)")
inject --node "$victim" --xid 48 --gpu 0 # its device works on: it waits for the job, drained
await 15 "we drained $victim" drained "$victim"
say "with $(node_reason train "$victim")"
slurm train scontrol update "nodename=$victim" state=resume || fail "scontrol"
await 10 "a person resumed $victim" not_drained "$victim"
await 15 "the incident is overridden" is incident_state "$victim" = overridden
never 5 "we drained again what a person resumed" drained "$victim"
equal "claims in force" "$(active_claims "$victim")" 0
equal "the claim is" "$(tundish claim list -o json | jq -r --arg n "$(node_id "$victim")" \
  '[.[] | select(.node == $n)] | sort_by(.since) | .[-1].state')" overridden
restart_daemon
never 3 "after a restart we drained what a person resumed" drained "$victim"
equal "boots of that node" "$(boots "$victim")" "$count"

# The mind is changed about the denied one: it goes on.
count=$(boots "$denied")
exits 0 tundish proposal approve "$proposal" --reason "after all" >/dev/null
await 90 "what was denied is repaired after all" is incident_state "$denied" = resolved
equal "boots of that node" "$(boots "$denied")" $((count + 1))
history_intact
