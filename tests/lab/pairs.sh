# slow
# Checks that two nodes make together, and DCGM's diagnostic: of four free nodes one is planted slow;
# disjoint pairs, then pairs with nodes that are known to be good, name that node and only it.
source "$(dirname "$0")/lib/common.bash"

lab_up --nodes 4 --login-nodes 1
import_site
nodes=(n01 n02 n03 n04)

edit() { # NODE SED: the state of its simulated GPUs
  local state=$ROOT/nodes/$1/hw/nvml.state
  sed "$2" "$state" >"$state.new" && mv "$state.new" "$state"
}
rail() { # NODE PERCENT: what one of its rails carries, though the port says nothing
  printf 'mlx5_3 %s\n' "$2" >"$ROOT/nodes/$1/hw/rails.state"
}
json() { sed '/^[a-z]/d' <<<"$1"; } # what was told on standard error goes
state_of() { jq -r --arg n "$2" '.verdicts[] | select(.device == $n) | .state' <<<"$1"; }
states() { for node in "${nodes[@]}"; do printf '%s=%s ' "$node" "$(state_of "$1" "$node")"; done; }
incidents() { tundish incident list -o json | jq -r '[.[] | select(.state == "open")] | length'; }

# The lab lets nobody but tundishd speak to a node out of band. Two nodes cannot meet: unknown, with
# the reason, and nobody is accused.
report=$(json "$(exits 4 tundish check pairs n01 n02 --check nccl_pair -o json)") || exit 1
equal "nodes that cannot meet" "$(state_of "$report" n01) $(state_of "$report" n02)" "unknown unknown"
has "why" "$report" "rank 1 did not come"
equal "open incidents" "$(incidents)" 0

# From here on this site's out-of-band network lets nodes speak to each other.
supervisor=$(tundish lab status --lab "$ROOT" -o json | jq .supervisor_pid)
in_lab() { nsenter -t "$supervisor" -n "$@"; }
for node in "${nodes[@]}"; do
  in_lab ip link set dev "p-$node-oob" type bridge_slave isolated off || fail "the port of $node stays closed"
done
in_lab nft insert rule inet lab forward iifname oob oifname oob accept || fail "the bridge stays closed"

# Whole nodes: both checks pass, each over two disjoint pairs at once.
for check in nccl_pair ib_write_bw; do
  report=$(json "$(exits 0 tundish check pairs "${nodes[@]}" --check $check -o json)") || exit 1
  equal "$check of whole nodes" "$(states "$report")" "n01=ok n02=ok n03=ok n04=ok "
  equal "$check in one round" "$(jq -r .step <<<"$report")" "1 rounds, 2 pairs"
  jq -r '.verdicts[0].evidence' <<<"$report"
done
equal "open incidents" "$(incidents)" 0

# One rail of n03 carries a tenth: its port does not tell, whoever meets the node is slow.
rail n03 10
report=$(json "$(exits 3 tundish check pairs "${nodes[@]}" --check nccl_pair -o json)") || exit 1
equal "with a slow rail on n03" "$(states "$report")" "n01=ok n02=ok n03=fail n04=ok "
has "why" "$(jq -r '.verdicts[] | select(.device == "n03") | .reason' <<<"$report")" "which is good with others"
has "in a second round" "$(jq -r .step <<<"$report")" "2 rounds"
has "what happens next" "$(jq -r '.next[]' <<<"$report")" "is open on n03"
equal "open incidents" "$(incidents)" 1
rail n03 100
await 180 "its incident is over" is incidents = 0
await 30 "n03 is back in service" is node_phase n03 = ready

# The same by perftest, rail by rail.
rail n02 10
# A slow rail is doubted on a node that gets no CPU, which a busy machine gives it none of.
for turn in 1 2 3; do
  report=$(json "$(tundish check pairs "${nodes[@]}" --check ib_write_bw -o json 2>/dev/null)")
  [[ $report == *starved* ]] || break
  say "turn $turn: the nodes were starved"
done
equal "with a slow rail on n02" "$(states "$report")" "n01=ok n02=fail n03=ok n04=ok "
reason=$(jq -r '.verdicts[] | select(.device == "n02") | .reason' <<<"$report")
has "the rail is named" "$reason" "mlx5_3/1: RDMA write 39"
rail n02 100

# A program that is built without MPI meets nobody: unknown, and nobody is accused.
on n01 sh -c 'printf "#!/bin/sh\nunset PMI_PORT PMI_ID\nexec /run/tundish-hw/bin/all_reduce_perf \"\$@\"\n" \
  >/usr/bin/all_reduce_perf.new && chmod 755 /usr/bin/all_reduce_perf.new &&
  mv /usr/bin/all_reduce_perf.new /usr/bin/all_reduce_perf'
report=$(json "$(exits 4 tundish check pairs n04 n01 --check nccl_pair -o json)") || exit 1
equal "a program without MPI" "$(state_of "$report" n01) $(state_of "$report" n04)" "unknown unknown"
has "its package is named" "$report" "MPI=1"
on n01 sh -c 'ln -sf /run/tundish-hw/bin/all_reduce_perf /usr/bin/all_reduce_perf'

# DCGM's diagnostic of level 3: passes on a whole node, names the GPU of a broken one.
report=$(json "$(exits 0 tundish check run n04 --active --check dcgm_diag -o json)") || exit 1
equal "dcgm_diag of a whole node" "$(jq -r '.verdicts[].state' <<<"$report")" ok
bad=$(sed -n '/index=3 /s/.*pci=\([0-9a-fA-F:]*\)\.0.*/\1/p' "$ROOT/nodes/n04/hw/nvml.state")
bad=0000:${bad: -5}
edit n04 '/index=3 /s/wrong_sums=0/wrong_sums=2/'
report=$(json "$(exits 3 tundish check run n04 --active --check dcgm_diag -o json)") || exit 1
equal "GPUs that DCGM accuses" \
  "$(jq -r '[.verdicts[] | select(.state == "fail") | .device] | unique | join(" ")' <<<"$report")" "$bad"
has "and an incident takes the node" "$(jq -r '.next[]' <<<"$report")" "is open on n04"
