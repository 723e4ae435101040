# A cluster's slurmctld stands still for three seconds, then is away for a whole minute: that shows,
# the job runs on, and no node is drained, claimed or blamed for it.
# slow
source "$(dirname "$0")/lib/common.bash"

lab_up --nodes 3
import_site
tenant acme alice 64
create train acme 2 1
job=$(ring train acme alice 2 1000000) || fail "sbatch"
await 30 "the job makes steps" steps_pass 3 acme alice
ctld() { on svc01 pgrep -x slurmctld | head -n 1; }
ctld_runs() { [[ $(ctld) != "" ]]; }
drains() { slurm train sinfo -h -N -o "%T" | grep -ciE "drain|down|fail"; }
act_counts() {
  api GET /metrics | sed -n 's/^tundish_driver_calls{act="\(.*\)"} \(.*\)/\1 \2/p' | sort
}
reboots() { lab_get /status | jq '[.nodes[].boots] | add'; }
told() { tundish status -o json | jq -r '.notices[]' | grep "^cluster train: its engine"; }
reason() { tundish cluster show train -o json | jq -r .status.reason; }
# Read from tundishd, which must not need Slurm for it.
disturbed() {
  [[ $(all_incidents) != 0 || $(tundish claim list -o json | jq length) != 0 ||
    $(tundish proposal list -o json | jq length) != 0 ]] ||
    [[ $(members train leaving) != "" || $(members train member | wc -w) != 2 ]]
}
as_before() { # what Slurm says once it is there again
  await 20 "slurmctld answers" answers
  equal "the job is" "$(job_field train "$job" JobState)" RUNNING
  equal "its restarts" "$(job_field train "$job" Restarts)" 0
  equal "nodes that Slurm drained or lost" "$(drains)" 0
}
answers() { slurm train scontrol ping | grep -q UP; }
no_word() { ! told; }
before=$(reboots) did=$(act_counts)
equal "before" "$(drains)" 0

# Three seconds of standing still.
pid=$(ctld)
on svc01 kill -STOP "$pid" || fail "no slurmctld"
never 3 "a slurmctld that stands still disturbed something" disturbed
on svc01 kill -CONT "$pid"
never 5 "it disturbed something when it went on" disturbed
as_before
equal "it is the same slurmctld" "$(ctld)" "$pid"

# A minute away: the hold keeps tundishd from starting it again.
exits 0 tundish hold set --scope cluster:train --reason "slurmctld is kept away" >/dev/null
count=$(step_count acme alice)
on svc01 kill -KILL "$pid"
since=$SECONDS
await 30 "status tells of it" told
has "as unknown" "$(told)" "unknown, not broken"
has "the cluster tells of it" "$(reason)" "has not answered"
equal "the cluster is" "$(cluster_phase train)" active
never $((60 - (SECONDS - since))) "a slurmctld that is away disturbed something" disturbed
equal "slurmctld is still away" "$(ctld)" ""
say "it says: $(told)"
ran=$(($(step_count acme alice) - count))
((ran > 20)) || fail "the job made only $ran steps in the minute"
say "steps in the minute: $ran"
exits 0 tundish hold release cluster:train >/dev/null
await 40 "tundishd started it again" ctld_runs
as_before
await 20 "status tells nothing any more" no_word
never 5 "it disturbed something afterwards" disturbed
as_before
equal "reboots" "$(reboots)" "$before"
# Of all acts only the set-up of the controller, which starts what is dead, was done.
equal "acts beside that" "$(diff <(printf '%s\n' "$did") <(act_counts) | grep '^>' |
  awk '{print $2}' | grep -v '^setup_controller$' | paste -sd' ')" ""
count=$(step_count acme alice)
await 20 "the job goes on" steps_pass $((count + 5)) acme alice
sums_right acme alice 2
no_gap acme alice
history_intact
