# Active checks: a whole node passes, a slow or wrong GPU is named with its number and limit, what is
# not installed is unknown; a node that is given away ends its check within a second.
source "$(dirname "$0")/lib/common.bash"

lab_up --nodes 3 --login-nodes 1
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

# One GPU that is held at half its clock and one that computes wrongly, both silently.
slow=$(sed -n '/index=1 /s/.*pci=0000:\([0-9a-f:]*\)\.0.*/0000:\1/p' "$ROOT/nodes/n01/hw/nvml.state")
edit n01 '/index=1 /s/clock_lost=0/clock_lost=990/; /index=2 /s/wrong_sums=0/wrong_sums=2/'
text=$(exits 3 tundish check run n01 --active --check gpu_work) || exit 1
has "the slow GPU is named" "$text" "$slow"
has "with the limit" "$text" "limit 85"
has "wrong sums are told" "$text" "sums of matrix products are wrong"
equal "GPUs that are accused" "$(grep -c ' fail ' <<<"$text")" 2
edit n01 's/clock_lost=990/clock_lost=0/; s/wrong_sums=2/wrong_sums=0/'

# What is not installed says nothing of the node.
on n01 rm /usr/bin/nvbandwidth
text=$(exits 4 tundish check run n01 --active --check nvbandwidth) || exit 1
has "the missing program is named" "$text" "nvbandwidth is not installed; it comes with"

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
((ms < 1000)) || fail "gpu_burn ran for $ms ms after n02 was taken"
say "gpu_burn was gone $ms ms after n02 was seen to be taken"
await 10 "the run was told" test -s "$WORK/burn.code"
equal "exit code of the preempted run" "$(cat "$WORK/burn.code")" 4
has "it is unknown" "$(verdict gpu_burn reason <"$WORK/burn.json")" "preempted"
await 60 "the cluster is active" is cluster_phase train = active
# A node of a tenant is not put under load.
has "a node of a tenant is refused" "$(exits 3 tundish check run n02 --active)" "allocation"
