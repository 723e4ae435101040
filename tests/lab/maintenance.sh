# People work on a node of a running cluster: the job is waited for, no spare is used up, a fault in
# the window is recorded and neither paged nor acted on, and only real checks give the node back.
source "$(dirname "$0")/lib/common.bash"

lab_up --nodes 4
import_site
tenant acme alice 64
create train acme 2 1
member=$(members train member | awk '{print $1}')
spare=$(members train spare)
job=$(ring train acme alice 2 40) || fail "sbatch"
await 30 "the job makes steps" steps_pass 3 acme alice

window() { tundish maintenance list -o json | jq -r ".[0].$1"; }
node_of_window() { window "nodes[0].$1"; }

# Bad input changes nothing.
exits 2 tundish maintenance create --scope "node:$member" --for 1h >/dev/null
exits 3 tundish maintenance create --scope "node:$member" --end "2020-01-01 10:00" --reason x >/dev/null
exits 3 tundish maintenance create --scope node:nowhere --for 1h --reason x >/dev/null
exits 3 tundish maintenance create --scope tenant:acme --for 1h --reason x >/dev/null
equal "windows after bad input" "$(tundish maintenance list -o json | jq length)" 0

exits 0 tundish maintenance create --scope "node:$member" --for 1h --reason "new fans" >/dev/null
exits 3 tundish maintenance create --scope "rack:r01" --begin +30m --for 1h --reason again >/dev/null
await 15 "the node takes no new work" is node_of_window state = draining
has "it waits for the job" "$(node_of_window reason)" "running job"
equal "the job" "$(job_field train "$job" JobState)" RUNNING
equal "the member is still a member" "$(members train member | grep -cw "$member")" 1
equal "the spare is still a spare" "$(members train spare)" "$spare"
exits 0 slurm train scancel "$job" >/dev/null
await 30 "the node is known to be empty" is node_of_window state = empty

# A fault while people work: recorded, nothing follows.
count=$(boots "$member")
lab_post /fault "{\"node\": \"$member\", \"gpu\": 1, \"kind\": \"none\", \"sticky\": false,
  \"line\": \"NVRM: Xid (PCI:0000:43:00): 95, pid=1, name=x, Uncontained: FBHUB. RST: Yes, D-RST: No\",
  \"level\": 4, \"facility\": \"kernel\"}"
await 15 "the fault is recorded" is incident_count "$member" = 1
never 5 "it was acted on" sh -c "[ $(boots "$member") != $count ]"
equal "its notice" "$(tundish notice list -o json | jq -r '.[0].notice_class')" maintenance
equal "the spare is still a spare" "$(members train spare)" "$spare"
id=$(incident_id "$member")

# Off and on again, as people do: nothing happens to the node, and a restart of ours forgets nothing.
lab_post /power "{\"node\": \"$member\", \"action\": \"cycle\"}"
await 30 "the node was switched off and on" is boots "$member" = $((count + 1))
restart_daemon
await 40 "its agent is back" all_heard
equal "the window goes on" "$(window state)" active

exits 0 tundish maintenance end "$(window id)" --wait --timeout 90s >/dev/null
equal "the window" "$(window state)" ended
equal "the node was proved" "$(node_of_window state)" proved
equal "the incident of the window" "$(incident_state "$member")" closed
equal "claims on the node" "$(active_claims "$member")" 0
await 30 "the cluster is whole" is cluster_phase train = active
equal "its members" "$(members train member | grep -cw "$member")" 1
equal "its spare" "$(members train spare)" "$spare"
equal "boots of the node" "$(boots "$member")" $((count + 1))
job=$(ring train acme alice 2 20 after) || fail "sbatch after the maintenance"
await 60 "a job runs on it again" runs_on acme alice "$member" after
history_intact
