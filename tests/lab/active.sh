# Active checks: a whole node passes, a slow or wrong GPU is named with its number and limit and its
# node taken out, what is not installed is unknown; the real fio on the local disk; an agent that is
# killed leaves nothing running; a node that is given away ends its check within a second.
source "$(dirname "$0")/lib/common.bash"

lab_up --nodes 4 --login-nodes 1
import_site
tenant acme alice 24
verdict() { # CHECK FIELD: of the run on standard input
  jq -r --arg c "$1" ".verdicts[] | select(.check == \$c) | .$2" | head -1
}
edit() { # NODE SED: the state of its simulated GPUs
  local state=$ROOT/nodes/$1/hw/nvml.state
  sed "$2" "$state" >"$state.new" && mv "$state.new" "$state"
}

has "the list" "$(tundish check list --active)" "gpu_burn"
report=$(exits 0 tundish check run n01 --active --check gpu_work --check nvbandwidth -o json) || exit 1
for check in gpu_work nvbandwidth; do
  equal "$check of a whole node" "$(sed '/^[a-z]/d' <<<"$report" | verdict $check state)" ok
done

# DCGM's engine does not run on these nodes: that is no witness, and nothing that nobody knows.
dcgm_says() { on n01 dcgmi health -g 0 -c -j 2>&1 || true; }
has "dcgmi finds no engine" "$(dcgm_says)" "Unable to connect to host engine"
has_not() { [[ $2 != *"$3"* ]] || fail "$1: '$3' is in: $2"; }
has_not "nor does the agent miss its word" "$(tundish node explain n01)" "other_programs"

# The disk is the machine's own, and so is fio.
report=$(exits 0 tundish check run n01 --active --check fio -o json) || exit 1
equal "fio" "$(sed '/^[a-z]/d' <<<"$report" | verdict fio state)" ok

# One GPU that is held at half its clock and one that computes wrongly, both silently. Whoever looks
# for themselves finds a fault as anybody: the node is taken out and they are told.
open_on() { tundish incident list -o json | jq -r '[.[] | select(.state == "open")] | length'; }
slow=$(sed -n '/index=1 /s/.*pci=0000:\([0-9a-f:]*\)\.0.*/0000:\1/p' "$ROOT/nodes/n04/hw/nvml.state")
equal "open incidents" "$(open_on)" 0
edit n04 '/index=1 /s/clock_lost=0/clock_lost=990/; /index=2 /s/wrong_sums=0/wrong_sums=2/'
text=$(exits 3 tundish check run n04 --active --check gpu_work) || exit 1
has "the slow GPU is named" "$text" "$slow"
has "with the limit" "$text" "limit 85"
has "wrong sums are told" "$text" "sums of matrix products are wrong"
equal "GPUs that are accused" "$(grep -c ' fail ' <<<"$text")" 2
has "what happens next" "$text" "is open on n04"
equal "open incidents" "$(open_on)" 1
has "n04 is out of service" "$(tundish claim list)" "n04"

# What is not installed says nothing of the node.
on n01 rm /usr/bin/nvbandwidth
text=$(exits 4 tundish check run n01 --active --check nvbandwidth) || exit 1
has "the missing program is named" "$text" "nvbandwidth is not installed; it comes with"

# The agent is killed in the middle of a check: what it ran is gone, and the check is unknown.
(tundish check run n03 --active --check gpu_burn -o json >"$WORK/killed.json" 2>/dev/null
  echo $? >"$WORK/killed.code") &
CHILDREN+=($!)
working() { pgrep_in n03 gpu_burn >/dev/null; }
pgrep_in() { # NODE NAME: processes of that name whose network is the node's
  on "$1" sh -c 'for p in $(pgrep -x "$1"); do
    [ "$(readlink "/proc/$p/ns/net")" = "$(readlink /proc/self/ns/net)" ] && echo "$p" && found=1
  done; [ -n "$found" ]' sh "$2"
}
await 10 "gpu_burn runs on n03" working
agents=$(pgrep_in n03 tundish-agent)
equal "agents on n03" "$(wc -w <<<"$agents")" 1
on n03 kill -9 "$agents"
start=$(date +%s%N)
while working; do
  (($(date +%s%N) - start < 5000000000)) || fail "gpu_burn still runs 5 s after its agent was killed"
done
ms=$((($(date +%s%N) - start) / 1000000))
((ms < 1000 * PATIENCE)) || fail "gpu_burn ran for $ms ms after its agent was killed"
say "gpu_burn was gone $ms ms after its agent was killed"
await 40 "the run was told" test -s "$WORK/killed.code"
equal "exit code of the run whose agent died" "$(cat "$WORK/killed.code")" 4
has "why" "$(verdict gpu_burn reason <"$WORK/killed.json")" "the agent was started anew"

# A heavy check on a free node; then placement takes all nodes.
(tundish check run n02 --active --check gpu_burn -o json >"$WORK/burn.json" 2>"$WORK/burn.err"
  echo $? >"$WORK/burn.code") &
CHILDREN+=($!)
burning() { on n02 pgrep -x gpu_burn >/dev/null; }
await 10 "gpu_burn runs on n02" burning
taken() { [[ $(node_phase n02) != ready ]]; }
tundish cluster create train --tenant acme --engine slurm --nodes 3 --spares 0 >"$WORK/create" 2>&1 &
CHILDREN+=($!)
for _ in {1..100}; do taken && break; sleep 0.05; done
taken || fail "placement did not take n02"
start=$(date +%s%N)
while burning; do
  (($(date +%s%N) - start < 5000000000)) || fail "gpu_burn still runs 5 s after n02 was taken"
done
ms=$((($(date +%s%N) - start) / 1000000))
((ms < 1000 * PATIENCE)) || fail "gpu_burn ran for $ms ms after n02 was taken"
say "gpu_burn was gone $ms ms after n02 was seen to be taken"
await 10 "the run was told" test -s "$WORK/burn.code"
equal "exit code of the preempted run" "$(cat "$WORK/burn.code")" 4
has "it is unknown" "$(verdict gpu_burn reason <"$WORK/burn.json")" "preempted"
await 60 "the cluster is active" is cluster_phase train = active
# A node of a tenant is not put under load.
has "a node of a tenant is refused" "$(exits 3 tundish check run n02 --active)" "allocation"
