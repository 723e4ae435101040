# Passive checks of whole lab nodes: nothing is found on healthy ones, free or in a cluster; what the
# lab cannot show is unknown with its reason; what breaks is told by itself and by `check run`, and
# ends with the cause.
source "$(dirname "$0")/lib/common.bash"

lab_up --nodes 3 --login-nodes 1
import_site
pace 10 n01 n02 n03 login01
tenant acme alice 32
create train acme 2 0
verdict() { # NODE CHECK: its state, ok when none is kept
  nodes_json | jq -r --arg n "$1" --arg c "$2" '[.[] | select(.meta.name == $n).status.verdicts[] |
    select(.check == $c).state][0] // "ok"'
}
await 60 "every node was judged in its boot" all_judged
is_ill() { [[ -n $(ills) ]]; }
never 15 "something is found on a healthy site" is_ill
unreasoned() { nodes_json | jq '[.[].status.verdicts[] | select(.reason == "")] | length'; }
equal "verdicts without a reason" "$(unreasoned)" 0
first=$(members train member | awk '{print $1}')

# What there is.
has "the list" "$(tundish check list)" "nvlink_state"
has "one check says where its limit comes from" "$(tundish check show ecc_rate)" "NVSentinel #1748"
exits 3 tundish check show no_such_check >/dev/null
exits 0 tundish check lint "$TREE/catalog" >/dev/null

# Running them now.
exits 0 tundish check run "$first" --check ecc --check gpu_count >/dev/null
exits 0 tundish check run "$first" --check dram_ecc >/dev/null
exits 4 tundish check run "$first" --check clock_sync >/dev/null
exits 3 tundish check run "$first" --check no_such_check >/dev/null
report=$(tundish check run "$first" -o json)
equal "checks that fail on a healthy node" \
  "$(jq -r '.verdicts[] | select(.state == "fail").check' <<<"$report")" ""
differs "number of checks that ran" "$(jq '.verdicts | length' <<<"$report")" 0

# Somebody breaks a link of one GPU: no XID, only the counters and states show it.
state=$ROOT/nodes/$first/hw/nvml.state
cp "$state" "$WORK/nvml.state"
sed '0,/nvlinks=18/s//nvlinks=17/' "$state" >"$state.new" && mv "$state.new" "$state"
has "the run names the GPU and the link" "$(exits 3 tundish check run "$first" --check nvlink_state)" \
  "17 of 18 NVLink links are up"
await 40 "the agent tells it by itself" is verdict "$first" nvlink_state = fail
await 10 "it is an incident of that node" is incident_state "$first" = open
cp "$WORK/nvml.state" "$state.new" && mv "$state.new" "$state"
await 40 "and that it is over" is verdict "$first" nvlink_state = ok
