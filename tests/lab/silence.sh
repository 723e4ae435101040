# Losing sight is no fault: agents cut off, an agent killed, slurmctld stopped or dead - no job is
# touched and no node is claimed; a fault inside the silence is handled once, afterwards.
# slow
# TUNDISH_SILENCE_S=600 for the full ten minutes.
source "$(dirname "$0")/lib/common.bash"
silence=${TUNDISH_SILENCE_S:-60}

lab_up --nodes 3
import_site
tenant acme alice 64
create train acme 2 1
read -r first second <<<"$(members train member)"
spare=$(members train spare)
job=$(ring train acme alice 2 1000000) || fail "sbatch"
await 30 "the job makes steps" steps_pass 3 acme alice
settled() { [[ $(incident_state "$1") == resolved && $(active_claims "$1") == 0 ]]; }
ctld() { on svc01 pgrep -x slurmctld | head -n 1; }
disturbed() {
  [[ $(all_incidents) != "$1" || $(tundish claim list -o json |
    jq '[.[] | select(.state == "active")] | length') != 0 ]] ||
    [[ $(tundish allocation show train -o json | jq '[.status.nodes[] |
      select(.role == "leaving")] | length') != 0 ]]
}
restarts() { job_field train "$job" Restarts; }

# slurmctld stopped for three seconds, then killed for a while: an unreachable controller is no fault.
pid=$(ctld)
on svc01 kill -STOP "$pid" || fail "no slurmctld"
never 3 "a stopped slurmctld disturbed something" disturbed 0
on svc01 kill -CONT "$pid"
answers() { slurm train scontrol ping | grep -q UP; }
await 10 "slurmctld answers again" answers
pid=$(ctld)
on svc01 kill -KILL "$pid"
never 10 "a dead slurmctld disturbed something" disturbed 0
count=$(step_count acme alice)
await 10 "the job runs on without slurmctld" steps_pass $((count + 5)) acme alice
said=$(tundish cluster show train -o json | jq -r '.status | "\(.phase) \(.reason)"')
say "meanwhile the cluster is: $said"
# In a fault meanwhile the claim stands at once and the swap waits for Slurm.
inject --node "$second" --xid 79 --gpu 2
await 10 "a fault meanwhile is an incident" is incident_state "$second" = open
await 120 "slurmctld is there again" answers
await 60 "the job makes steps on the spare" runs_on acme alice "$spare"
await 90 "the fault is settled" settled "$second"
equal "incidents" "$(all_incidents)" 1
equal "restarts" "$(restarts)" 1
equal "the job is" "$(job_field train "$job" JobState)" RUNNING
await 30 "the repaired node is the spare" is members train spare = "$second"
await 20 "the cluster is whole" is cluster_phase train = active

# An agent is killed in the middle of an incident on its node: it comes back and nothing is doubled.
victim=$first spare=$second
count=$(boots "$victim")
inject --node "$victim" --xid 95 --gpu 1
await 10 "the incident is open" is incident_state "$victim" = open
lab_post /agent "{\"node\":\"$victim\",\"action\":\"kill\"}"
lab_post /agent "{\"node\":\"$spare\",\"action\":\"kill\"}"
lab_post /agent '{"node":"svc01","action":"kill"}'
await 60 "the job makes steps on the spare" runs_on acme alice "$spare"
await 90 "the fault is settled" settled "$victim"
equal "incidents" "$(all_incidents)" 2
equal "restarts" "$(restarts)" 2
witnesses=$(incidents "$victim" | jq '.[-1].witnesses | length')
equal "witnesses of the fault" "$witnesses" 1
await 30 "the repaired node is the spare" is members train spare = "$victim"

# Every agent is cut off.
all=$(nodes_json | jq -r '.[].meta.name')
read -r first second <<<"$(members train member)"
spare=$(members train spare)
reboots() { lab_get /status | jq '[.nodes[].boots] | add'; }
before=$(reboots)
for node in $all; do lab_post /network "{\"node\":\"$node\",\"oob\":\"down\"}"; done
cut=$SECONDS
silent() { [[ $(tundish status -o json | jq .agents_heard) == 0 ]]; }
await 60 "nobody is heard" silent
lab_post /fault "$(jq -n --arg n "$first" '{node: $n, gpu: 0, kind: "ecc_uncorrected", sticky: false,
  line: "NVRM: Xid (PCI:0000:1b:00): 48, pid=1, name=x, DBE (double bit error) ECC error",
  level: 4, facility: "kernel"}')"
left=$((silence - (SECONDS - cut)))
never $((left > 0 ? left : 1)) "silence opened an incident or claimed a node" disturbed 2
count=$(step_count acme alice)
await 10 "the job ran on" steps_pass $((count + 5)) acme alice
equal "restarts" "$(restarts)" 2
equal "no node was rebooted" "$(reboots)" "$before"
has "status says that they are unknown" "$(tundish status -o json | jq -c .notices)" "not heard"
for node in $all; do lab_post /network "{\"node\":\"$node\",\"oob\":\"up\"}"; done
await 60 "the fault inside the silence is an incident" is incident_count "$first" = 2
await 60 "everybody is heard again" all_heard
# 48 leaves the job running; it ends by its own will, and then the repair goes on.
equal "the job still runs" "$(job_field train "$job" JobState)" RUNNING
slurm train scancel "$job"
await 120 "it is settled" settled "$first"
equal "incidents at the end" "$(all_incidents)" 3
await 60 "the cluster is whole" is cluster_phase train = active
no_gap acme alice
sums_right acme alice 2
history_intact
