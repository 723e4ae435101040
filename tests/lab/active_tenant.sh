# Active checks inside a tenant's running cluster: none without consent; with it they run on an idle
# node as a job of Slurm's that gives way; the tenant's job starts at once in its place; who withdraws
# consent ends it within a second; a fault that one finds is an incident, and the tenant sees it.
# slow
source "$(dirname "$0")/lib/common.bash"

lab_up --nodes 4 --login-nodes 1
import_site
tenant acme alice 24
create train acme 2 1
read -r first second <<<"$(members train member)"
token=$(tundish token create alice-admin --tenant acme --role tenant-admin -o json | jq -r .token)
tenants() { tundish --token "$token" "$@"; }
consent() { tundish cluster show train -o json | jq -r ".$1"; }
queues() { slurm train sinfo -h -o %R | sort -u | paste -sd' '; }
jobs() { # OF WHOM: states in the engine's accounts, oldest first
  slurm train sacct -n -X -a -P -o User,Account,JobName,State | awk -F'|' -v u="$1" \
    '$1 == u && $3 == "tundish-check" {print $2 ":" $4}' | sed 's/ by .*//' | paste -sd' '
}
verdict() { sed '/^[a-z]/d' | jq -r '.verdicts[0].'"$1"; } # of the run on standard input
pgrep_in() { # NODE NAME: a process of that name whose network is the node's
  on "$1" sh -c 'for p in $(pgrep -x "$1"); do
    [ "$(readlink "/proc/$p/ns/net")" = "$(readlink /proc/self/ns/net)" ] && exit 0
  done; exit 1' sh "$2"
}
burn() { # in the background; exit code in burn.code, run in burn.json
  rm -f "$WORK"/burn.*
  (tundish check run "$first" --active --check gpu_burn -o json >"$WORK/burn.json" 2>"$WORK/burn.err"
    echo $? >"$WORK/burn.code") &
  CHILDREN+=($!)
  await 15 "gpu_burn runs on $first" pgrep_in "$first" gpu_burn
}
burnt() { # WHY: it was ended, and says nothing of the node
  await 15 "the run was told" test -s "$WORK/burn.code"
  equal "exit code" "$(cat "$WORK/burn.code")" 4
  equal "verdict" "$(verdict state <"$WORK/burn.json")" unknown
  has "why" "$(verdict reason <"$WORK/burn.json")" "$1"
}
ready() { # as tundishd sees it, a moment later than Slurm
  idle && tundish check run "$first" --active --check gpu_work --dry-run
}
idle() { [[ $(node_state train "$first") == State=IDLE && $(node_state train "$second") == State=IDLE ]]; }

# Without consent: nothing, and no trace of it in the tenant's Slurm.
equal "consent of a new cluster" "$(consent spec.allow_checks)" false
equal "partitions" "$(queues)" main
has "refused without consent" "$(exits 3 tundish check run "$first" --active)" \
  "allows no active checks"

# The tenant consents, and it shows who did.
exits 0 tenants cluster checks train --allow >/dev/null
equal "consent" "$(consent spec.allow_checks)" true
has "who gave it" "$(consent status.checks_by)" alice-admin
both() { [[ $(queues) == "main tundish-check" ]]; }
await 20 "Slurm has the partition of checks" both
await 20 "a check may run" ready
report=$(exits 0 tundish check run "$first" --active --check gpu_work -o json) || exit 1
equal "gpu_work in the cluster" "$(verdict state <<<"$report")" ok
equal "as a job of the checks' own account" "$(jobs root)" tundish-check:COMPLETED
has "the tenant sees the result" "$(exits 0 tenants cluster checks train)" "gpu_work"

# A spare and a node at work are left alone.
has "a spare" "$(exits 3 tundish check run "$(members train spare)" --active)" "no"

# The tenant's job comes, on both nodes: it starts at once, and nothing burns beside it.
submit() { # NODES: from submission to the first line of the job, in ms
  login train alice "rm -f /data/alice/start; cat >/data/alice/job.sh <<'X'
#!/bin/sh
pgrep -x gpu_burn >/data/alice/beside
date +%s%N >/data/alice/start.new && mv /data/alice/start.new /data/alice/start
sleep 1
X
    date +%s%N >/data/alice/asked; cd /data/alice && sbatch -N$1 --gpus-per-node=8 job.sh" >/dev/null ||
    fail "sbatch"
  local data=$ROOT/storage/acme/alice
  await 20 "the tenant's job started" test -s "$data/start"
  waited=$((($(cat "$data/start") - $(cat "$data/asked")) / 1000000))
}
await 20 "the nodes are idle" idle
submit 2
alone=$waited
await 20 "a check may run" ready
burn
has "the tenant sees what runs" "$(login train alice 'squeue -h -o "%j %u %P %T"')" \
  "tundish-check root tundish-check RUNNING"
submit 2
say "the tenant's job started after $alone ms on idle nodes, after $waited ms in place of a check"
((waited < 3000 * PATIENCE)) || fail "the tenant's job waited $waited ms for a check"
burnt "preempted: Slurm ended job"
has "by preemption" "$(verdict reason <"$WORK/burn.json")" PREEMPTED
! pgrep_in "$first" gpu_burn || fail "gpu_burn still runs"

# The tenant cancels one by hand.
await 20 "a check may run" ready
burn
login train alice 'scancel --name=tundish-check --user=root' || fail "alice may not cancel a check"
burnt CANCELLED

# Consent is withdrawn: within a second nothing runs, and the partition goes.
await 20 "a check may run" ready
burn
start=$(date +%s%N)
exits 0 tenants cluster checks train --deny >/dev/null
while pgrep_in "$first" gpu_burn; do
  (($(date +%s%N) - start < 8000000000)) || fail "gpu_burn still runs 8 s after consent ended"
done
ms=$((($(date +%s%N) - start) / 1000000))
say "gpu_burn was gone $ms ms after consent ended, the call included"
((ms < 2000 * PATIENCE)) || fail "gpu_burn ran for $ms ms after consent ended"
burnt "allows no active checks"
only() { [[ $(queues) == main ]]; }
await 20 "the partition is gone" only
equal "open incidents" "$(tundish incident list -o json | jq '[.[] | select(.state == "open")] | length')" 0

# A wrong GPU: the check fails, an incident opens, the spare takes its place, the tenant sees why.
exits 0 tundish cluster checks train --allow >/dev/null
await 20 "Slurm has the partition again" both
await 20 "a check may run" ready
state=$ROOT/nodes/$first/hw/nvml.state
sed '/index=2 /s/wrong_sums=0/wrong_sums=2/' "$state" >"$state.new" && mv "$state.new" "$state"
has "the fault is found" "$(exits 3 tundish check run "$first" --active --check gpu_work)" \
  "sums of matrix products are wrong"
replaced() { [[ " $(members train member) " != *" $first "* ]]; }
await 60 "the spare took the place of $first" replaced
incident=$(incident_id "$first")
mine=$(TOKEN=$token api GET "/v1/incidents/$incident")
equal "status of the tenant's call" "$(cat "$WORK/code")" 200
has "the tenant learns which check failed" "$mine" "gpu_work"
for secret in leaf1 svc01 TND24 r01; do
  [[ $mine != *"$secret"* ]] || fail "the tenant reads $secret: $mine"
done
history_intact
