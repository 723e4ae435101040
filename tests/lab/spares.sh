# Faults where it hurts more: a spare that fails while it joins, two faults on one node, the last
# slow
# spare, a fault that no repair cures.
source "$(dirname "$0")/lib/common.bash"

lab_up --nodes 5
import_site
tenant acme alice 64
create train acme 2 1
read -r first second <<<"$(members train member)"
spare=$(members train spare)
job=$(ring train acme alice 2 100000) || fail "sbatch"
await 30 "the job makes steps" steps_pass 4 acme alice
whole() { [[ $(cluster_phase train) == active && $(members train member | wc -w) == 2 ]]; }
settled() { [[ $(incident_state "$1") == resolved && $(active_claims "$1") == 0 ]]; }

# The spare fails while it joins: another free node takes the place, the job restarts and goes on.
bound() { [[ " $(members train member) " == *" $1 "* ]]; }
inject --node "$first" --xid 79 --gpu 0
await 15 "the spare is bound" bound "$spare"
inject --node "$spare" --xid 79 --gpu 4
await 60 "the first fault is settled" settled "$first"
await 60 "the fault of the spare is settled" settled "$spare"
await 60 "the cluster is whole" whole
back() { ! runs_on acme alice "$first" && ! runs_on acme alice "$spare" && \
  [[ $(last_step acme alice | jq .restart) == $(job_field train "$job" Restarts) ]]; }
await 60 "the job runs on neither of them" back
for node in $first $spare; do equal "incidents on $node" "$(incident_count "$node")" 1; done
for node in $first $spare; do equal "boots of $node" "$(boots "$node")" 2; done
equal "the job is" "$(job_field train "$job" JobState)" RUNNING
(($(job_field train "$job" Restarts) <= 2)) || fail "more than two restarts"
say "restarts: $(job_field train "$job" Restarts)"
await 60 "a spare stands ready" bash -c "[[ -n \$(tundish allocation show train -o json |
  jq -r '.status.nodes[] | select(.role == \"spare\").node') ]]"

# Two faults on one node, the second during its repair: one incident, one return, not too early.
read -r first second <<<"$(members train member)"
count=$(boots "$first") known=$(incident_count "$first")
restarts=$(job_field train "$job" Restarts)
inject --node "$first" --xid 79 --gpu 0
# Its boot takes 1.5 s. Meanwhile it is cut off, so that the hold comes before what follows.
end=$((SECONDS + 20 * PATIENCE))
until [[ $(lab_get "/nodes/$first" | jq -r .phase) != running ]]; do
  ((SECONDS < end)) || fail "its repair did not begin within $((20 * PATIENCE)) s"
done
lab_post /network "{\"node\":\"$first\",\"oob\":\"down\"}"
say "its repair has begun"
exits 0 tundish hold set --scope "node:$first" --reason "so that the second one comes in time" \
  >/dev/null
lab_post /network "{\"node\":\"$first\",\"oob\":\"up\"}"
running() { [[ $(lab_get "/nodes/$first" | jq -r .phase) == running ]] &&
  [[ $(incidents "$first" | jq -r '.[-1].policy_state') == wipe ]]; }
# Real work on each of its GPUs takes a busy machine a minute.
await 60 "it has booted and passed its checks" running
inject --node "$first" --xid 95 --gpu 6
second_seen() { (($(incidents "$first" | jq '.[-1].witnesses | length') > 1)); }
await 10 "the second fault is a witness of the same incident" second_seen
exits 0 tundish hold release "node:$first" >/dev/null
await 90 "both are settled" settled "$first"
equal "incidents for both" "$(($(incident_count "$first") - known))" 1
did=$(acts "$first")
[[ $did == *reset* || $(boots "$first") -gt $((count + 1)) ]] ||
  fail "the second fault was not repaired: $did"
say "it did: $did"
await 60 "the cluster is whole" whole
restarted() { [[ $(last_step acme alice | jq .restart) == $((restarts + 1)) ]]; }
await 40 "the job restarted once for both" restarted

# No spare and no free node is left: degraded, says so, recovers with the repaired node.
exits 0 tundish cluster scale train --nodes 2 --spares 0 --wait --timeout 60s >/dev/null
idle() { [[ $(members train spare) == "" && $(members train leaving) == "" ]] && all_ready_or_held; }
all_ready_or_held() {
  [[ $(nodes_json | jq '[.[] | select(.status.phase == "wiping" or
    .status.phase == "revalidating")] | length') == 0 ]]
}
await 60 "the spare went back" idle
for node in $(nodes_json | jq -r '.[] | select(.spec.role == "gpu" and .status.phase == "ready")
  .meta.name'); do
  exits 0 tundish node drain "$node" --reason "kept away by the test" --yes >/dev/null
done
read -r first second <<<"$(members train member)"
restarts=$(job_field train "$job" Restarts)
lab_post /bmc "{\"node\":\"$first\",\"mode\":\"late\",\"delay_ms\":4000}"
inject --node "$first" --xid 79 --gpu 1
await 20 "the cluster is degraded" is cluster_phase train = degraded
differs "reason of the cluster" "$(tundish cluster show train -o json | jq -r .status.reason)" ""
says=$(tundish cluster show train -o json | jq -r .status.reason)
[[ -n $says ]] || fail "it does not say why it is degraded"
say "it says: $says"
await 90 "the fault is settled" settled "$first"
await 60 "the cluster recovered" whole
recovered() { [[ $(last_step acme alice | jq .restart) == $((restarts + 1)) ]]; }
await 60 "the job goes on" recovered

# A fault that comes back after every repair: RMA, the claim is held, the job runs elsewhere.
for node in $(nodes_json | jq -r '.[] | select(.spec.role == "gpu" and .status.phase == "ready")
  .meta.name'); do
  exits 0 tundish node return "$node" --reason "back" --yes >/dev/null
done
lab_post /bmc "{\"node\":\"$first\",\"mode\":\"normal\"}"
read -r first second <<<"$(members train member)"
inject --node "$first" --xid 79 --gpu 7 --sticky
await 120 "it ends in RMA" is incident_state "$first" = rma
equal "the claim is held" "$(active_claims "$first")" 1
await 40 "the cluster is whole without it" whole
[[ " $(members train member) " != *" $first "* ]] || fail "$first is still a member"
text=$(tundish node explain "$first")
has "it is said why" "$text" claim
(($(boots "$first") > 2)) || fail "no repair was tried"
sums_right acme alice 2
no_gap acme alice
history_intact
